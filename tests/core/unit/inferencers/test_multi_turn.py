"""Multi-turn dialogues: which requests are sent, in which order, and what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.inferencers import ChatInferencer, InferenceContext, MultiTurnGenInferencer, RunningConversation
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import MultiTurnPromptTemplate, PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import Completion, Prediction, ReaderSpec, Request, Sample
from tools.drive import drive

ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "gold {answer}"}]
FRUIT = {"question": ["Name a fruit.", "Its colour?", "Its taste?"], "answer": ["lemon", "yellow", "sour"]}
ANSWERS = {"fruit": "fig", "colour": "green", "taste": "sweet"}


def sample(fields: dict[str, Any], number: int = 0) -> Sample:
    return Sample(f"s{number}", number, fields, fields.get("answer"))


def context(model: ScriptedModel, output_column: str | None = "answer") -> InferenceContext:
    builder = PromptBuilder(None, MultiTurnPromptTemplate({"round": ROUND}), output_column=output_column)
    return InferenceContext(builder, make_chat_format(model.prompt_style, None, lambda: None), model, ())


def hold(
    inferencer: MultiTurnGenInferencer,
    fields: dict[str, Any] = FRUIT,
    answers: dict[str, Any] | None = None,
    output_column: str | None = "answer",
) -> tuple[Prediction, list[Request]]:
    """Return the stored line of one dialogue, and its requests."""
    model = ScriptedModel(answers or ANSWERS, prompt_style="messages", max_out_len=9)
    requests: list[Request] = []
    dialogue = RunningConversation(
        inferencer.converse(sample(fields), [], context(model, output_column)), lambda _: None
    )
    drive(model, iter([dialogue]), lambda request, _: requests.append(request), lambda _: None, has_answered=True)
    assert dialogue.prediction is not None
    return dialogue.prediction, requests


def texts(request: Request) -> list[str]:
    return [str(message.content) for message in request.prompt if not isinstance(message, str)]


def test_every_turn_is_asked_after_what_the_model_said() -> None:
    prediction, requests = hold(MultiTurnGenInferencer())
    assert [texts(request) for request in requests] == [
        ["Name a fruit."],
        ["Name a fruit.", "fig", "Its colour?"],
        ["Name a fruit.", "fig", "Its colour?", "green", "Its taste?"],
    ]
    assert prediction.prediction == ["fig", "green", "sweet"]
    assert prediction.gold == ["lemon", "yellow", "sour"]
    assert prediction.origin_prompt == tuple(request.prompt for request in requests)
    assert [completion.text for completion in prediction.completions] == prediction.prediction
    assert [request.turn for request in requests] == [0, 1, 2]


def test_every_turn_is_asked_after_the_gold() -> None:
    prediction, requests = hold(MultiTurnGenInferencer("every_with_gt"))
    assert texts(requests[2]) == ["Name a fruit.", "gold lemon", "Its colour?", "gold yellow", "Its taste?"]
    assert prediction.prediction == ["fig", "green", "sweet"]


def test_the_last_turn_only() -> None:
    prediction, [request] = hold(MultiTurnGenInferencer("last"))
    assert texts(request) == ["Name a fruit.", "gold lemon", "Its colour?", "gold yellow", "Its taste?"]
    assert (prediction.prediction, prediction.gold) == ("sweet", "sour")
    assert prediction.origin_prompt == request.prompt
    assert request.turn == 2


def test_without_gold_by_turn_the_gold_stays_as_it_is() -> None:
    fields = {**FRUIT, "rating": 7}
    prediction, _ = hold(MultiTurnGenInferencer("last"), fields, output_column=None)
    assert prediction.gold == fields["answer"]  # the sample's, untouched


@pytest.mark.parametrize("mode", ["every", "every_with_gt"])
def test_a_turn_without_an_answer_ends_the_dialogue(mode: Any) -> None:
    prediction, requests = hold(MultiTurnGenInferencer(mode), answers={**ANSWERS, "colour": {"failure": "http_500"}})
    assert len(requests) == 2
    assert prediction.prediction == ["fig", None, None]
    assert prediction.gold == ["lemon", "yellow", "sour"]
    assert prediction.failed
    assert prediction.failed_turn == 2
    assert Prediction.from_json(prediction.to_json()) == prediction


def test_a_dialogue_with_more_questions_than_answers_fails_where_it_cannot_go_on() -> None:
    uneven = {"question": ["a fruit?", "colour?", "taste?"], "answer": ["lemon"]}
    prediction, requests = hold(MultiTurnGenInferencer(), uneven)
    assert len(requests) == 1
    assert prediction.prediction == ["fig"]
    assert prediction.failed_turn == 2
    failure = prediction.completions[-1].failure
    assert failure is not None
    assert failure.kind == "missing_turns"
    assert "question: 3, answer: 1" in failure.message
    last, requests = hold(MultiTurnGenInferencer("last"), uneven)
    assert (last.prediction, last.failed, requests) == (None, True, [])


@pytest.mark.parametrize("mode", ["every", "every_with_gt", "last"])
def test_an_empty_dialogue_is_a_failure_that_asks_nothing(mode: Any) -> None:
    prediction, requests = hold(MultiTurnGenInferencer(mode), {"question": [], "answer": []})
    assert requests == []
    assert prediction.failed_turn == 1
    assert prediction.completions[0].failure is not None
    assert prediction.completions[0].failure.kind == "no_turns"
    assert Prediction.from_json(prediction.to_json()) == prediction


@pytest.mark.parametrize(
    ("mode", "lengths", "asked"),
    [
        ("every", [5, 6, 7], [5, 6, 7]),
        ("every", [5, 6], [5, 6, 6]),
        ("every", 4, [4, 4, 4]),
        ("every", None, [9, 9, 9]),
        ("last", [5, 6, 7, 8], [8]),
    ],
)
def test_each_turn_has_its_own_length(mode: Any, lengths: Any, asked: list[int]) -> None:
    _, requests = hold(MultiTurnGenInferencer(mode, lengths))
    assert [request.decoding.max_out_len for request in requests] == asked


def test_stopping_criteria_end_an_answer() -> None:
    prediction, _ = hold(MultiTurnGenInferencer(stopping_criteria=["g"]))
    assert prediction.prediction == ["fi", "", "sweet"]


def test_options_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ConfigError, match="no infer_mode 'first'") as caught:
        MultiTurnGenInferencer("first")  # type: ignore[arg-type]
    assert "every, every_with_gt, last" in caught.value.fix
    with pytest.raises(ConfigError, match="max_out_len is empty"):
        MultiTurnGenInferencer(max_out_len=[])


def test_a_template_without_turns_is_refused() -> None:
    builder = PromptBuilder(None, PromptTemplate("{question}"), output_column="answer")
    with pytest.raises(PromptError, match="PromptTemplate cannot make multi-turn dialogues"):
        builder.dialogue(sample(FRUIT))


def test_a_preview_shows_each_request_and_says_where_gold_stands_in_for_answers() -> None:
    model = ScriptedModel()
    previews = MultiTurnGenInferencer().preview(sample(FRUIT), [], context(model))
    assert [preview.title for preview in previews] == [
        "turn 1",
        "turn 2, gold in place of the model's answers",
        "turn 3, gold in place of the model's answers",
    ]
    assert [turn["prompt"] for turn in previews[1].filled] == ["Name a fruit.", "lemon", "Its colour?"]  # type: ignore[index]
    [last] = MultiTurnGenInferencer("last").preview(sample(FRUIT), [], context(model))
    assert last.title == "turn 3"
    assert "gold yellow" in str(last.filled)


def test_a_chat_inferencer_asks_the_last_turn_of_a_ready_made_chat() -> None:
    inferencer = ChatInferencer()
    template = inferencer.dialogue_template(None, ReaderSpec(("chat",), "ref"))
    model = ScriptedModel({"more": "fine"})
    made = InferenceContext(
        PromptBuilder(None, template, output_column="ref"), make_chat_format("messages", None, dict), model, ()
    )
    chat = [("user", "hi"), ("assistant", "gold 1"), ("user", "more"), ("assistant", "gold 2")]
    row = Sample("s", 0, {"chat": [{"role": role, "content": text} for role, text in chat], "ref": "r"}, "r")
    dialogue = RunningConversation(inferencer.converse(row, [], made), lambda _: None)
    [request] = dialogue.open_requests()
    assert texts(request) == ["hi", "gold 1", "more"]
    dialogue.answer(request, Completion("fine", "stop"))
    assert dialogue.prediction is not None
    assert (dialogue.prediction.prediction, dialogue.prediction.gold) == ("fine", "gold 2")


@settings(max_examples=30)
@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=6), concurrency=st.integers(1, 4))
def test_turns_come_in_order_whatever_runs_beside_them(lengths: Sequence[int], concurrency: int) -> None:
    rows = [
        sample({"question": [f"{row}.{turn}" for turn in range(turns)], "answer": ["x"] * turns}, row)
        for row, turns in enumerate(lengths)
    ]
    answers = {rf"^{row}\.{turn}$": f"a{row}.{turn}" for row, turns in enumerate(lengths) for turn in range(turns)}
    model = ScriptedModel(answers, max_concurrency=concurrency)
    at = context(model)
    dialogues = [RunningConversation(MultiTurnGenInferencer().converse(row, [], at), lambda _: None) for row in rows]
    asked: list[Request] = []
    drive(model, iter(dialogues), lambda request, _: asked.append(request), lambda _: None)
    for row, turns in enumerate(lengths):
        own = [request for request in asked if request.sample_id == f"s{row}"]
        assert [request.turn for request in own] == list(range(turns))
        if own:
            assert texts(own[-1])[1::2] == [f"a{row}.{turn}" for turn in range(turns - 1)]
