"""What a model thinks before it answers, kept apart from what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.types import Completion, Prompt

ThinkTags: TypeAlias = "Sequence[str] | None"
"""What opens and what closes a thought; None for a model that does not think in its answers."""

THINK_TAGS: Final = ("<think>", "</think>")
"""The tags of DeepSeek-R1, Qwen3 and most others."""


def check_think_tags(tags: ThinkTags) -> tuple[str, str] | None:
    """The two tags.

    Raises:
        ConfigError: they are not two different texts.
    """
    if tags is None:
        return None
    if isinstance(tags, str) or len(tags) != 2 or tags[0] == tags[1] or not all(tags):
        raise ConfigError(
            f"think_tags must be two different texts, not {tags!r}",
            fix="think_tags=('<think>', '</think>'), or None if the model does not think",
        )
    return tags[0], tags[1]


def without_thought(completion: Completion, prompt: Prompt, tags: tuple[str, str] | None) -> Completion:
    """An answer whose thought stands in ``reasoning``, and no longer in ``text``.

    A thought begins at the beginning of an answer, or at the end of the prompt, where many chat templates open it. An
    answer that closes a thought that was never opened began in one too: a server does not tell how its prompt ended.

    Args:
        completion: as the model gave it; one with ``reasoning`` comes from a server that has separated it already.
        prompt: what was continued.
        tags: what opens and what closes a thought; None leaves the text as it is.
    """
    if completion.reasoning:
        # The server tells the thought from the answer, but not whether the thought came to its end.
        return replace(completion, unclosed=not completion.text and completion.finish_reason == "length")
    if tags is None or not completion.text:
        return completion
    opening, closing = tags
    text = completion.text.lstrip().removeprefix(opening)
    is_open = text != completion.text.lstrip() or (isinstance(prompt, str) and prompt.rstrip().endswith(opening))
    thought, closed, answer = text.partition(closing)
    if closed and (is_open or opening not in thought):
        return replace(completion, text=answer.lstrip(), reasoning=thought.strip())
    if is_open:
        return replace(completion, text="", reasoning=text.strip(), unclosed=True)
    return completion
