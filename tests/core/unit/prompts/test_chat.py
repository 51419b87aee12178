"""Chats from the columns of a row, by the rules of OpenCompass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import PromptError
from ais_prompt.prompts import ChatTemplate, PromptTemplate, RawPromptTemplate

EXCHANGE = {"round": [{"role": "HUMAN", "prompt": "Q: {q}"}, {"role": "BOT", "prompt": "{a}"}]}
READY = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
]


def said(chat: ChatTemplate, fields: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn["role"], turn["prompt"]) for turn in chat.dialogue(fields).whole if not isinstance(turn, str)]


def test_texts_are_one_exchange() -> None:
    chat = ChatTemplate(None, ["q"], "a")
    assert said(chat, {"q": "one?", "a": "1"}) == [("HUMAN", "one?"), ("BOT", "1")]
    assert chat.dialogue({"q": "one?", "a": "1"}).golds == ("1",)


def test_lists_are_several_exchanges() -> None:
    chat = ChatTemplate(PromptTemplate(EXCHANGE), ["q"], "a")
    fields = {"q": ["one?", "two?"], "a": ["1", "2"], "other": "x"}
    assert said(chat, fields) == [("HUMAN", "Q: one?"), ("BOT", "1"), ("HUMAN", "Q: two?"), ("BOT", "2")]
    dialogue = chat.dialogue(fields)
    assert (dialogue.answers, dialogue.golds) == ((1, 3), ("1", "2"))
    assert [turn["prompt"] for turn in dialogue.request(1, ["eins"])] == ["Q: one?", "eins", "Q: two?"]  # type: ignore[index]


def test_texts_of_a_template_are_said_by_the_user_and_the_assistant_says_the_gold() -> None:
    assert said(ChatTemplate(PromptTemplate("{q} + {p}"), ["q", "p"], "a"), {"q": "1", "p": "2", "a": "3"}) == [
        ("HUMAN", "1 + 2"),
        ("BOT", "3"),
    ]


def test_roles_are_those_of_a_chat_or_fall_back_to_them() -> None:
    examiner = {"role": "EXAMINER", "fallback_role": "SYSTEM", "prompt": "look"}
    framed = PromptTemplate({"begin": [examiner], "round": EXCHANGE["round"]})
    assert said(ChatTemplate(framed, ["q"], "a"), {"q": "x", "a": "y"})[0] == ("SYSTEM", "look")
    lost = PromptTemplate({"begin": [{"role": "EXAMINER", "prompt": "look"}], "round": EXCHANGE["round"]})
    with pytest.raises(PromptError, match="'EXAMINER' has no counterpart in a chat"):
        ChatTemplate(lost, ["q"], "a").dialogue({"q": "x", "a": "y"})


def test_raw_messages_are_a_chat_already() -> None:
    raw = RawPromptTemplate([{"role": "system", "content": "sum"}, {"role": "user", "content": "{q}"}])
    assert said(ChatTemplate(raw, ["q"], "a"), {"q": "1", "a": "2"}) == [
        ("SYSTEM", "sum"),
        ("HUMAN", "1"),
        ("BOT", "2"),
    ]


@pytest.mark.parametrize(
    ("columns", "fields"),
    [(["chat"], {"chat": READY, "ref": "r"}), (["kind", "dialogue"], {"dialogue": READY, "kind": "small", "ref": "r"})],
)
def test_a_column_of_messages_is_the_chat(columns: list[str], fields: dict[str, Any]) -> None:
    chat = ChatTemplate(None, columns, "ref")
    assert said(chat, fields) == [("SYSTEM", "be kind"), ("HUMAN", "hi"), ("BOT", "hello")]
    assert chat.dialogue(fields).golds == ("hello",)


def test_an_assistant_that_begins_is_not_asked() -> None:
    greeting = [{"role": "assistant", "content": "Welcome"}, *READY[1:]]
    assert ChatTemplate(None, ["chat"], None).dialogue({"chat": greeting}).answers == (2,)


@pytest.mark.parametrize("empty", [[], None])
def test_an_empty_chat_asks_nothing(empty: Any) -> None:
    assert ChatTemplate(None, ["chat"], None).dialogue({"chat": empty}).answers == ()


def test_lists_of_different_length_are_a_fault() -> None:
    assert "q: 2, a: 1" in ChatTemplate(None, ["q"], "a").dialogue({"q": ["x", "y"], "a": ["z"]}).fault


def test_parts_stay_parts_and_are_its_media() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    message = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}
    chat = ChatTemplate(None, ["chat"], None)
    fields = {"chat": [message, {"role": "assistant", "content": "a cat"}]}
    assert chat.media(fields) == [image]
    assert chat.dialogue(fields).request(0)[0]["prompt_mm"] == message["content"]  # type: ignore[index]


def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(PromptError, match="has no role"):
        ChatTemplate(None, ["chat"], None).dialogue({"chat": [{"content": "hi"}]})


def test_several_columns_need_a_template() -> None:
    with pytest.raises(PromptError, match="how the columns p, q form a chat"):
        ChatTemplate(None, ["p", "q"], "a")


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=4))
def test_every_value_appears_exactly_as_it_is(turns: list[tuple[str, str]]) -> None:
    questions = [f"Q: {question}" for question, _ in turns]
    fields = {"q": [question for question, _ in turns], "a": [answer for _, answer in turns]}
    dialogue = ChatTemplate(PromptTemplate(EXCHANGE), ["q"], "a").dialogue(fields)
    assert [turn["prompt"] for turn in dialogue.whole[::2]] == questions  # type: ignore[index]
    assert dialogue.golds == tuple(fields["a"])
