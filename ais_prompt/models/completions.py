"""Completions, the same for all models: the reasoning is separated from the answer, log-likelihoods are measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.types import Completion, Failure, Likelihood, Prompt, Usage

ThinkTags: TypeAlias = "Sequence[str] | None"
"""The tags that open and close the reasoning; None for a model that does not reason in its answers."""

THINK_TAGS: Final = ("<think>", "</think>")
"""The tags of DeepSeek-R1, Qwen3 and most others."""


def check_think_tags(tags: ThinkTags) -> tuple[str, str] | None:
    """Return the two tags.

    Raises:
        ConfigError: the tags are not two different texts.
    """
    if tags is None:
        return None
    if isinstance(tags, str) or len(tags) != 2 or tags[0] == tags[1] or not all(tags):
        raise ConfigError(
            f"think_tags must be two different texts, not {tags!r}",
            fix="think_tags=('<think>', '</think>'), or None if the model does not think",
        )
    return tags[0], tags[1]


def split_reasoning(completion: Completion, prompt: Prompt, tags: tuple[str, str] | None) -> Completion:
    """Move the reasoning of an answer from ``text`` to ``reasoning``.

    The reasoning begins at the beginning of an answer, or at the end of the prompt, where many chat templates open it.
    An answer that closes reasoning that it never opened began in it too: a server does not show how its prompt ended.

    Args:
        completion: of the model; one with ``reasoning`` comes from a server that has separated it already.
        prompt: the prompt of the answer.
        tags: the tags that open and close the reasoning; None leaves the text unchanged.
    """
    if completion.reasoning:
        # The server separates reasoning and answer, but does not say whether the reasoning ended.
        return replace(completion, unclosed=not completion.text and completion.finish_reason == "length")
    if tags is None or not completion.text:
        return completion
    opening, closing = tags
    text = completion.text.lstrip().removeprefix(opening)
    is_open = text != completion.text.lstrip() or (isinstance(prompt, str) and prompt.rstrip().endswith(opening))
    reasoning, closed, answer = text.partition(closing)
    if closed and (is_open or opening not in reasoning):
        return replace(completion, text=answer.lstrip(), reasoning=reasoning.strip())
    if is_open:
        return replace(completion, text="", reasoning=text.strip(), unclosed=True)
    return completion


NO_TOKENS: Final = Completion(failure=Failure("no_tokens", "there is no token whose likelihood could be computed"))
"""The completion of an empty text, and of a prompt of one token."""


def likelihood_completion(likelihood: Likelihood, usage: Usage, seconds: float = 0.0) -> Completion:
    """Return the completion of a log-likelihood; NaN is a failure."""
    if any(math.isnan(value) for value in (likelihood.nll, *likelihood.choices)):
        return Completion(failure=Failure("not_a_number", "the model computed NaN instead of a likelihood"))
    return Completion(finish_reason="stop", usage=usage, seconds=seconds, likelihood=likelihood)


def measured_bytes(text: str, first_token: str) -> int:
    """Return the length in UTF-8 of a text without its first token, which has no likelihood.

    Args:
        text: the whole text.
        first_token: its text; empty if it is a special token. Nothing is left out if the text does not begin with it,
            as with a part of a character or a special token that a server tells.
    """
    return len(text.removeprefix(first_token).encode("utf-8", "surrogatepass"))


def common_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Count the tokens that two rows have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
