"""Inferencers that use log-likelihoods, with a scripted model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, DataError, ModelError, PromptError
from ais_prompt.inferencers import (
    ChoicesInferencer,
    CLPInferencer,
    InferenceContext,
    Inferencer,
    LLInferencer,
    PPLInferencer,
    PPLOnlyInferencer,
    RunningConversation,
    lowest,
)
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import ChatMessage, Completion, Likelihood, LikelihoodQuery, Prediction, Sample
from tools.drive import drive

TABLE = {"A": "</E>{stem} {A}", "B": "</E>{stem} {B}"}
ROW = {"stem": "Io is a", "A": "moon", "B": "star", "key": "A"}
SHOT = {"stem": "Sun is a", "A": "star", "B": "planet", "key": "A"}


def sample(index: int = 0, **changes: Any) -> Sample:
    fields = {**ROW, **changes}
    return Sample(str(index), index, fields, fields["key"])


def context(
    template: Any, likelihoods: Mapping[str, Any], samples: Sequence[Sample], ice: Any = None, **options: Any
) -> InferenceContext:
    options = {"ice_token": "</E>" if "</E>" in str(template) else None, **options}
    builder = PromptBuilder(
        PromptTemplate(ice, sep_token=options.get("sep_token")) if ice else None,
        PromptTemplate(template, **options),
        output_column="key",
    )
    model = ScriptedModel(prompt_style="text", likelihoods=likelihoods)
    return InferenceContext(builder, make_chat_format("text", None, lambda: None), model, samples)


def run(inferencer: Inferencer, at: InferenceContext, shots: Sequence[Sample] = ()) -> list[Prediction]:
    """Return the predictions of all samples, in order."""
    dialogues = [RunningConversation(inferencer.converse(sample, shots, at), lambda _: None) for sample in at.samples]
    drive(at.model, iter(dialogues), lambda *_: None, lambda _: None)
    return [dialogue.prediction for dialogue in dialogues if dialogue.prediction]


def one(inferencer: Inferencer, template: Any, likelihoods: Mapping[str, Any], **options: Any) -> Prediction:
    [prediction] = run(inferencer, context(template, likelihoods, [sample()], **options))
    return prediction


# Perplexity


def test_the_lowest_perplexity_wins() -> None:
    prediction = one(PPLInferencer(), TABLE, {"moon": 1.5, "star": 2.0})
    assert prediction.prediction == "A"
    assert one(PPLInferencer(), TABLE, {"moon": 2.5, "star": 2.0}).prediction == "B"
    assert prediction.gold == "A"
    assert prediction.origin_prompt == "\nIo is a moon"


def test_a_tie_goes_to_the_earlier_label() -> None:
    assert one(PPLInferencer(), TABLE, {"": 2.0}).prediction == "A"
    assert one(PPLInferencer(labels=["B", "A"]), TABLE, {"": 2.0}).prediction == "B"


NOISE = st.floats(min_value=0.5, max_value=2.0)


@given(st.lists(NOISE, min_size=3, max_size=3))
def test_equal_texts_have_one_value_whatever_their_batches(likelihoods: list[float]) -> None:
    template = {"A": "Io", "B": "{stem}", "C": "Io"}
    talk = PPLInferencer().converse(sample(stem="Io"), [], context(template, {}, [sample(stem="Io")]))
    requests = next(talk)
    answers = [Completion(likelihood=Likelihood(value, 1, 2, 2)) for value in likelihoods]
    assert len(requests) == 3
    with pytest.raises(StopIteration) as ended:
        talk.send(answers)
    prediction: Prediction = ended.value.value
    assert prediction.prediction == "A"
    assert len({label["ppl"] for label in prediction.labels.values()}) == 1


@given(st.permutations(["A", "B", "C"]), st.floats(0.1, 1e4), st.floats(0, 4e-7))
def test_values_within_the_noise_of_single_precision_are_a_tie(labels: list[str], value: float, noise: float) -> None:
    values = dict(zip(labels, [value * (1 + noise), value, value * (1 - noise)], strict=True))
    assert lowest(values) == labels[0]
    assert lowest({**values, "D": value * 0.9999}) == "D"


def test_a_line_says_how_likely_each_label_is() -> None:
    found = one(PPLInferencer(), {"A": "{stem} {A}", "B": "{stem} {B}"}, {"moon": 1.5, "star": 2.0}).labels
    assert list(found) == ["A", "B"]
    assert found["B"] == {
        "prompt": "Io is a star",
        "ppl": 2.0,
        "nll": 6.0,
        "tokens": 3,
        "bpb": pytest.approx(6.0 / math.log(2) / 12),
    }


@pytest.mark.parametrize(
    ("normalization", "value"),
    [("scored_tokens", 2.0), ("all_tokens", 1.5), ("bytes", 0.5), ("none", 6.0)],
)
def test_what_the_sum_is_divided_by(normalization: Any, value: float) -> None:
    prediction = one(PPLInferencer(normalization=normalization), {"B": "{stem} {B}"}, {"star": 2.0})
    assert prediction.labels["B"]["ppl"] == value
    assert prediction.labels["B"]["nll"] == 6.0


def test_labels_of_different_length_can_be_chosen_differently() -> None:
    template, likelihoods = {"A": "a moon", "B": "a star a star"}, {"moon": 2.5, "star": 2.0}
    chosen = {
        normalization: one(PPLInferencer(normalization=normalization), template, likelihoods).prediction
        for normalization in ("scored_tokens", "all_tokens", "none")
    }
    assert chosen == {"scored_tokens": "B", "all_tokens": "A", "none": "A"}


def test_without_a_table_the_labels_are_the_golds_in_order_of_appearance() -> None:
    samples = [sample(0, key="no"), sample(1, key="yes"), sample(2, key="no")]
    predictions = run(PPLInferencer(), context("{stem} {A}", {"": 1.0}, samples))
    assert [list(prediction.labels) for prediction in predictions] == [["no", "yes"]] * 3
    assert {prediction.prediction for prediction in predictions} == {"no"}


def test_all_labels_have_the_same_shots() -> None:
    shots = [Sample("s", 0, SHOT, "A")]
    at = context(TABLE, {"": 1.0}, [sample()], ice={"A": "{stem} {A}", "B": "{stem} {B}"})
    [prediction] = run(PPLInferencer(), at, shots)
    assert [found["prompt"] for found in prediction.labels.values()] == [
        "Sun is a star\nIo is a moon",
        "Sun is a star\nIo is a star",
    ]
    assert [preview.prompt for preview in PPLInferencer().preview(sample(), shots, at)] == [
        found["prompt"] for found in prediction.labels.values()
    ]


@pytest.mark.parametrize("kind", ["too_long", "not_a_number"])
def test_a_label_that_cannot_be_scored_fails_its_sample_only(kind: str) -> None:
    at = context(TABLE, {"Vega is a star": kind, "": 1.0}, [sample(), sample(1, stem="Vega is a")])
    fine, failed = run(PPLInferencer(), at)
    assert not fine.failed
    assert failed.failed
    assert failed.prediction is None
    assert list(failed.labels) == ["A"]


def test_nan_is_a_failure_and_infinity_is_never_chosen() -> None:
    at = context(TABLE, {"star": math.nan, "": 1.0}, [sample(), sample(1, B="sun")])
    broken, fine = run(PPLInferencer(), at)
    assert [c.failure.kind for c in broken.completions if c.failure] == ["not_a_number"]
    assert fine.prediction == "A"
    assert one(PPLInferencer(), TABLE, {"moon": math.inf, "star": 9.0}).prediction == "B"
    nothing = one(PPLInferencer(), TABLE, {"": math.inf})
    assert nothing.prediction is None
    assert not nothing.failed


def test_a_prediction_with_labels_comes_back_from_its_line() -> None:
    prediction = one(PPLInferencer(), TABLE, {"moon": 1.5, "star": 2.0})
    assert Prediction.from_json(prediction.to_json()) == prediction
    plain = Prediction("s", 0, "x", "y", None, (Completion("y", "stop"),))
    assert "labels" not in plain.to_json()
    assert "likelihood" not in plain.to_json()["completions"][0]


# Normalised by how much the context helps

MARKED = {"A": "</E>{stem}<S> {A}", "B": "</E>{stem}<S> {B}"}


def test_the_context_is_compared_with_a_fixed_text() -> None:
    likelihoods = {"a moon": 5.0, "a star": 4.0, "Answer: moon": 1.0, "Answer: star": 3.0}
    prediction = one(PPLInferencer(normalizing_str="Answer:"), MARKED, likelihoods, sep_token="<S>")
    assert {label: found["ppl"] for label, found in prediction.labels.items()} == {"A": 4.0, "B": 1.0}
    assert prediction.prediction == "B"
    assert prediction.labels["A"]["tokens"] == 1


def test_the_mark_of_an_example_does_not_count() -> None:
    ice = {"A": "{stem}<S> {A}", "B": "{stem}<S> {B}"}
    at = context(MARKED, {"": 1.0}, [sample()], ice=ice, sep_token="<S>")
    requests = next(PPLInferencer(normalizing_str="Answer:").converse(sample(), [Sample("s", 0, SHOT, "A")], at))
    assert [request.prompt for request in requests[:2]] == ["Sun is a star\nIo is a", "Answer:"]


@pytest.mark.parametrize("template", [TABLE, {"A": {"round": [{"role": "HUMAN", "prompt": "x"}]}}])
def test_a_template_without_mark_cannot_be_normalised(template: Any) -> None:
    with pytest.raises(PromptError, match="normalizing_str needs"):
        one(PPLInferencer(normalizing_str="Answer:"), template, {"": 1.0})


def test_an_empty_answer_is_a_failure_of_its_sample() -> None:
    at = context(MARKED, {"": 1.0}, [sample(), sample(1, B="")], sep_token="<S>")
    _, failed = run(PPLInferencer(normalizing_str="Answer:"), at)
    assert {c.failure.kind for c in failed.completions if c.failure} == {"no_tokens"}


# What is refused


@pytest.mark.parametrize("labels", [[], ["A", "A"], ["1", 1]])
def test_labels_must_be_different_and_not_none(labels: list[Any]) -> None:
    with pytest.raises(ConfigError, match="labels must be different"):
        PPLInferencer(labels=labels)


@pytest.mark.parametrize("gold", ["", " ", None])
def test_an_empty_label_is_refused(gold: Any) -> None:
    at = context("{stem}", {"": 1.0}, [sample(), sample(1, key=gold)])
    with pytest.raises(PromptError, match="empty label"):
        run(PPLInferencer(), at)


def test_a_model_that_cannot_score_ends_the_task() -> None:
    with pytest.raises(ModelError, match="cannot_score"):
        one(PPLInferencer(), TABLE, {})


# Log-likelihood


def test_the_highest_log_likelihood_of_the_continuation_wins() -> None:
    at = context({"A": "{stem} {A}", "B": "{stem} {B}"}, {"moon so": 3.0, "star so": 2.0}, [sample(cont=" so it is")])
    [prediction] = run(LLInferencer(), at)
    assert prediction.prediction == "B"
    assert prediction.labels["B"]["nll"] == 6.0
    assert prediction.labels["B"]["prompt"] == "Io is a star so it is"
    shown = LLInferencer().preview(at.samples[0], [], at)
    assert [view.prompt for view in shown] == ["Io is a moon so it is", "Io is a star so it is"]


@pytest.mark.parametrize("written", ["", "{cont}"])
def test_a_continuation_is_measured_once(written: str) -> None:
    """OpenCompass writes the continuation into the prompt of each label; it is not appended to itself."""
    inferencer = LLInferencer(continuation_in_prompt=bool(written))
    template = {"A": f"{{stem}} {{A}}{written}", "B": f"{{stem}} {{B}}{written}"}
    at = context(template, {"^Io is a moon so$": 2.0, "^Io is a star so$": 1.0}, [sample(cont=" so")])
    asked = next(inferencer.converse(at.samples[0], [], at))
    assert [(one.prompt, getattr(one.decoding, "continuation", None)) for one in asked] == [
        ("Io is a moon", " so"),
        ("Io is a star", " so"),
    ]
    assert [view.prompt for view in inferencer.preview(at.samples[0], [], at)] == [
        "Io is a moon so",
        "Io is a star so",
    ]


def test_a_prompt_without_its_continuation_is_refused() -> None:
    at = context(TABLE, {"": 1.0}, [sample(cont=" so")])
    with pytest.raises(PromptError, match="does not end with the continuation ' so'"):
        run(LLInferencer(continuation_in_prompt=True), at)


def test_the_continuation_must_be_there() -> None:
    with pytest.raises(DataError, match="no column 'cont'"):
        one(LLInferencer(), TABLE, {"": 1.0})
    assert one(LLInferencer(continuation_column="B"), TABLE, {"": 1.0}).prediction == "A"


# Choices of one token


def test_the_probabilities_of_the_choices_sum_to_one() -> None:
    at = context("{stem} {key}", {"A$": 1.0, "B$": 3.0}, [sample(choices=["A", "B"])])
    [prediction] = run(CLPInferencer(), at)
    assert prediction.prediction == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])
    assert prediction.origin_prompt == "Io is a "
    assert [found["logprob"] for found in prediction.labels.values()] == [-1.0, -3.0]
    assert len(prediction.completions) == 1


def test_the_choices_of_the_first_question_count_unless_they_are_named() -> None:
    samples = [sample(choices=["A", "B"]), sample(1, choices=["C"])]
    at = context("{stem} {key}", {"": 1.0}, samples)
    assert [list(p.labels) for p in run(CLPInferencer(), at)] == [["A", "B"]] * 2
    assert [list(p.labels) for p in run(CLPInferencer(choices=["x"]), at)] == [["x"]] * 2


def test_choices_must_be_somewhere() -> None:
    with pytest.raises(DataError, match="choices"):
        one(CLPInferencer(), "{stem}", {"": 1.0})


# Choices of the row


def test_each_row_has_choices_of_its_own() -> None:
    samples = [sample(choices=["a moon", "a big red star"]), sample(1, choices=["so", "odd", "a moon"])]
    at = context("{stem}", {"moon": 1.5, "star": 0.5, "so": 2.0, "odd": "timeout"}, samples)
    first, second = run(ChoicesInferencer(), at)
    assert first.prediction == {"a moon": -3.0, "a big red star": -2.0}
    assert first.labels["a moon"]["prompt"] == "Io is a a moon"
    assert first.origin_prompt == "Io is a a moon"
    assert (second.prediction, second.failed) == (None, True)
    assert list(second.labels) == ["so", "a moon"]


def test_choices_can_be_compared_by_length_and_follow_other_texts() -> None:
    at = context("{stem}:", {"moon": 1.5, "star": 0.5}, [sample(right=["a moon", "a big red star"])])
    inferencer = ChoicesInferencer("right", delimiter="\n", normalization="bytes")
    [prediction] = run(inferencer, at)
    assert prediction.prediction == {"a moon": -3.0 / 7, "a big red star": -2.0 / 15}
    assert [view.prompt for view in inferencer.preview(at.samples[0], [], at)] == [
        "Io is a:\na moon",
        "Io is a:\na big red star",
    ]


def test_a_choice_is_the_turn_of_a_model_that_gets_messages() -> None:
    at = context({"round": [{"role": "HUMAN", "prompt": "{stem}"}]}, {"": 1.0}, [sample(choices=["moon", "big star"])])
    chat = replace(at, chat=make_chat_format("messages", None, lambda: None))
    shown = ChoicesInferencer(delimiter="").preview(chat.samples[0], [], chat)
    question = ChatMessage("user", "Io is a")
    assert [view.prompt for view in shown] == [
        (question, ChatMessage("assistant", "moon")),
        (question, ChatMessage("assistant", "big star")),
    ]


def test_impossible_choices_alone_are_no_prediction() -> None:
    at = context("{stem}", {"": math.inf}, [sample(choices=["moon", "star"])])
    assert run(ChoicesInferencer(), at)[0].prediction is None


def test_equal_choices_have_one_likelihood() -> None:
    at = context("{stem}", {"moon": 1.0, "star": 2.0}, [sample(choices=["moon", "star", "moon"])])
    assert [*run(ChoicesInferencer(), at)[0].prediction] == ["moon", "star"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no list of choices in a column 'choices'"),
        ({"choices": "moon"}, "no list of choices"),
        ({"choices": []}, "no list of choices"),
        ({"choices": ["moon", None]}, "choices that are no texts"),
        ({"choices": [["moon"], "star"]}, "choices that are no texts"),
    ],
)
def test_choices_of_a_row_that_cannot_be_used(given: Mapping[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        run(ChoicesInferencer(), context("{stem}", {"": 1.0}, [sample(**given)]))


# Perplexity of a text


def test_the_perplexity_of_a_text_needs_no_gold() -> None:
    prediction = one(PPLOnlyInferencer(), "{stem} {A}", {"moon": 1.5})
    assert prediction.prediction == 1.5
    assert one(PPLOnlyInferencer(normalization="none"), "{stem} {A}", {"moon": 1.5}).prediction == 4.5


@pytest.mark.parametrize(("style", "opens"), [("text", None), ("messages", True)])
def test_messages_are_measured_with_the_opening_of_the_answer(style: Any, opens: bool | None) -> None:
    at = context("{stem} {A}", {"": 1.0}, [sample()])
    at = replace(at, chat=make_chat_format(style, None, lambda: None))
    [request] = next(PPLOnlyInferencer().converse(sample(), [], at))
    assert request.decoding == LikelihoodQuery(opens_answer=opens)


def test_a_text_of_one_token_is_a_failure() -> None:
    at = context("{stem}", {"": 1.0}, [sample(), sample(1, stem="Io")])
    fine, failed = run(PPLOnlyInferencer(), at)
    assert (fine.failed, failed.failed, failed.prediction) == (False, True, None)


def test_errors_are_those_that_a_user_can_read() -> None:
    for inferencer in (PPLInferencer(labels=["C"]), LLInferencer(labels=["C"], continuation_column="B")):
        with pytest.raises(AisPromptError, match="no entry for 'C'"):
            one(inferencer, TABLE, {"": 1.0})
