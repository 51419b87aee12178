"""Estimated lengths. Lengths that a tokenizer counts are tested with the models that have one."""

from __future__ import annotations

import pytest

from ais_prompt.models.tokenizer import estimate_tokens, refuse_too_long
from ais_prompt.types import ChatMessage


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("two words", 2), ("你好,世界", 4), ("abc中文def1", 4), ("été かな привет !?", 1), ("a-b", 2)],
)
def test_words_and_chinese_characters_are_tokens(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_texts_of_messages_are_counted_and_nothing_else() -> None:
    parts = ({"type": "text", "text": "two words"}, {"type": "image_url", "image_url": {"url": "a/b c"}})
    assert estimate_tokens((ChatMessage("system", "be kind."), ChatMessage("user", parts))) == 4


def test_only_what_is_longer_is_refused() -> None:
    assert refuse_too_long(9, None) is None
    assert refuse_too_long(9, 9) is None
    failure = refuse_too_long(10, 9)
    assert failure is not None
    assert (failure.kind, failure.fatal) == ("too_long", False)
    assert "10 tokens, more than max_seq_len=9" in failure.message
