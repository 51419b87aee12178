"""Every character of a prompt has a place that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ais_prompt.preview import Origin, Origins, find_origins
from tests.support.prompt_tasks import INFER, prompt_task

META = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN", "begin": "H: ", "end": "\n"},
        {"role": "BOT", "api_role": "BOT", "begin": "B: ", "generate": True},
    ]
}
DIALOGUE = {"round": [{"role": "HUMAN", "prompt": "{q}?"}, {"role": "BOT", "prompt": "{a}"}]}
SHOTS = [{"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}]


class TrimmingTokenizer:
    """Has a chat template that strips what is said, as that of Llama 3 does."""

    chat_template = "trims"

    def apply_chat_template(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        return "".join(f"<{message['role']}>{message['content'].strip()}</s>" for message in messages)


class ShoutingTokenizer(TrimmingTokenizer):
    """Change the text, so that its origin cannot be found."""

    def apply_chat_template(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        return "".join(ascii(message["content"]) for message in messages)


def origins(template: Any, **more: Any) -> list[Origins | None]:
    """The origins of every prompt of the first question."""
    task = prompt_task(template, **more)
    sample = task.data.test[0]
    shots = task.shots(sample)
    return find_origins(task, sample, shots, task.inferencer.preview(sample, shots, task.context))


def pieces(found: Origins | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(span.text, _name(span.origin)) for spans in found for span in spans]


def _name(origin: Origin) -> str:
    return f"{origin.column or origin.kind}{'' if origin.shot is None else origin.shot}"


def places(found: Origins | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(span.text, span.origin.where.removeprefix(f"{INFER}.")) for spans in found for span in spans]


def roles(found: Origins | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(span.text, span.origin.role) for spans in found for span in spans]


def test_examples_that_are_texts() -> None:
    [found] = origins("Sums.\n</E>{q} = {a}", ice="{q} = {a};", train=SHOTS)
    assert pieces(found) == [
        ("Sums.\n", "template"),
        ("1+1", "q1"),
        (" = ", "template1"),
        ("2", "a1"),
        (";", "template1"),
        ("\n", "template0"),
        ("2+2", "q2"),
        (" = ", "template2"),
        ("4", "a2"),
        (";", "template2"),
        ("\n", "template0"),
        ("3+3", "q"),
        (" = ", "template"),
    ]
    assert places(found)[:3] == [
        ("Sums.\n", "prompt_template.template"),
        ("1+1", "ice_template.template"),
        (" = ", "ice_template.template"),
    ]
    assert ("\n", "retriever") in places(found)


def test_turns_within_a_meta_template() -> None:
    [found] = origins({"begin": ["</E>"], **DIALOGUE}, ice=DIALOGUE, train=SHOTS, meta=META)
    assert pieces(found)[:5] == [
        ("H: ", "meta template"),
        ("1+1", "q1"),
        ("?", "template1"),
        ("\n", "meta template"),
        ("B: ", "meta template"),
    ]
    assert pieces(found)[-5:] == [
        ("H: ", "meta template"),
        ("3+3", "q"),
        ("?", "template"),
        ("\n", "meta template"),
        ("B: ", "meta template"),
    ]
    assert places(found)[-5:] == [
        ("H: ", "models[0].meta_template.round[0].begin"),
        ("3+3", "prompt_template.template.round[0].prompt"),
        ("?", "prompt_template.template.round[0].prompt"),
        ("\n", "models[0].meta_template.round[0].end"),
        ("B: ", "models[0].meta_template.round[1].begin"),
    ]
    assert [role for _, role in roles(found)[-5:]] == ["HUMAN"] * 4 + ["BOT"]


def test_messages_have_the_spans_of_each() -> None:
    [found] = origins(DIALOGUE, style="messages")
    assert found is not None
    assert len(found) == 1
    assert pieces(found) == [("3+3", "q"), ("?", "template")]


def test_a_chat_template_that_strips_what_is_said() -> None:
    template = {"round": [{"role": "HUMAN", "prompt": " {q}\n"}, {"role": "BOT", "prompt": ""}]}
    [found] = origins(template, style="chat_template", meta=META, tokenizer=TrimmingTokenizer)
    assert ("3+3", "q") in pieces(found)
    assert pieces(found)[0] == ("<user>", "chat template")
    assert pieces(found)[1][1] == "meta template"
    assert ("3+3", "user") in roles(found)


def test_nothing_is_claimed_where_texts_are_changed() -> None:
    assert origins(DIALOGUE, style="chat_template", tokenizer=ShoutingTokenizer) == [None]


def test_every_label_and_every_turn_has_its_own() -> None:
    labels = origins(
        {"type": "PromptTemplate", "template": {"A": "{q} is A", "B": "{q} is B"}}, inferencer={"type": "PPLInferencer"}
    )
    assert [pieces(found)[-1] for found in labels] == [(" is A", "template"), (" is B", "template")]
    assert [places(found)[-1][1] for found in labels] == ["prompt_template.template.A", "prompt_template.template.B"]
    turns = origins(
        {
            "type": "MultiTurnPromptTemplate",
            "template": {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]},
        },
        rows=[{"question": ["a", "b"], "answer": ["1", "2"], "a": "2"}],
        inferencer={"type": "MultiTurnGenInferencer"},
    )
    assert [("b", "question") in pieces(found) for found in turns] == [False, True]


def test_raw_messages_and_values_that_are_no_texts() -> None:
    messages = [{"role": "system", "content": "Be {q}."}, {"expand_column": "chat"}]
    row = {"q": ["x", 1], "chat": [{"role": "user", "content": "hi"}], "a": ""}
    [found] = origins({"type": "RawPromptTemplate", "messages": messages}, rows=[row], style="messages")
    assert pieces(found) == [("Be ", "template"), ("['x', 1]", "q"), (".", "template"), ("hi", "chat")]
    assert places(found)[0] == ("Be ", "prompt_template.messages[0].content")


def test_the_texts_between_media() -> None:
    row = {
        "content": "<AIS_TEXT_START>What is it?<AIS_CONTENT_TAG><AIS_IMAGE_START>data:image/png;base64,AAAA",
        "a": "",
    }
    parts = {
        "text": {"type": "text", "text": "Look: {question}"},
        "image": {"type": "image_url", "image_url": {"url": "{image}"}},
    }
    template = {"round": [{"role": "HUMAN", "prompt_mm": parts}]}
    [found] = origins({"type": "MMPromptTemplate", "template": template}, rows=[row], style="messages")
    assert pieces(found) == [("Look: ", "template"), ("What is it?", "content")]
    assert places(found)[0] == ("Look: ", "prompt_template.template.round[0].prompt_mm.text.text")


def test_the_table_of_a_role_template() -> None:
    [found] = origins(DIALOGUE, role_template={"user": ("Q: ", "\n"), "assistant": ("A: ", None)})
    assert places(found) == [
        ("Q: ", "models[0].prompt_template.user[0]"),
        ("3+3", "prompt_template.template.round[0].prompt"),
        ("?", "prompt_template.template.round[0].prompt"),
        ("\n", "models[0].prompt_template.user[1]"),
        ("A: ", "models[0].prompt_template.assistant[0]"),
    ]
    assert {role for _, role in roles(found)} == {"HUMAN", "BOT"}


@pytest.mark.thorough
@pytest.mark.parametrize("count", [0, 1])
def test_marks_do_not_run_out(count: int) -> None:
    row = {f"c{number}": "x" for number in range(70_000)} | {"q": "3+3", "a": "6"}
    [found] = origins({"type": "PromptTemplate", "template": "{q}" + "!" * count}, rows=[row])
    assert found is not None
