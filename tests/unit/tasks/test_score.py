"""From predictions to scores: four states, and no failure counted as a wrong answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.errors import DataError, StoreError
from ais_prompt.evaluators import AccEvaluator
from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.tasks.score import score
from ais_prompt.tasks.scorer import Scorer
from ais_prompt.types import Completion, Failure, Prediction, TaskSpec
from tests.parts import dataset_spec, model_spec

FAILED = Completion(failure=Failure("timeout", "no answer"))


def prediction(number: int, text: str | None, gold: str = "A", completion: Completion | None = None) -> Prediction:
    return Prediction(str(number), number, "?", text, gold, (completion or Completion(text or "", "stop"),))


def capital(text: str) -> str | None:
    return next((letter for letter in reversed(text) if letter.isupper()), None)


SCORER = Scorer(AccEvaluator(), capital, lambda gold: gold)


@pytest.mark.parametrize(
    ("given", "status", "extracted", "value"),
    [
        (prediction(0, "It is A"), "scored", "A", 1.0),
        (prediction(0, "It is B"), "scored", "B", 0.0),
        (prediction(0, "no idea"), "unparsed", None, 0.0),
        (prediction(0, ""), "unparsed", None, 0.0),
        (prediction(0, "A", completion=Completion("A", "length")), "truncated", "A", 1.0),
        (prediction(0, "no", completion=Completion("no", "length")), "truncated", None, 0.0),
        (prediction(0, None, completion=FAILED), "failed", None, None),
    ],
)
def test_the_state_of_a_sample(given: Prediction, status: str, extracted: str | None, value: float | None) -> None:
    result = SCORER.score(given)
    assert (result.status, result.extracted) == (status, extracted)
    assert result.values == ({} if value is None else {"accuracy": value})


def test_an_error_in_a_users_postprocessor_names_the_sample() -> None:
    scorer = Scorer(AccEvaluator(), lambda text: text[99], lambda gold: gold)
    with pytest.raises(DataError) as caught:
        scorer.score(prediction(7, "short"))
    assert "scoring raised IndexError" in caught.value.what
    assert caught.value.where == "sample 7, row 7"


def test_results_hold_scores_and_details(tmp_path: Path) -> None:
    task = TaskSpec(model_spec(), dataset_spec(tmp_path / "x.jsonl", postprocessor="first_capital_postprocess"))
    folder = RunFolder(tmp_path)
    write_predictions(
        folder.predictions("fake", "sums"),
        [prediction(0, "A"), prediction(1, "B"), prediction(2, "?"), prediction(3, None, completion=FAILED)],
    )
    [result] = score(task, folder)
    assert result.value == pytest.approx(1 / 3)
    assert (result.n, dict(result.counts)) == (4, {"scored": 2, "unparsed": 1, "truncated": 0, "failed": 1})
    stored = json.loads(folder.results("fake", "sums").read_text())
    assert [detail["status"] for detail in stored["details"]] == ["scored", "scored", "unparsed", "failed"]


def test_scoring_without_predictions_says_what_to_do(tmp_path: Path) -> None:
    task = TaskSpec(model_spec(), dataset_spec(tmp_path / "x.jsonl"))
    with pytest.raises(StoreError) as caught:
        score(task, RunFolder(tmp_path))
    assert "-m infer" in caught.value.mend
