"""Every model meets every dataset exactly once, and each model's tasks stand together."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.types import RunSpec
from tests.support.parts import dataset_spec, model_spec

ABBRS = st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=5, unique=True)


@given(models=ABBRS, datasets=ABBRS)
def test_each_pair_once(models: list[str], datasets: list[str]) -> None:
    spec = RunSpec(
        "run",
        tuple(model_spec(abbr) for abbr in models),
        tuple(dataset_spec(Path("x.jsonl"), abbr=abbr) for abbr in datasets),
        Path("outputs"),
        None,
        {},
    )
    tasks = spec.tasks
    pairs = [(task.model.abbr, task.dataset.abbr) for task in tasks]
    assert pairs == [(model, dataset) for model in models for dataset in datasets]
    assert [abbr for abbr, _ in groupby(task.model.abbr for task in tasks)] == models
