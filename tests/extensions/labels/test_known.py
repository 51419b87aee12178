"""Labels are the golds of a dataset that has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.labels.label_files import Label, Selection, labels_file, write_label_file
from ais_prompt.store import RunFolder, locate_run, read_details, read_predictions, read_scores
from tests.support.cli import run_cli

pytestmark = pytest.mark.thorough
CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', default='good')]
datasets = [dict(type='LocalDataset', abbr='d', rows=[dict(q=f'question {number}') for number in range(20)],
    reader_cfg=dict(input_columns=['q'], output_column=None),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'), inferencer=dict(type='GenInferencer')))]
"""
"""No golds, no evaluator."""
WITH_EVALUATOR = (
    CONFIG.replace("output_column=None", "output_column='a'")
    .replace(
        "')))]",
        """')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]""",
    )
    .replace("{number}')", "{number}', a=None)")
)
"""No golds, but an evaluator that needs some."""


@pytest.fixture(params=[CONFIG, WITH_EVALUATOR], ids=["no evaluator", "no golds"])
def run(tmp_path: Path, request: pytest.FixtureRequest) -> RunFolder:
    (tmp_path / "e.py").write_text(request.param)
    done = run_cli("run", "e.py", "--max-failures", "20", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return locate_run(tmp_path / "outputs", "latest")


def label(run: RunFolder, person: str, labels: dict[int, bool], selection: Selection = "random") -> None:
    """Label answers, by their places in the run."""
    ids = [one.sample_id for one in read_predictions(run.predictions("m", "d"))]
    rows = {ids[place]: Label(ids[place], right, "", selection) for place, right in labels.items()}
    write_label_file(labels_file(run, "m", "d", person), rows)


def row(run: RunFolder) -> dict[str, Any]:
    """Score the run, and return its only row."""
    done = run_cli("score", "latest", "--json", "--max-failures", "20", folder=run.root.parents[2])
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["scores"]
    return dict(found)


def test_answers_without_a_label_are_not_wrong(run: RunFolder) -> None:
    label(run, "anna", {place: place != 2 for place in range(8)})
    shown = run_cli("score", "latest", folder=run.root.parents[2])
    assert "n = 8 of 20 drawn" in shown.stdout
    assert "8 of 20 answers have a label" in shown.stderr
    found = row(run)
    assert (found["metric"], found["score"], found["n"], found["population"]) == ("label", 7 / 8, 8, 20)
    assert 0 < found["ci95_low"] < 7 / 8 <= found["ci95_high"] <= 1
    assert len(list(read_details(run.results("m", "d")))) == 8


def test_all_labels_make_a_score_as_of_any_dataset(run: RunFolder) -> None:
    label(run, "anna", {place: place < 15 for place in range(20)})
    found = row(run)
    assert (found["score"], found["n"], found["population"]) == (0.75, 20, None)
    assert found["ci95_low"] < 0.6


def test_only_drawn_answers_on_which_people_agree(run: RunFolder) -> None:
    label(run, "anna", {0: True, 1: True, 2: False})
    label(run, "ben", {0: True, 1: False})
    label(run, "carl", {5: False, 6: False}, "disagreed")
    assert (row(run)["score"], row(run)["n"]) == (0.5, 2)


def test_labels_that_are_taken_back_leave_no_score(run: RunFolder) -> None:
    label(run, "anna", {0: True})
    assert row(run)["score"] == 1
    assert [one.metric for one in read_scores(run.results("m", "d"))] == ["label"]
    label(run, "anna", {0: True, 1: False})
    assert row(run)["score"] == 0.5
    label(run, "anna", {})
    assert row(run)["score"] is None
    assert not run.results("m", "d").exists() or "label" not in run.results("m", "d").read_text()


def test_scores_by_labels_are_no_verdicts_that_labels_correct(run: RunFolder) -> None:
    label(run, "anna", {place: place != 2 for place in range(8)})

    def measured() -> Any:
        return json.loads(run_cli("labels", "latest", "--json", folder=run.root.parents[2]).stdout)["tasks"]

    before = measured()
    row(run)
    assert measured() == before


def test_gates_limit_the_score_by_labels(run: RunFolder) -> None:
    def gated(*gates: str) -> tuple[int, str]:
        options = [part for gate in gates for part in ("--gate", gate)]
        done = run_cli("score", "latest", "--max-failures", "20", *options, folder=run.root.parents[2])
        return done.returncode, done.stdout + done.stderr

    code, shown = gated("label >= 50%")
    assert code == 1, shown
    assert "FAIL  label >= 50%" in shown
    label(run, "anna", {place: place < 15 for place in range(20)})
    code, shown = gated("label >= 70%", "d: label >= 50% @95%")
    assert code == 0, shown
    assert "ok    label >= 70%  m/d  75.0 %" in shown
    assert "ok    d: label >= 50% @95%  m/d  75.0 %, with 95 % confidence at least 54.4 %" in shown
    code, shown = gated("label >= 80%")
    assert code == 1, shown
    assert gated("labels >= 70%")[0] == 2
