"""A run of many datasets in the list of runs, and the groups of its report."""

from __future__ import annotations

from pathlib import Path

from ais_prompt.report import overview, runs_page, summary_of, write_summary
from ais_prompt.scoring import Row, with_averages
from ais_prompt.store import RunFolder, write_config, write_predictions
from ais_prompt.types import SummaryEntry, SummaryGroup
from tests.core.unit.report.web.making import make_run, prediction, scored
from tests.core.unit.report.web.reading import read_report

NAMES = [f"mmlu-{number}" for number in range(8)]
DATASET = {
    "type": "LocalDataset",
    "path": "x.jsonl",
    "reader_cfg": {"input_columns": "q", "output_column": "a"},
    "infer_cfg": {
        "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
        "inferencer": {"type": "GenInferencer"},
    },
    "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
}
CONFIG = f"""models = [{{'type': 'ScriptedModel', 'abbr': 'good'}}]
datasets = {[{**DATASET, "abbr": name} for name in [*NAMES, "last"]]}
summarizer = {{'summary_groups': [{{'name': 'mmlu', 'subsets': {NAMES}}}]}}
"""


def suite(root: Path) -> RunFolder:
    """Two models on nine datasets; one of them failed on all."""
    folder = make_run(root, [prediction(0)], [scored(0)])
    tasks = [*NAMES, "last"]
    for name in tasks:
        write_predictions(folder.predictions("good", name), [prediction(0)])
    good = [Row(name, "good", "accuracy", 0.5 if name in NAMES else 0.9, n=10) for name in tasks]
    failed = [Row(name, "bad", note="error: ModelError: HTTP 401") for name in tasks]
    group = SummaryGroup("mmlu", tuple(map(SummaryEntry, NAMES)))
    rows = with_averages([*good, *failed], [group], lambda _: ())
    write_summary(folder.summary_dir, rows, rows)
    write_config(folder, CONFIG)
    return folder


def test_the_list_has_means_and_groups_and_one_cause(tmp_path: Path) -> None:
    page = tmp_path / "runs.html"
    page.write_text(runs_page(tmp_path, {"/eval/1": suite(tmp_path)}))
    [run] = read_report(page).data["runs"]
    good, bad = run["scores"]
    assert (good["model"], round(good["mean"], 4), good["scored"], good["of"]) == ("good", 0.5444, 9, 9)
    assert good["parts"] == [{"name": "mmlu", "score": 0.5, "fraction": True}]
    assert (bad["mean"], bad["scored"]) == (None, 0)
    assert (run["cause"], run["failed"], run["answers"]) == ("error: ModelError: HTTP 401", 9, 90)


def test_scores_without_predictions_are_those_of_datasets(tmp_path: Path) -> None:
    folder, page = suite(tmp_path), tmp_path / "runs.html"
    rows = [Row(name, "good", "accuracy", 0.5, n=10) for name in ("one", "two")]
    write_summary(folder.summary_dir, rows, rows)
    page.write_text(runs_page(tmp_path, {"/eval/1": folder}))
    [run] = read_report(page).data["runs"]
    assert run["datasets"] == [part["name"] for part in run["scores"][0]["parts"]] == ["one", "two"]


def test_the_groups_are_those_of_the_config_and_none_if_it_cannot_be_read(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    rows = summary_of(folder)
    assert overview(folder, rows, [])["groups"] == [{"name": "mmlu", "members": NAMES}]
    folder.config_file.write_text("models = [")
    assert overview(folder, rows, [])["groups"] == []
