"""Samples that cannot be asked: what a row has wrong is of its sample, what a part has wrong ends the task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.engine import conversations_of
from ais_prompt.engine.conversations import take_known
from ais_prompt.errors import AisPromptError, DataError, ModelError
from ais_prompt.plan import Task
from ais_prompt.types import Completion, Prediction
from tests.support.parts import task_spec, write_rows

ROWS: list[dict[str, Any]] = [
    {"question": "1+1=?", "answer": "2"},
    {"question": None, "answer": "3"},
    {"question": "2+2=?", "answer": "4"},
]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task.of(task_spec(write_rows(tmp_path / "rows.jsonl", ROWS)))


def raising(error: AisPromptError) -> Callable[..., None]:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


def test_a_sample_that_cannot_be_asked_is_not_known_after_a_resume(task: Task) -> None:
    kept: list[Prediction] = []
    resumed = take_known(task, lambda _: Completion("2", "stop"), None, None, kept.append)
    assert [one.index for one in kept] == [0, 2]
    assert (resumed.known, resumed.used, [*resumed.is_known]) == (2, 2, [1, 0, 1])


def test_what_ends_a_task_names_its_sample(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(task.inferencer), "converse", raising(ModelError("the tokenizer is gone", fix="get it")))
    with pytest.raises(ModelError, match="the tokenizer is gone") as caught:
        list(conversations_of(task, lambda _: None, task.data.test))
    assert caught.value.where == f"sample {task.data.test[0].id}, row 0"


def test_what_a_row_has_wrong_ends_only_its_sample(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(task.inferencer), "converse", raising(DataError("an odd value", fix="write a text")))
    ended = [one.prediction for one in conversations_of(task, lambda _: None, task.data.test)]
    assert [one is not None and one.failed for one in ended] == [True] * 3
