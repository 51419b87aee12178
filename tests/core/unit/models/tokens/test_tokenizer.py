"""Estimated lengths. Lengths that a tokenizer counts are tested with the models that have one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.models import OpenAIChatModel, estimate_tokens, is_at_hand, refuse_too_long
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


def test_only_a_local_path_or_what_was_downloaded_is_at_hand(tmp_path: Path) -> None:
    assert is_at_hand(str(tmp_path))
    assert not any(map(is_at_hand, ("xxxx", "owner/no-such-model", "./nowhere", "no name", "a/b/c")))


def test_a_tokenizer_that_is_not_found_is_looked_for_once() -> None:
    model = OpenAIChatModel("m", "http://127.0.0.1:9/v1", tokenizer_path="./nowhere")
    faults = []
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            model.tokenizer()
        faults.append(caught.value)
    assert faults[0] is faults[1]
