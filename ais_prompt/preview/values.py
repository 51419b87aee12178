"""The prompts of a config as values: texts, digests, and the content of a lock.

A prompt made of messages becomes one text, so that differences and digests are always those of texts. A mark with its
role begins each message. The marks are characters of Unicode's private use, which ordinary texts do not contain.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.types import ChatMessage, Prompt

TURN: Final = "\ue2f0"
"""Starts a message: `TURN`, its role, `TEXT` or `PARTS`, its content."""
TEXT: Final = "\ue2f1"
PARTS: Final = "\ue2f2"
"""Replaces `TEXT` if the content is a list of parts, which follow as JSON."""

MARK: Final = re.compile(f"{TURN}[^{TEXT}{PARTS}]*[{TEXT}{PARTS}]")
"""Matches the start of a message, up to its content."""
_TURN: Final = re.compile(f"{TURN}([^{TEXT}{PARTS}]*)([{TEXT}{PARTS}])([^{TURN}]*)")


def text_of_prompt(prompt: Prompt) -> str:
    """Return the prompt as one text; a prompt that is a text stays as it is."""
    return prompt if isinstance(prompt, str) else "".join(map(_text_of_message, prompt))


def prompt_of_text(text: str) -> Prompt:
    """Read back the text of `text_of_prompt`."""
    return tuple(messages_of_text(text)) if text.startswith(TURN) else text


def messages_of_text(text: str) -> Iterator[ChatMessage]:
    """Yield the messages of a text; none if the prompt was a text."""
    for role, mark, content in _TURN.findall(text):
        yield ChatMessage(role, content if mark == TEXT else tuple(json.loads(content)))


def _text_of_message(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return f"{TURN}{message.role}{TEXT}{message.content}"
    parts = json.dumps([dict(part) for part in message.content], ensure_ascii=False, sort_keys=True)
    return f"{TURN}{message.role}{PARTS}{parts}"


Parts: TypeAlias = Mapping[str, Mapping[str, Any]]
"""What determines prompts: kind (``data``, ``templates``) → name → digest or value, plain JSON values only."""

DIGEST_BYTES: Final = 6
"""48 bits: short, and safe for any dataset, as a changed prompt keeps its digest once in 2.8e14 times."""


class TaskPrompts(Struct, frozen=True):
    """The prompts of one model on one dataset.

    Attributes:
        model, dataset: their ``abbr``.
        parts: what determines the prompts.
        digests: id of the whole row → digest of each of its prompts, in the order of the rows.
        texts: id of the whole row → its prompts as texts (`text_of_prompt`); in a lock only for a few rows.
        characters: total length of all prompts.
        tokens: total tokens of all prompts; None if there is no tokenizer, or they were not counted.
    """

    model: str
    dataset: str
    parts: Parts
    digests: Mapping[str, Sequence[str]]
    texts: Mapping[str, Sequence[str]]
    characters: int
    tokens: int | None = None

    @property
    def name(self) -> str:
        """``model/dataset``, the name in progress and errors."""
        return f"{self.model}/{self.dataset}"


class PromptLock(Struct, frozen=True):
    """The content of a lock file.

    Attributes:
        config: name of the config.
        made_with: package → version, of packages that can change a prompt; shown if prompts changed, never compared.
        tasks: the prompts of each model on each dataset.
    """

    config: str
    made_with: Mapping[str, str]
    tasks: Sequence[TaskPrompts]


def compact_digest(text: str) -> str:
    """Return the first 48 bits of the text's SHA-256 as 8 characters of base64url."""
    # Real data can contain lone surrogates; they must not break the digest.
    content = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(content[:DIGEST_BYTES]).decode()
