"""From predictions to scores: four states, and no failure counted as a wrong answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, DataError, GoldError, PartError
from ais_prompt.evaluators import AccEvaluator
from ais_prompt.plan import Task
from ais_prompt.report import summary_notes
from ais_prompt.scoring import Scorer, TaskOutcome, score_task, summary_rows
from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.types import Completion, Failure, PartSpec, Prediction, TaskSpec
from tests.support.parts import dataset_spec, model_spec

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


@pytest.mark.parametrize(("text", "status"), [("No, A is wrong", "scored"), ("no way", "unparsed")])
def test_a_refusal_is_scored_and_counted(tmp_path: Path, text: str, status: str) -> None:
    refused = Completion(text, "stop", refused=True)
    sample = SCORER.score(prediction(0, text, completion=refused))
    assert (sample.status, sample.reason) == (status, "refusal")
    [found] = score_task(*stored(tmp_path, prediction(0, text, completion=refused), prediction(1, "A")))
    assert found.refused == 1
    [row] = summary_rows([TaskOutcome("m", "d", [found])])
    assert row.refused == 1
    assert "m/d: 1 of 2 answers is a refusal" in summary_notes([row], starred=False)


def test_an_error_in_a_users_postprocessor_names_the_sample() -> None:
    scorer = Scorer(AccEvaluator(), lambda text: text[99], lambda gold: gold)
    with pytest.raises(PartError) as caught:
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
    [result] = score_task(Task.of(task), folder)
    assert result.value == pytest.approx(1 / 3)
    assert (result.n, dict(result.counts)) == (4, {"scored": 2, "unparsed": 1, "truncated": 0, "failed": 1})
    stored = json.loads(folder.results("fake", "sums").read_text())
    assert [detail["status"] for detail in stored["details"]] == ["scored", "scored", "unparsed", "failed"]


def stored(tmp_path: Path, *predictions: Prediction, evaluator: str = "AccEvaluator") -> tuple[Task, RunFolder]:
    dataset = dataset_spec(tmp_path / "x.jsonl")
    part = PartSpec(evaluator, {}, "datasets[0].eval_cfg.evaluator")
    task = TaskSpec(model_spec(), replace(dataset, eval=replace(dataset.eval, evaluator=part)))
    folder = RunFolder(tmp_path)
    write_predictions(folder.predictions("fake", "sums"), predictions)
    return Task.of(task), folder


def test_a_gold_that_cannot_be_used_is_named_and_its_sample_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given = [prediction(0, "1", "1"), prediction(1, "2", "two"), prediction(2, "4", "3")]
    [result] = score_task(*stored(tmp_path, *given, evaluator="Gsm8kEvaluator"))
    assert (result.value, result.counts["failed"]) == (0.5, 1)
    assert result.reasons == {"failed: unusable gold": 1}
    assert result.bounds == pytest.approx((1 / 3, 2 / 3))
    assert "1 of 3 golds cannot be used" in caplog.text
    assert "'two' is not a number · sample 1, row 1" in caplog.text
    detail = json.loads((tmp_path / "results/fake/sums.json").read_text())["details"][1]
    assert detail["reason"] == "unusable gold: the gold answer 'two' is not a number"


def test_of_many_golds_that_cannot_be_used_a_few_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = [prediction(0, "1", "1"), *(prediction(number, "1", "one") for number in range(1, 9))]
    [result] = score_task(*stored(tmp_path, *given, evaluator="Gsm8kEvaluator"))
    assert (result.value, result.counts["failed"]) == (1.0, 8)
    assert "8 of 9 golds cannot be used" in caplog.text
    assert [f"sample {number}," in caplog.text for number in range(1, 9)] == [True] * 5 + [False] * 3


def test_if_no_gold_can_be_used_the_config_is_wrong(tmp_path: Path) -> None:
    task, folder = stored(tmp_path, *(prediction(n, "1", "one") for n in range(3)), evaluator="Gsm8kEvaluator")
    with pytest.raises(GoldError, match="is not a number") as caught:
        score_task(task, folder)
    assert "dataset_postprocessor" in caught.value.fix


def test_a_gold_postprocessor_that_raises_says_for_which_sample() -> None:
    scorer = Scorer(AccEvaluator(), lambda text: text, lambda gold: gold[5])
    with pytest.raises(GoldError, match="dataset_postprocessor raised IndexError") as caught:
        scorer.score(prediction(7, "short"))
    assert caught.value.where == "sample 7, row 7"


def test_a_sample_counts_once(tmp_path: Path) -> None:
    task, folder = stored(tmp_path, *(prediction(n % 7, "A") for n in range(14)))
    with pytest.raises(DataError, match=r"7 ids given more than once: 0, 1, 2, 3, 4, …") as caught:
        score_task(task, folder)
    assert "journal" in caught.value.fix
    assert not folder.results("fake", "sums").exists()


def test_an_empty_file_has_no_score(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not one prediction"):
        score_task(*stored(tmp_path))


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (Completion("", "stop"), "empty answer"),
        (Completion("no", "stop"), "no answer found"),
        (Completion("", "length", unclosed=True), "unclosed thought"),
        (Completion("no", "length"), "cut at max_out_len"),
        (Completion("It is A", "length"), "cut at max_out_len"),
        (FAILED, "timeout"),
        (Completion("It is A", "stop"), ""),
    ],
)
def test_why_a_sample_is_not_plainly_scored(completion: Completion, reason: str) -> None:
    text = None if completion.failure else completion.text
    result = SCORER.score(prediction(0, text, completion=completion))
    assert result.reason == reason
    assert result.to_json().get("reason", "") == reason


@pytest.mark.parametrize("text", ["\ud800 A", "\x00\x1b[31mA", "B" * 1_000_000 + "A", "\u202eA"])
def test_odd_answers_are_scored_and_kept(tmp_path: Path, text: str) -> None:
    task, folder = stored(tmp_path, prediction(0, text, text))
    [result] = score_task(task, folder)
    assert result.value == 1.0
    [detail] = json.loads(folder.results("fake", "sums").read_text())["details"]
    assert detail["extracted"] == text


def test_scoring_without_predictions_says_what_to_do(tmp_path: Path) -> None:
    task = TaskSpec(model_spec(), dataset_spec(tmp_path / "x.jsonl"))
    with pytest.raises(ConfigError) as caught:
        score_task(Task.of(task), RunFolder(tmp_path))
    assert "-m infer" in caught.value.fix
