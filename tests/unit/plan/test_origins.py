"""Every character of a prompt has a place that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.chat import ChatFormat, make_chat_format
from ais_prompt.inferencers import GenInferencer, InferenceContext, Inferencer, MultiTurnGenInferencer
from ais_prompt.inferencers.ppl import PPLInferencer
from ais_prompt.models import ScriptedModel
from ais_prompt.plan.origins import Origin, Origins, find_origins
from ais_prompt.prompts import (
    MMPromptTemplate,
    MultiTurnPromptTemplate,
    PromptBuilder,
    PromptTemplate,
    RawPromptTemplate,
    Template,
)
from ais_prompt.types import Sample

META = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN", "begin": "H: ", "end": "\n"},
        {"role": "BOT", "api_role": "BOT", "begin": "B: ", "generate": True},
    ]
}
DIALOGUE = {"round": [{"role": "HUMAN", "prompt": "{q}?"}, {"role": "BOT", "prompt": "{a}"}]}
TEXT = make_chat_format("text", None, lambda: None)


class TrimmingTokenizer:
    """Has a chat template that strips what is said, as that of Llama 3 does."""

    chat_template = "trims"

    def apply_chat_template(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        return "".join(f"<{message['role']}>{message['content'].strip()}</s>" for message in messages)


class ShoutingTokenizer(TrimmingTokenizer):
    """Change the text, so that its origin cannot be found."""

    def apply_chat_template(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        return "".join(ascii(message["content"]) for message in messages)


def sample(number: int, **fields: Any) -> Sample:
    return Sample(f"id{number}", number, fields, fields.get("a"))


SHOTS = [sample(1, q="1+1", a="2"), sample(2, q="2+2", a="4")]


def origins(
    template: Template,
    chat: ChatFormat = TEXT,
    ice: Template | None = None,
    question: Sample | None = None,
    inferencer: Inferencer | None = None,
) -> list[Origins | None]:
    inferencer = inferencer or GenInferencer()
    builder = PromptBuilder(ice, template, output_column="a", mask=inferencer.mask or "")
    context = InferenceContext(builder, chat, ScriptedModel(), [question or sample(0, q="3+3", a="6")])
    shots = SHOTS if ice else []
    seen = inferencer.preview(context.samples[0], shots, context)
    return find_origins(inferencer, context.samples[0], shots, context, seen)


def pieces(found: Origins | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(span.text, _name(span.origin)) for spans in found for span in spans]


def _name(origin: Origin) -> str:
    return f"{origin.column or origin.kind}{'' if origin.shot is None else origin.shot}"


def test_examples_that_are_texts() -> None:
    [found] = origins(PromptTemplate("Sums.\n</E>{q} = {a}", "</E>"), ice=PromptTemplate("{q} = {a};"))
    assert pieces(found) == [
        ("Sums.\n", "template"),
        ("1+1", "q1"),
        (" = ", "template1"),
        ("2", "a1"),
        (";", "template1"),
        ("\n", "template"),
        ("2+2", "q2"),
        (" = ", "template2"),
        ("4", "a2"),
        (";", "template2"),
        ("\n", "template"),
        ("3+3", "q"),
        (" = ", "template"),
    ]


def test_turns_within_a_meta_template() -> None:
    chat = make_chat_format("text", META, lambda: None)
    [found] = origins(PromptTemplate({"begin": "</E>", **DIALOGUE}, "</E>"), chat, PromptTemplate(DIALOGUE))
    assert pieces(found)[:5] == [
        ("H: ", "meta template"),
        ("1+1", "q1"),
        ("?", "template1"),
        ("\nB: ", "meta template"),
        ("2", "a1"),
    ]
    assert pieces(found)[-4:] == [("H: ", "meta template"), ("3+3", "q"), ("?", "template"), ("\nB: ", "meta template")]


def test_messages_have_the_spans_of_each() -> None:
    [found] = origins(PromptTemplate(DIALOGUE), make_chat_format("messages", None, lambda: None))
    assert found is not None
    assert len(found) == 1
    assert pieces(found) == [("3+3", "q"), ("?", "template")]


def test_a_chat_template_that_strips_what_is_said() -> None:
    chat = make_chat_format("chat_template", META, TrimmingTokenizer)
    template = PromptTemplate({"round": [{"role": "HUMAN", "prompt": " {q}\n"}, {"role": "BOT", "prompt": ""}]})
    [found] = origins(template, chat)
    assert ("3+3", "q") in pieces(found)
    assert pieces(found)[0] == ("<user>", "chat template")
    assert pieces(found)[1][1] == "meta template"


def test_nothing_is_claimed_where_texts_are_changed() -> None:
    assert origins(PromptTemplate(DIALOGUE), make_chat_format("chat_template", None, ShoutingTokenizer)) == [None]


def test_every_label_and_every_turn_has_its_own() -> None:
    labels = origins(PromptTemplate({"A": "{q} is A", "B": "{q} is B"}), inferencer=PPLInferencer())
    assert [pieces(found)[-1] for found in labels] == [(" is A", "template"), (" is B", "template")]
    turns = origins(
        MultiTurnPromptTemplate(
            {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}
        ),
        question=sample(0, question=["a", "b"], answer=["1", "2"], a="2"),
        inferencer=MultiTurnGenInferencer(),
    )
    assert [("b", "question") in pieces(found) for found in turns] == [False, True]


def test_raw_messages_and_values_that_are_no_texts() -> None:
    raw = RawPromptTemplate([{"role": "system", "content": "Be {q}."}, {"expand_column": "chat"}])
    question = sample(0, q=["x", 1], chat=[{"role": "user", "content": "hi"}], a="")
    [found] = origins(raw, make_chat_format("messages", None, lambda: None), question=question)
    assert pieces(found) == [("Be ", "template"), ("['x', 1]", "q"), (".", "template"), ("hi", "chat")]


def test_the_texts_between_media() -> None:
    row = sample(0, content="<AIS_TEXT_START>What is it?<AIS_CONTENT_TAG><AIS_IMAGE_START>http://a/b.png", a="")
    template = MMPromptTemplate(
        {
            "round": [
                {
                    "role": "HUMAN",
                    "prompt_mm": {
                        "text": {"type": "text", "text": "Look: {question}"},
                        "image": {"type": "image_url", "image_url": {"url": "{image}"}},
                    },
                }
            ]
        }
    )
    [found] = origins(template, make_chat_format("messages", None, lambda: None), question=row)
    assert ("What is it?", "content") in pieces(found)


@given(st.text(), st.text(), st.sampled_from(["text", "messages"]))
def test_the_pieces_are_the_prompt_whatever_the_data(question: str, other: str, style: str) -> None:
    chat = make_chat_format(style, META if style == "text" else None, lambda: None)
    row = sample(0, q="q" + question, other=other, a="a")
    template = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "{other}{q}!"}, {"role": "BOT", "prompt": ""}]})
    [found] = origins(template, chat, question=row)
    whole = [text for text, _ in pieces(found)]
    assert "".join(whole) == ("H: " if style == "text" else "") + f"{other}q{question}!" + ("\nB: " * (style == "text"))
    assert ("q" + question, "q") in pieces(found)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [0, 1])
def test_marks_do_not_run_out(count: int) -> None:
    row = sample(0, **{f"c{number}": "x" for number in range(40_000)}, q="3+3", a="6")
    [found] = origins(PromptTemplate("{q}" + "!" * count), question=row)
    assert found is not None
