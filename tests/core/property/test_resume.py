"""Wherever a run was broken off, going on gives the same predictions and asks exactly what is missing."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.engine import Progress, TaskJob
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import Task
from ais_prompt.store import RunFolder
from ais_prompt.types import Completion, Request
from tests.support.asking import ask_alone
from tests.support.parts import task_spec, write_rows

ANSWERS = {r"^0": "zero", r"^[1-4]": "some", r"^7": {"failure": "http_500", "message": "out of order"}}


class Silent:
    """Counts what was asked anew."""

    def __init__(self) -> None:
        self.asked = 0

    def advance(self, failed: bool = False) -> None:
        self.asked += 1

    def answered(self, completion: Completion) -> None:
        """Samples are counted, not requests."""

    def resumed(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        """Ignore the text."""


@pytest.mark.thorough
@settings(max_examples=40)
@given(rows=st.integers(1, 9), cut=st.floats(0, 1), concurrency=st.integers(1, 4))
def test_a_cut_journal_is_completed(rows: int, cut: float, concurrency: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        task = task_spec(write_rows(root / "x.jsonl", [{"question": str(n), "answer": "a"} for n in range(rows)]))

        def run() -> int:
            model = ScriptedModel(ANSWERS, default="other", max_concurrency=concurrency)
            silent = Silent()

            @contextmanager
            def progress(name: str, total: int, done: int) -> Iterator[Progress]:
                yield silent

            ask_alone(TaskJob(Task.of(task, model), RunFolder(root), progress))
            return silent.asked

        journal = RunFolder(root).journal("fake", "sums")
        assert run() == rows
        whole = journal.read_bytes()
        predictions = RunFolder(root).predictions("fake", "sums").read_bytes()

        journal.write_bytes(whole[: int(cut * len(whole))])
        kept = sum(b'"failure"' not in line for line in journal.read_bytes().splitlines()[: _complete(journal)])
        assert run() == rows - kept
        assert _without_times(RunFolder(root).predictions("fake", "sums").read_bytes()) == _without_times(predictions)


class Numbering(ScriptedModel):
    """Gives every request an answer of its own, so that an answer at the wrong place is seen."""

    asked = 0

    def identity(self) -> dict[str, str]:
        return {"model": "numbering"}

    async def complete(self, request: Request) -> Completion:
        Numbering.asked += 1
        return Completion(f"answer {Numbering.asked}", "stop")


@pytest.mark.thorough
@settings(max_examples=40)
@given(
    questions=st.lists(st.sampled_from(["0", "1", "2"]), min_size=1, max_size=8),
    concurrency=st.integers(1, 4),
    cut=st.integers(0, 8),
    data=st.data(),
)
def test_equal_questions_keep_answers_of_their_own_whatever_else_changes_in_the_rows(
    questions: list[str], concurrency: int, cut: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)

        def run() -> tuple[list[str], int]:
            """All answers, and how many of them were asked anew."""
            golds = data.draw(st.lists(st.sampled_from("ab"), min_size=len(questions), max_size=len(questions)))
            column = data.draw(st.sampled_from(["note", "source"]))
            rows = [{"question": q, "answer": a, column: a} for q, a in zip(questions, golds, strict=True)]
            task = task_spec(write_rows(root / "x.jsonl", rows))
            before = Numbering.asked
            ask_alone(TaskJob(Task.of(task, Numbering(max_concurrency=concurrency)), RunFolder(root), _silent))
            return _answers(root), Numbering.asked - before

        first, asked = run()
        assert asked == len(questions) == len(set(first))
        assert run() == (first, 0)

        journal = RunFolder(root).journal("fake", "sums")
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:cut]))
        answers, asked = run()
        assert asked == max(0, len(questions) - cut)
        assert len(set(answers)) == len(questions)
        assert sum(one == other for one, other in zip(first, answers, strict=True)) == len(questions) - asked


@contextmanager
def _silent(name: str, total: int, done: int) -> Iterator[Progress]:
    yield Silent()


def _answers(root: Path) -> list[str]:
    lines = RunFolder(root).predictions("fake", "sums").read_bytes().splitlines()
    return [json.loads(line)["prediction"] for line in lines]


def _complete(journal: Path) -> int:
    """Lines of a journal that are whole, with or without their newline."""
    content = journal.read_bytes()
    last = content.rpartition(b"\n")[2]
    return content.count(b"\n") + last.endswith(b"}}")


def _without_times(lines: bytes) -> list[bytes]:
    return [line.split(b'"completions"')[0] for line in lines.splitlines()]
