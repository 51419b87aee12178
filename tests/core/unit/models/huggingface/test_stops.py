"""Stop texts of local models: they end the answer, and not the thoughts before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ais_prompt.models import THINK_TAGS, Stops, completion_of

END = 0


class Letters:
    """A tokenizer with one token for each character."""

    def decode(self, ids: Sequence[int], **_options: Any) -> str:
        return "".join(map(chr, ids))


@pytest.mark.parametrize(
    ("prompt", "said", "text", "tokens"),
    [
        ("2+2?", "<think>two\n\ntwice</think>4\n\nQ: and", "<think>two\n\ntwice</think>4", 28),
        ("2+2?<think>\n", "two\n\ntwice</think>4\n\nQ", "two\n\ntwice</think>4", 21),
        ("2+2?", "<think>two\n\ntwi", "<think>two\n\ntwi", None),
        ("2+2?", "4\n\nQ: <think>", "4", 3),
        ("2+2?\n\n", "4", "4", None),
    ],
)
def test_a_stop_text_ends_the_answer_only(prompt: str, said: str, text: str, tokens: int | None) -> None:
    stops = Stops(Letters(), ("\n\n",), THINK_TAGS)
    ids = list(map(ord, prompt))
    found = completion_of(stops, ids, list(map(ord, said)), {END})
    assert (found.text, found.finish_reason) == (text, "length" if tokens is None else "stop")
    assert found.usage.completion_tokens == (len(said) if tokens is None else tokens)
