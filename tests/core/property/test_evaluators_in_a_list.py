"""Evaluators in a list find what each of them finds alone; only the headline depends on their order."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.evaluators import AnswerBatch, BatchVerdict
from ais_prompt.judges import question_id
from ais_prompt.metrics import mean_scores
from ais_prompt.plan import Task
from ais_prompt.registry import EVALUATORS
from ais_prompt.scoring import score_task
from ais_prompt.store import RunFolder, read_results, write_predictions
from ais_prompt.types import (
    Completion,
    EvalSpec,
    Failure,
    JudgeSpec,
    PartSpec,
    Prediction,
    SampleScore,
    Score,
    TaskSpec,
)
from tests.support.parts import dataset_spec, model_spec

FAILED: Final = Completion(failure=Failure("timeout", "no answer"))
JUDGE: Final = JudgeSpec((model_spec("judge"),), PartSpec("PromptTemplate", {"template": "{prediction}"}))
FIRST_CAPITAL: Final = PartSpec("first_capital_postprocess")


@EVALUATORS.register_module()
class LengthOfAll:
    """A batch evaluator: how long the answers are, against the longest of them."""

    metrics: tuple[str, ...] = ("accuracy", "longest")

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        return {}

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        lengths = [len(str(answer)) for answer in batch.predictions]
        longest = max(lengths, default=0) or 1
        each = [length / longest for length in lengths]
        return BatchVerdict(
            {"accuracy": sum(each) / len(each) if each else 0.0, "longest": float(longest)}, {"accuracy": each}
        )

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        return mean_scores(self.metrics[:1], scores)


def half_right(prediction: str | None, gold: str) -> float:
    """A function of a user."""
    return 0.5 if gold in (prediction or "") else 0.0


EVALUATORS.register_module()(half_right)

KINDS: Final = {
    "rule": EvalSpec(PartSpec("AccEvaluator")),
    "reading": EvalSpec(PartSpec("AccEvaluator"), FIRST_CAPITAL),
    "part": EvalSpec(PartSpec("ContainsEvaluator")),
    "corpus": EvalSpec(PartSpec("BleuEvaluator")),
    "other": EvalSpec(PartSpec("EMEvaluator"), FIRST_CAPITAL),
    "batch": EvalSpec(PartSpec("LengthOfAll")),
    "function": EvalSpec(PartSpec("half_right")),
    "judge": EvalSpec(PartSpec("GenericLLMEvaluator"), judge=JUDGE),
    "judge2": EvalSpec(PartSpec("GenericLLMEvaluator"), FIRST_CAPITAL, judge=JUDGE),
}
"""Evaluators of every kind; many have the metric ``accuracy``."""

answers = st.lists(st.sampled_from(["A", "B", "It is A", "It is A, or B", "none", "", None]), min_size=1, max_size=6)
chosen = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True)


def several(names: Sequence[str]) -> EvalSpec:
    first, *others = (replace(KINDS[name], name=name, where="e") for name in names)
    return replace(first, further=tuple(others)) if others else replace(first, name="")


def predictions(given: Sequence[str | None], repeats: int) -> list[Prediction]:
    found = []
    for number, text in enumerate(given):
        one = FAILED if text is None else Completion(text, "length" if text.endswith("B") else "stop")
        texts = [text] + ["A"] * (repeats - 1)
        completions = (one, *(Completion("A", "stop") for _ in range(repeats - 1)))
        answer = texts if repeats > 1 else text
        found.append(Prediction(str(number), number, "?", answer, "A", completions))
    return found


def scored(
    names: Sequence[str], given: Sequence[str | None], repeats: int = 1
) -> tuple[list[Score], list[SampleScore], bytes]:
    """What is found about answers, with a judge that finds the texts with an A right and says nothing of "none"."""
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root))
        spec = TaskSpec(model_spec(), replace(dataset_spec(Path("x.jsonl")), eval=several(names)))
        asked = predictions(given, repeats)
        write_predictions(folder.predictions("fake", "sums"), asked)
        texts = {text for text in given if text} | {"A"}
        replies = [
            Prediction(
                question_id(SampleScore(one.sample_id, "scored", extracted, "A")),
                0,
                "?",
                said,
                None,
                (Completion(said),),
            )
            for one in asked
            for extracted in (*texts, "I", "B", "A")
            for said in ["" if extracted == "none" else "A" if "A" in extracted else "B"]
        ]
        for name in {"", *names}:
            write_predictions(folder.judge("fake", name).predictions("judge", "sums"), replies)
        scores = score_task(Task.of(spec), folder)
        path = folder.results("fake", "sums")
        stored, details = read_results(path)
        assert stored == scores
        return scores, details, path.read_bytes()


def plain(score: Score) -> Score:
    return replace(score, metric=score.metric.removeprefix(f"{score.evaluator}."), evaluator="")


@pytest.mark.thorough
@given(chosen, answers, st.sampled_from([1, 2]))
def test_each_evaluator_finds_what_it_finds_alone(names: list[str], given: list[str | None], repeats: int) -> None:
    scores, details, _ = scored(names, given, repeats)
    for name in names:
        own = [score for score in scores if len(names) == 1 or score.evaluator == name]
        alone, samples, _ = scored([name], given, repeats)
        assert [plain(score) for score in own] == alone
        for detail, sample in zip(details, samples, strict=True):
            found = detail.by(name)
            assert (found.status, found.reason, found.extracted) == (sample.status, sample.reason, sample.extracted)
            assert list(found.values.values()) == list(sample.values.values())
            for score in own:  # a reader finds the value of a score by its name
                assert found.values.get(score.metric) == sample.values.get(plain(score).metric)


@given(chosen, answers)
def test_names_are_different_and_the_headline_keeps_its_own(names: list[str], given: list[str | None]) -> None:
    scores, _, _ = scored(names, given)
    assert len({score.metric for score in scores}) == len(scores)
    headline, *_ = scored(names[:1], given)
    assert [score.metric for score in scores][: len(headline)] == [score.metric for score in headline]


@pytest.mark.thorough
@given(st.data(), chosen, answers)
def test_the_order_of_the_others_makes_no_difference(
    data: st.DataObject, names: list[str], given: list[str | None]
) -> None:
    first, *others = names
    shuffled = [first, *data.draw(st.permutations(others))]
    (scores, details, _), (again, same, _) = scored(names, given), scored(shuffled, given)
    assert {score.metric: score for score in scores} == {score.metric: score for score in again}
    assert details == same


@given(st.sampled_from(sorted(KINDS)), answers)
def test_a_single_evaluator_writes_no_names(name: str, given: list[str | None]) -> None:
    _, _, content = scored([name], given)
    assert b'"further"' not in content
    assert b'"evaluator"' not in content


@EVALUATORS.register_module()
def likeliest(prediction: Mapping[str, float], gold: str) -> float:
    """A function of a user about likelihoods."""
    return float(max(prediction, key=lambda choice: prediction[choice]) == gold)


MEASURES: Final = ("ChoicesAccEvaluator", "ChoicesMassEvaluator", "likeliest")
logs = st.dictionaries(st.sampled_from("ABC"), st.floats(-50, 0), min_size=2, max_size=3)


@given(st.lists(logs.filter(lambda each: "A" in each), min_size=1, max_size=4), st.permutations(MEASURES))
def test_likelihoods_are_scored_by_each_evaluator(measured: list[dict[str, float]], names: list[str]) -> None:
    found: dict[tuple[str, ...], list[Score]] = {}
    for chosen_names in (tuple(names), *((name,) for name in names)):
        first, *others = (EvalSpec(PartSpec(name), name=name, where="e") for name in chosen_names)
        scoring = replace(first, further=tuple(others), name=first.name if others else "")
        with tempfile.TemporaryDirectory() as root:
            asked = [
                Prediction(str(number), number, "?", each, "A", (Completion("", "stop"),))
                for number, each in enumerate(measured)
            ]
            folder = RunFolder(Path(root))
            write_predictions(folder.predictions("fake", "sums"), asked)
            spec = TaskSpec(model_spec(), replace(dataset_spec(Path("x.jsonl")), eval=scoring))
            found[chosen_names] = score_task(Task.of(spec), folder)
    together = found[tuple(names)]
    for name in names:
        assert [plain(one) for one in together if one.evaluator == name] == found[(name,)]
