"""Stopping early never changes what a gate says in the end."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.comparison import check_gates
from ais_prompt.config import parse_gate
from ais_prompt.errors import AisPromptError
from ais_prompt.plan import Task
from ais_prompt.scoring import GateWatch, Row, sample_scores, score_row, scorer_of
from ais_prompt.types import (
    Completion,
    EvalSpec,
    Failure,
    PartSpec,
    Prediction,
    SummaryEntry,
    SummaryGroup,
    TaskSpec,
)
from tests.support.parts import task_spec

TASK = task_spec(Path("rows.jsonl"))
GATES = [
    "accuracy >= 57%",
    "accuracy > 0.6",
    "accuracy < 0.5",
    "accuracy >= 0",
    "failed <= 2",
    "failed <= 10%",
    "unparsed <= 1",
    "unparsed > 50%",
]
REPEATED = [*GATES, "pass@2 >= 60%", "cons@3 < 29%"]
F1 = ["f1 >= 57%", "f1 < 0.5", "exact_match > 29%", "failed <= 1"]


def evaluated(evaluator: str, *, k: tuple[int, ...] = ()) -> TaskSpec:
    spec = EvalSpec(evaluator=PartSpec(evaluator, where="here"), k=k, where="here")
    return replace(TASK, dataset=replace(TASK.dataset, eval=spec))


def prediction(number: int, answer: str | None, gold: str = "1") -> Prediction:
    completion = Completion(failure=Failure("timeout", "")) if answer is None else Completion(answer, "stop")
    return Prediction(f"s{number}", number, "?", answer, gold, (completion,))


def repeated(number: int, answers: list[str | None]) -> Prediction:
    each = [prediction(number, answer) for answer in answers]
    return replace(each[0], prediction=answers, completions=tuple(one.completions[0] for one in each))


def passes(task: TaskSpec, texts: list[str], predictions: list[Prediction]) -> list[bool]:
    """What the gates say of these predictions and no others."""
    scorer = scorer_of(Task.of(task), predictions[0])
    assert scorer is not None
    names = task.dataset.abbr, task.model.abbr
    try:
        rows = [score_row(*names, score) for score in scorer.aggregate(sample_scores(Task.of(task), predictions))]
    except AisPromptError as error:
        rows = [Row(*names, note=str(error))]
    return [verdict.passed for verdict in check_gates([parse_gate(text, "here") for text in texts], rows)]


def assert_agrees(task: TaskSpec, texts: list[str], predictions: list[Prediction], seed: int) -> None:
    """In any order, what was asked until the gates were decided says what all of it says."""
    random.Random(seed).shuffle(predictions)
    watch = GateWatch([parse_gate(text, "here") for text in texts], (), Task.of(task), len(predictions))
    for number, one in enumerate(predictions, 1):
        watch.see(one)
        if watch.decided:
            assert passes(task, texts, predictions[:number]) == passes(task, texts, predictions)
            break


ANSWERS = st.lists(st.sampled_from(["1", "1", "2", "", None]), min_size=1, max_size=40)
SOME_GATES = st.lists(st.sampled_from(GATES), min_size=1, max_size=3)


@given(ANSWERS, SOME_GATES, st.integers(0, 9))
def test_a_decided_gate_says_in_the_end_what_it_said(answers: list[str | None], texts: list[str], seed: int) -> None:
    assert_agrees(TASK, texts, [prediction(number, answer) for number, answer in enumerate(answers)], seed)


@given(
    st.lists(st.sampled_from(["a b c", "a b", "c", "d", "", None]), min_size=1, max_size=30),
    st.lists(st.sampled_from(F1), min_size=1, max_size=2),
    st.integers(0, 9),
)
def test_the_same_for_values_between_0_and_1(answers: list[str | None], texts: list[str], seed: int) -> None:
    predictions = [prediction(number, answer, "a b c") for number, answer in enumerate(answers)]
    assert_agrees(evaluated("SquadEvaluator"), texts, predictions, seed)


@given(
    st.lists(st.lists(st.sampled_from(["1", "2", "", None]), min_size=3, max_size=3), min_size=1, max_size=20),
    st.lists(st.sampled_from(REPEATED), min_size=1, max_size=2),
    st.integers(0, 9),
)
def test_the_same_for_several_answers(answers: list[list[str | None]], texts: list[str], seed: int) -> None:
    predictions = [repeated(number, each) for number, each in enumerate(answers)]
    assert_agrees(evaluated("Gsm8kEvaluator", k=(2,)), texts, predictions, seed)


@given(st.lists(st.booleans(), min_size=1, max_size=30), SOME_GATES, st.integers(0, 9))
def test_golds_that_cannot_be_used_end_no_run(usable: list[bool], texts: list[str], seed: int) -> None:
    golds = ["1" if each else "" for each in usable]
    predictions = [prediction(number, "1", gold) for number, gold in enumerate(golds)]
    assert_agrees(evaluated("Gsm8kEvaluator"), texts, predictions, seed)


def test_it_stops_as_soon_as_nothing_can_change() -> None:
    watch = GateWatch([parse_gate("accuracy >= 80%", "here")], (), Task.of(TASK), 100)
    for number in range(20):
        watch.see(prediction(number, "2"))
        assert not watch.decided
    watch.see(prediction(20, "2"))
    assert watch.decided


def is_decided(text: str, task: TaskSpec = TASK, groups: tuple[SummaryGroup, ...] = ()) -> bool:
    """Whether wrong answers decide a gate before the end."""
    watch = GateWatch([parse_gate(text, "here")], groups, Task.of(task), 10)
    for number in range(9):
        watch.see(prediction(number, "2"))
    return watch.decided


def test_gates_of_others_and_of_other_metrics_decide_nothing() -> None:
    assert is_decided("accuracy >= 80%")
    assert not is_decided("other: accuracy >= 80%")
    assert not is_decided("rouge1 >= 3")


def test_bleu_is_no_mean_even_if_every_answer_has_none() -> None:
    assert not is_decided("bleu >= 3", evaluated("BleuEvaluator"))


def test_a_gate_on_a_group_needs_all_of_its_data_sets() -> None:
    name = TASK.dataset.abbr
    groups = (SummaryGroup("inner", (SummaryEntry(name),)), SummaryGroup("outer", (SummaryEntry("inner"),)))
    watch = GateWatch(
        [parse_gate("accuracy >= 80%", ""), parse_gate("outer: naive_average >= 80%", "")], groups, Task.of(TASK), 10
    )
    for number in range(9):
        watch.see(prediction(number, "2"))
    assert not watch.decided
    assert is_decided("accuracy >= 80%", groups=groups)


class Naming:
    """Names its metrics when it compares for the first time."""

    def score(self, extracted: str, gold: str) -> dict[str, float]:
        return {"accuracy": float(extracted == gold)}


@given(st.lists(st.sampled_from(["1", "0", "", None]), min_size=1, max_size=20), st.integers(0, 9))
def test_an_evaluator_that_names_its_metrics_late(answers: list[str | None], seed: int) -> None:
    task = evaluated(f"{__name__}.Naming")
    assert_agrees(task, GATES, [prediction(number, answer) for number, answer in enumerate(answers)], seed)


class NamingErrors:
    """The same for a metric of which less is better: an answer that cannot be read is an error."""

    def score(self, extracted: str, gold: str) -> dict[str, float]:
        return {"error_rate": float(extracted != gold)}


@given(st.lists(st.sampled_from(["1", "0", "", None]), min_size=1, max_size=20), st.integers(0, 9))
def test_an_evaluator_of_errors_that_names_its_metrics_late(answers: list[str | None], seed: int) -> None:
    task = evaluated(f"{__name__}.NamingErrors")
    gates = ["error_rate <= 50%", "error_rate < 0.2", "failed <= 1"]
    assert_agrees(task, gates, [prediction(number, answer) for number, answer in enumerate(answers)], seed)
