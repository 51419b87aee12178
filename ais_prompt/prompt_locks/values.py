"""What is known of the prompts of a config, rendered just now or read from a lock."""

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
"""Begins a message: `TURN`, its role, `SAYS` or `PARTS`, its content."""
SAYS: Final = "\ue2f1"
PARTS: Final = "\ue2f2"
"""In place of `SAYS` where the content is no text: its parts follow as JSON."""


MARK: Final = re.compile(f"{TURN}[^{SAYS}{PARTS}]*[{SAYS}{PARTS}]")
"""What begins a message, up to its content."""
_TURN: Final = re.compile(f"{TURN}([^{SAYS}{PARTS}]*)([{SAYS}{PARTS}])([^{TURN}]*)")


def text_of_prompt(prompt: Prompt) -> str:
    """The prompt as one text; a prompt that is a text stays as it is."""
    return prompt if isinstance(prompt, str) else "".join(map(_text_of_message, prompt))


def prompt_of_text(text: str) -> Prompt:
    """The inverse of `text_of_prompt`."""
    return tuple(messages_of_text(text)) if text.startswith(TURN) else text


def messages_of_text(text: str) -> Iterator[ChatMessage]:
    """The messages of a text; none if it was no messages."""
    for role, mark, content in _TURN.findall(text):
        yield ChatMessage(role, content if mark == SAYS else tuple(json.loads(content)))


def _text_of_message(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return f"{TURN}{message.role}{SAYS}{message.content}"
    parts = json.dumps([dict(part) for part in message.content], ensure_ascii=False, sort_keys=True)
    return f"{TURN}{message.role}{PARTS}{parts}"


Parts: TypeAlias = Mapping[str, Mapping[str, Any]]
"""What prompts are made of: kind (``data``, ``templates``) → name → digest or value, plain JSON values only."""

DIGEST_BYTES: Final = 6
"""A changed prompt keeps its digest of 48 bits once in 2.8e14 times, which is safe for any dataset, and short."""


class TaskPrompts(Struct, frozen=True):
    """The prompts of one model on one dataset.

    Attributes:
        model, dataset: their ``abbr``.
        parts: what the prompts are made of.
        digests: id of the whole row → digest of each of its prompts, in the order of the rows.
        texts: id of the whole row → its prompts as texts (`text_of_prompt`); a lock holds only a few of them.
        characters: length of all prompts together.
        tokens: the same in tokens; None if no tokenizer is at hand, or they were not counted.
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
        """``model/dataset``, as progress and errors show it."""
        return f"{self.model}/{self.dataset}"


class PromptLock(Struct, frozen=True):
    """The content of a lock file.

    Attributes:
        config: name of the config that it locks.
        made_with: package → version, of those that can change a prompt; told when prompts changed, never compared.
        tasks: the prompts of each model on each dataset.
    """

    config: str
    made_with: Mapping[str, str]
    tasks: Sequence[TaskPrompts]


def compact_digest(text: str) -> str:
    """The first 48 bits of the text's SHA-256 as 8 characters of base64url."""
    # Lone surrogates can stand in real data; they must not break the digest.
    content = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(content[:DIGEST_BYTES]).decode()
