"""Published references, where their data are at hand: the same scores, to the last digit that was published."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.config import compose_config
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.extensions.benchmarks.get import get
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS
from tests.support.real_data import BBH, REAL_DATA, needs

pytestmark = needs(REAL_DATA)


@cache
def scorer(config: str) -> Callable[[str, object], float]:
    """What gives the main metric of an answer and its gold, with the parts of a config."""
    scoring = compose_config((), (config,)).values["datasets"][0]["eval_cfg"]
    extract, gold_of = (part(scoring.get(key)) for key in ("pred_postprocessor", "dataset_postprocessor"))
    arguments = dict(scoring["evaluator"])
    evaluator = EVALUATORS.get(arguments.pop("type"))(**arguments)

    def score(answer: str, gold: object) -> float:
        return float(evaluator.score(extract(answer), gold_of(gold))[evaluator.metrics[0]])

    return score


def part(config: Mapping[str, Any] | None) -> Callable[[Any], Any]:
    """The postprocessor of a config; without one values stay as they are."""
    if config is None:
        return lambda value: value
    arguments = {name: value for name, value in config.items() if name != "type"}
    return POSTPROCESSORS.function(config["type"], arguments)


def references() -> list[tuple[str, str, float]]:
    if not BBH.exists():
        return []
    with (BBH / "accuracies.tsv").open() as table:
        rows = csv.DictReader(table, delimiter="\t")
        return [(row["task"], row["prompting"], float(row["accuracy_percent"])) for row in rows]


@pytest.mark.thorough
def test_bbh_answers_get_the_published_accuracy() -> None:
    for task, prompting, published in references():
        file = BBH / f"{task}.davinci_{prompting}.jsonl"
        answers = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        score = scorer("bbh_gen")
        values = [score(one["prediction"], one["target"]) for one in answers]
        assert 100 * sum(values) / len(values) == pytest.approx(published, abs=0.005)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path))
    return REAL_DATA


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "rows"),
    [("gsm8k", 1319), ("humaneval", 164), ("cmath", 600), ("mgsm", 750), ("bbh", 3365), ("mt_bench", 80)],
)
def test_the_files_of_the_publisher_are_read(data: Path, name: str, rows: int) -> None:
    get(name, data / name)
    assert len(CatalogDataset(name).read("test")) == rows


@pytest.mark.process
def test_golds_of_cmath_and_mgsm_answer_their_own_questions(data: Path) -> None:
    for name, answer in (("cmath", "答案：{}"), ("mgsm", "Answer: {}")):
        get(name, data / name)
        rows = list(CatalogDataset(name).read("test"))
        wrong = [row for row in rows if scorer(f"{name}_gen")(answer.format(row["answer"]), row["answer"]) != 1]
        assert wrong == [], name
        assert all(scorer(f"{name}_gen")(answer.format("7001"), row["answer"]) == 0 for row in rows[:50])


@pytest.mark.thorough
def test_solutions_of_gsm8k_are_right(data: Path) -> None:
    get("gsm8k", data / "gsm8k")
    rows = list(CatalogDataset("gsm8k").read("test"))[:150]  # all of them: tests/core/unit/postprocess/test_gsm8k.py
    assert [row for row in rows if scorer("gsm8k_gen")(row["answer"], row["answer"]) != 1] == []
