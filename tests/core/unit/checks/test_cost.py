"""A dataset costs little beside its samples: suites have a thousand of them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from ais_prompt.checks import checked
from ais_prompt.config import Options
from tests.core.unit.plan.test_plan import CONFIG
from tests.support.parts import write_rows

MOST_CALLS: Final = 2400
"""Calls of Python functions that reading and checking one more dataset of two models may take; 1,970 when written."""


def calls(folder: Path, count: int) -> int:
    """Return how many Python functions are called to read and check a config of so many datasets."""
    names = [f"part{number}" for number in range(count)]
    for name in names:
        write_rows(folder / f"{name}.jsonl", [{"question": f"{name} {n}+1=?", "answer": str(n + 1)} for n in range(3)])
    config = CONFIG.replace("('left', 'right')", repr(names)).replace("path='rows.jsonl'", "path=name + '.jsonl'")
    (folder / "eval.py").write_text(config, "utf-8")
    found = 0

    def count_call(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal found
        found += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        checked(Options(config=str(folder / "eval.py")))
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.thorough
def test_one_more_dataset_takes_few_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    calls(tmp_path, 2)  # what is kept of parts that were seen before
    few, many = calls(tmp_path, 10), calls(tmp_path, 30)
    assert (many - few) / 20 < MOST_CALLS


def test_tasks_of_a_model_share_its_side_of_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    calls(tmp_path, 3)
    plan, _ = checked(Options(config="eval.py"))
    formats = [id(task.context.chat) for task in plan.tasks]
    assert len(set(formats)) == len(plan.models)
    plan = plan.with_models({plan.models[0]: plan.models[1].model})
    plan.tasks[0].release()
    assert id(plan.tasks[0].context.chat) not in formats
