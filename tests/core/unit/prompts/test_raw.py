"""Messages in OpenAI form, written in the config."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts import PromptBuilder, PromptTemplate, RawPromptTemplate, make_chat_format
from ais_prompt.types import ChatMessage, Sample


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def messages_of(builder: PromptBuilder, sample: Sample, shots: list[Sample], meta: Any = None) -> Any:
    chat = make_chat_format("messages", meta, lambda: None)
    return chat.render(builder.generation(sample, shots), "gen")


def test_contents_are_filled_once_and_the_gold_is_not_hidden() -> None:
    raw = RawPromptTemplate([user("{q}"), assistant("{a}")])
    builder = PromptBuilder(None, raw, output_column="a")
    assert builder.generation(Sample("s", 0, {"q": "{a}?", "a": "gold"}, "gold"), []) == [
        user("{a}?"),
        assistant("gold"),
    ]


def test_filling_can_be_turned_off() -> None:
    assert RawPromptTemplate([user("{q}")], format_variables=False).render({"q": "x"}) == [user("{q}")]


def test_contents_that_are_parts_stay_as_they_are() -> None:
    parts = [{"type": "text", "text": "{q}"}, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    raw = RawPromptTemplate([user(parts)])
    assert raw.render({"q": "x"}) == [user(parts)]
    assert raw.media({"q": "x"}) == [parts[1]]


def test_a_column_of_messages_is_put_in_as_it_is() -> None:
    raw = RawPromptTemplate([user("first"), {"expand_column": "talk"}, user("{q}")])
    talk = [assistant("{q}"), {"role": "tool", "content": "42"}]
    assert raw.render({"q": "x", "talk": talk}) == [user("first"), *talk, user("x")]


def test_a_column_that_holds_no_list_is_dropped_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    raw = RawPromptTemplate([{"expand_column": "talk"}, user("{q}")])
    with caplog.at_level(logging.WARNING):
        assert raw.render({"q": "x", "talk": "words"}) == [user("x")]
    assert "'talk' of expand_column is not a list" in caplog.text


@pytest.mark.parametrize(
    ("row", "words"), [({"q": "x"}, r"does not have \(it has q\)"), ({"talk": ["hi"]}, r"talk\[0\] must be a mapping")]
)
def test_a_column_without_messages_is_refused(row: dict[str, Any], words: str) -> None:
    with pytest.raises(PromptError, match=words):
        RawPromptTemplate([{"expand_column": "talk"}]).render(row)


def test_examples_come_from_a_raw_template_and_stand_between_the_messages() -> None:
    ice = RawPromptTemplate([user("{q}"), assistant("{a}")])
    raw = RawPromptTemplate([{"role": "system", "content": "S"}, "</E>", user("{q}")])
    builder = PromptBuilder(ice, raw, output_column="a")
    shots = [Sample(str(n), n, {"q": f"q{n}", "a": f"a{n}"}, f"a{n}") for n in range(2)]
    assert messages_of(builder, Sample("s", 0, {"q": "x", "a": "y"}, "y"), shots) == (
        ChatMessage("system", "S"),
        ChatMessage("user", "q0"),
        ChatMessage("assistant", "a0"),
        ChatMessage("user", "q1"),
        ChatMessage("assistant", "a1"),
        ChatMessage("user", "x"),
    )


def test_without_a_slot_the_examples_would_be_lost() -> None:
    ice = RawPromptTemplate([user("{q}")])
    with pytest.raises(PromptError, match="the examples would be lost"):
        PromptBuilder(ice, RawPromptTemplate([user("{q}")]), output_column=None)


def test_examples_that_are_text_are_dropped_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    builder = PromptBuilder(PromptTemplate("{q}"), RawPromptTemplate(["</E>", user("{q}")]), output_column=None)
    filled = builder.generation(Sample("s", 0, {"q": "x"}), [Sample("t", 0, {"q": "shot"})])
    assert filled == [user("x")]
    assert "drops examples that are text" in caplog.text


def test_examples_made_of_turns_are_refused() -> None:
    ice = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "{q}"}]})
    builder = PromptBuilder(ice, RawPromptTemplate(["</E>", user("{q}")]), output_column=None)
    with pytest.raises(PromptError, match="do not fit a list of messages"):
        builder.generation(Sample("s", 0, {"q": "x"}), [Sample("t", 0, {"q": "shot"})])


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "needs a list of messages"),
        ("{q}", "needs a list of messages"),
        ([{"role": "human", "content": ""}], r"messages\[0\] has the role 'human'"),
        ([{"role": "user"}], r"messages\[0\] must be a mapping with role and content"),
        ([user("x"), 3], r"messages\[1\] must be"),
    ],
)
def test_messages_of_the_wrong_shape_are_refused(messages: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        RawPromptTemplate(messages)


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ([{"role": "system", "content": "M"}], [("system", "M"), ("user", "x"), ("assistant", "ok")]),
        ([user("PRE ")], [("user", "PRE x"), ("assistant", "ok")]),
        ([assistant("A: ")], [("user", "x"), ("assistant", "A: ok")]),
        (
            {"round": [{"role": "HUMAN", "begin": "Q: "}, {"role": "BOT", "generate": True}]},
            [("user", "x"), ("assistant", "ok")],
        ),
        (None, [("user", "x"), ("assistant", "ok")]),
    ],
)
def test_only_a_meta_template_of_messages_is_merged_in(meta: Any, expected: list[tuple[str, str]]) -> None:
    builder = PromptBuilder(None, RawPromptTemplate([user("{q}"), assistant("ok")]), output_column=None)
    seen = messages_of(builder, Sample("s", 0, {"q": "x"}), [], meta)
    assert [(message.role, message.content) for message in seen] == expected


def test_a_meta_template_of_messages_fits_no_dialogue() -> None:
    chat = make_chat_format("messages", [user("x")], lambda: None)
    filled = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "q"}]}).render({})
    with pytest.raises(PromptError, match="fits RawPromptTemplate only"):
        chat.render(filled, "gen")
    assert chat.render("a text", "gen") == (ChatMessage("user", "a text"),)


@pytest.mark.parametrize("style", ["messages", "text"])
def test_a_list_that_holds_no_messages_is_refused(style: str) -> None:
    with pytest.raises(ConfigError, match=r"not 'system', 'user' or 'assistant' .* dict\(round="):
        make_chat_format(style, [{"role": "HUMAN", "content": "x"}], lambda: None)


def test_a_list_of_messages_fits_no_model_that_is_sent_text() -> None:
    with pytest.raises(ConfigError, match="must be a mapping"):
        make_chat_format("text", [user("x")], lambda: None)


def test_a_model_that_continues_text_takes_no_messages() -> None:
    filled = RawPromptTemplate([user("q")]).render({})
    with pytest.raises(PromptError, match="need a chat model"):
        make_chat_format("text", None, lambda: None).render(filled, "gen")
