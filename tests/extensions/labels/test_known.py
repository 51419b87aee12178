"""Labels are the golds of a dataset that has no evaluator."""

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


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    (tmp_path / "e.py").write_text(CONFIG)
    done = run_cli("run", "e.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return locate_run(tmp_path / "outputs", "latest")


def label(run: RunFolder, person: str, labels: dict[int, bool], selection: Selection = "random") -> None:
    """Label answers, by their places in the run."""
    ids = [one.sample_id for one in read_predictions(run.predictions("m", "d"))]
    rows = {ids[place]: Label(ids[place], right, "", selection) for place, right in labels.items()}
    write_label_file(labels_file(run, "m", "d", person), rows)


def row(run: RunFolder) -> dict[str, Any]:
    """Score the run, and return its only row."""
    done = run_cli("score", "latest", "--json", folder=run.root.parents[2])
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["scores"]
    return dict(found)


def test_answers_without_a_label_are_not_wrong(run: RunFolder) -> None:
    label(run, "anna", {place: place != 2 for place in range(8)})
    found = row(run)
    assert (found["metric"], found["score"], found["n"], found["population"]) == ("label", 7 / 8, 8, 20)
    assert 0 < found["ci95_low"] < 7 / 8 <= found["ci95_high"] <= 1
    assert len(list(read_details(run.results("m", "d")))) == 8
    shown = run_cli("score", "latest", folder=run.root.parents[2])
    assert "n = 8 of 20 drawn" in shown.stdout
    assert "8 of 20 answers have a label" in shown.stderr


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
    label(run, "anna", {})
    assert row(run)["note"] == "not scored: predictions only"
    assert not run.results("m", "d").exists()


def test_scores_by_labels_are_no_verdicts_that_labels_correct(run: RunFolder) -> None:
    label(run, "anna", {place: place != 2 for place in range(8)})

    def measured() -> Any:
        return json.loads(run_cli("labels", "latest", "--json", folder=run.root.parents[2]).stdout)["tasks"]

    before = measured()
    row(run)
    assert measured() == before
