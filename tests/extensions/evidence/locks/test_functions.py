"""Locks from Python: what is written, what changed, and that a run with a lock builds nothing twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ais_prompt
from tests.core.unit.plan.test_plan import ALL, MARKED, built, invoke
from tests.support.parts import write_rows

__all__ = ["built"]
TEMPLATE = "datasets.0.infer_cfg.prompt_template.template"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "sums.jsonl", [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(3)])
    dataset = {
        "path": "sums.jsonl",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question} {answer}"},
            "inferencer": {"type": "GenInferencer"},
        },
    }
    return {"models": [{"type": "ScriptedModel", "abbr": "fake", "default": "4"}], "datasets": [dataset]}


def test_a_lock_shows_a_changed_template(config: dict[str, Any], tmp_path: Path) -> None:
    assert ais_prompt.lock(config).resolve() == tmp_path / "python.lock"
    assert ais_prompt.check_lock(config).is_none
    assert not ais_prompt.check_lock(config, overrides={TEMPLATE: "{question}"}).is_none


def test_a_missing_lock_is_an_error(config: dict[str, Any]) -> None:
    with pytest.raises(ais_prompt.ConfigError, match="there is no prompt lock") as caught:
        ais_prompt.check_lock(config, "no.lock")
    assert caught.value.fix


def test_a_locked_run_builds_nothing_twice(built: Counter[str]) -> None:
    invoke("lock", "eval.py")
    assert built == ALL
    built.clear()
    invoke("run", "eval.py", "--locked")
    assert built == MARKED
