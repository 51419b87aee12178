"""Files as people have them are scored right: the gold and an ordinary sentence count, another answer does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.checks.data_file import DataFile, describe_file
from ais_prompt.checks.source import Source, read_spec
from ais_prompt.plan.plan import Plan, PlannedDataset
from ais_prompt.verbs.api import load_config
from tests.unit.checks.data_rows import KINDS, FileKind, raw_text


def planned(path: Path, **said: Any) -> PlannedDataset:
    dataset = describe_file(DataFile(str(path), **said)).dataset
    config = {"models": [{"type": "ScriptedModel", "abbr": "m"}], "datasets": [dataset]}
    return Plan(read_spec(Source(loaded=load_config(config))).spec).datasets[0]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def value(dataset: PlannedDataset, number: int, answer: str) -> float:
    evaluator = dataset.evaluator
    assert evaluator is not None
    extracted = dataset.answer_of(answer)
    if extracted is None:
        return 0.0
    return evaluator.score(extracted, dataset.gold_of(dataset.data.test[number].gold))[evaluator.metrics[0]]


def prompt_text(dataset: PlannedDataset, number: int) -> str:
    filled = dataset.prompts.generation(dataset.data.test[number], ())
    return "\n".join(str(one.get("prompt", one.get("content"))) if not isinstance(one, str) else one for one in filled)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.process] if kind.compares_formulas else []) for kind in KINDS],
    ids=lambda kind: kind.name,
)
def test_a_file_is_scored_right_without_a_word_about_it(kind: FileKind, tmp_path: Path) -> None:
    path = written(tmp_path, kind.rows)
    dataset = planned(path)
    gold, sentence = kind.gold, kind.sentence
    if gold is None:  # shuffled
        gold = lambda n: dataset.data.test[n].gold  # noqa: E731
        sentence = lambda n: f"The answer is {gold(n)}."  # noqa: E731
    for n in range(12):
        assert value(dataset, n, gold(n)) == 1, (gold(n), dataset.data.test[n].gold)
        assert value(dataset, n, sentence(n)) == 1, sentence(n)
        other = next(k for k in (*range(n + 1, 12), *range(n)) if gold(k) != gold(n))
        assert value(dataset, n, sentence(other)) == 0, sentence(other)
        if kind.hedge is not None:
            assert value(dataset, n, kind.hedge) == 0
        prompt = prompt_text(dataset, n)
        assert not raw_text(prompt), prompt
