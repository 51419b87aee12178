"""A run is finished only if each sample has an answer or a failure; one without progress names its samples."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import ais_prompt
from ais_prompt.engine import Standstill, TaskJob, engine
from ais_prompt.models import AsyncModel, ScriptedModel
from ais_prompt.types import Completion, Request

CONFIG: dict[str, Any] = {
    "run_name": "lost",
    "models": [{"type": "ScriptedModel", "abbr": "m", "default": "4", "max_concurrency": 2}],
    "datasets": [
        {
            "abbr": "sums",
            "rows": [{"question": f"{n}+{n}", "answer": str(2 * n)} for n in range(6)],
            "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
            "infer_cfg": {
                "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
                "inferencer": {"type": "GenInferencer"},
            },
            "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
        }
    ],
}


def test_a_sample_that_the_engine_loses_ends_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = engine._complete

    async def complete(opened: Any, model: AsyncModel, request: Request, job: TaskJob) -> Completion:
        if any(sum_ in str(request.prompt) for sum_ in ("2+2", "5+5")):
            raise asyncio.CancelledError  # as if the engine itself had a bug
        return await answer(opened, model, request, job)

    with monkeypatch.context() as broken:
        broken.setattr(engine, "_complete", complete)
        run = ais_prompt.run(CONFIG, quiet=True, report=False)
    [error] = map(str, run.errors.values())
    assert "6 samples were to be asked, and 4 were answered or failed" in error
    assert "rows 2, 5" in error
    assert ais_prompt.run(CONFIG, reuse=run.path.name, quiet=True, report=False).errors == {}


def test_a_model_that_ends_as_cancelled_fails_its_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = ScriptedModel.complete

    async def complete(self: ScriptedModel, request: Request) -> Completion:
        if "2+2" in str(request.prompt):
            raise asyncio.CancelledError  # as a library whose time limit has passed
        return await answer(self, request)

    monkeypatch.setattr(ScriptedModel, "complete", complete)
    run = ais_prompt.run(CONFIG, quiet=True, report=False)
    statuses = run.samples(to="arrow").column("status").to_pylist()
    assert statuses == ["scored", "scored", "failed", "scored", "scored", "scored"]


class StandingJob:
    """What `Standstill` looks at in a job."""

    def __init__(self, name: str, rows: list[int], last_change: float) -> None:
        self.task = SimpleNamespace(name=name)
        self.last_change = last_change
        self._rows = rows

    def waits_for(self) -> list[int]:
        return self._rows


def test_a_run_that_stands_still_names_its_samples_once(caplog: pytest.LogCaptureFixture) -> None:
    standstill = Standstill(300)
    hangs = StandingJob("app/sums", [3, 7, 9, 11, 12, 15], 100.0)
    for job in (hangs, StandingJob("app/quick", [1], 350.0), StandingJob("app/waits", [], 0.0)):
        standstill.watch(cast("TaskJob", job))
    with caplog.at_level(logging.WARNING):
        for now in (399.0, 400.0, 430.0):
            standstill.look(now)
        assert [record.message for record in caplog.records] == [
            "[app/sums] no answer for 5 minutes; waiting for the rows 3, 7, 9, 11, 12, … and 1 more. "
            "Ctrl-C and -r keep the answers so far"
        ]
        hangs.last_change = 440.0  # an answer came, and then none for a while
        standstill.look(740.0)
    assert [record.message.split("]")[0] for record in caplog.records] == ["[app/sums", "[app/sums", "[app/quick"]


def test_a_call_that_hangs_is_seen_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ais_prompt.engine.job.STANDSTILL_SECONDS", 0.05)
    told = threading.Event()
    monkeypatch.setattr("ais_prompt.engine.job.logger.warning", lambda *_: told.set())

    def answer(text: str) -> str:
        assert text != "3+3" or told.wait(60)
        return text

    config = {**CONFIG, "models": [{"type": "FunctionModel", "abbr": "app", "function": answer}]}
    assert ais_prompt.run(config, quiet=True, report=False).errors == {}
    assert told.is_set()
