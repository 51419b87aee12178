"""However the samples are divided, repeated, broken off and divided anew, the predictions are those of one process."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.engine import AskingOptions, TaskJob, silent_progress
from ais_prompt.errors import ModelError
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import Task
from ais_prompt.shards import EVERYTHING, HeldTasks, collect, list_shard_folders, open_shard, shard_tasks
from ais_prompt.store import RunFolder
from ais_prompt.types import Partition, Shard
from tests.support.asking import ask_alone
from tests.support.parts import task_spec, write_rows

ANSWERS = {r"^0": "zero", r"^[1-4]": "some"}


@st.composite
def shards(draw: st.DrawFn) -> Shard:
    count = draw(st.integers(1, 5))
    return Shard(draw(st.integers(0, count - 1)), count)


SESSIONS = st.lists(st.tuples(shards(), st.none() | st.floats(0, 1)), max_size=6)
"""Sessions of shards, each perhaps killed when its journal had a part of its bytes."""


@pytest.mark.thorough
@given(kinds=st.lists(st.integers(0, 3), min_size=1, max_size=12), sessions=SESSIONS, count=st.integers(1, 4))
def test_predictions_are_those_of_one_process(
    kinds: list[int], sessions: list[tuple[Shard, float | None]], count: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        rows = [{"question": str(kind), "answer": "a", "row": number} for number, kind in enumerate(kinds)]
        spec = task_spec(write_rows(root / "x.jsonl", rows))
        whole, run = RunFolder(root / "whole"), RunFolder(root / "run")
        ask_alone(TaskJob(task_of(spec), whole, silent_progress))
        for shard, kept in [*sessions, *((Shard(index, count), None) for index in range(count))]:
            ask_shard(task_of(spec), run, shard, kept)
        folders = [one.folder for one in list_shard_folders(run)]
        facts = collect(task_of(spec), run, whole=run, part=None, shards=folders)
        assert (facts.samples, facts.of) == (len(kinds), None)
        assert run.predictions("fake", "sums").read_bytes() == whole.predictions("fake", "sums").read_bytes()
        asked = Counter(key for one in list_shard_folders(run) for key in keys(one.folder))
        assert asked.total() == len(kinds)
        assert set(asked.values()) == {1}


@st.composite
def divisions(draw: st.DrawFn) -> list[tuple[HeldTasks, float | None]]:
    """What the shards of one session hold of one dataset that a partitioner has divided; each may be killed."""
    partition = Partition({"fake/sums": tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)))})
    held = [HeldTasks("key", portions) for shard in range(4) if (portions := partition.portions(shard))]
    return [(one, draw(st.none() | st.floats(0, 1))) for one in draw(st.permutations(held))]


@pytest.mark.slow
@pytest.mark.thorough
@given(
    kinds=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    sessions=st.lists(divisions() | SESSIONS, max_size=3),
    last=divisions(),
)
def test_any_division_of_a_dataset_between_sessions_loses_nothing(
    kinds: list[int], sessions: list[list[tuple[HeldTasks | Shard, float | None]]], last: list[tuple[HeldTasks, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        rows = [{"question": str(kind), "answer": "a", "row": number} for number, kind in enumerate(kinds)]
        spec = task_spec(write_rows(root / "x.jsonl", rows))
        whole, run = RunFolder(root / "whole"), RunFolder(root / "run")
        ask_alone(TaskJob(task_of(spec), whole, silent_progress))
        for held, kept in [one for session in sessions for one in session] + [(held, None) for held, _ in last]:
            own = (held, EVERYTHING) if isinstance(held, Shard) else (Shard(0, 4), held)
            ask_shard(task_of(spec), run, own[0], kept, own[1])
        folders = [one.folder for one in list_shard_folders(run)]
        collect(task_of(spec), run, whole=run, part=None, shards=folders)
        assert run.predictions("fake", "sums").read_bytes() == whole.predictions("fake", "sums").read_bytes()
        asked = Counter(key for one in list_shard_folders(run) for key in keys(one.folder))
        assert asked.total() == len(kinds)
        assert set(asked.values()) == {1}


class Unsteady(ScriptedModel):
    """A model that may fail in one session and answer in the next."""

    def identity(self) -> dict[str, Any]:
        return {"type": "Unsteady"}


FAILING = st.lists(st.tuples(shards(), st.none() | st.floats(0, 1), st.sets(st.integers(0, 3))), min_size=1, max_size=6)
"""Sessions as above, and the kinds of questions that fail in them."""


@pytest.mark.thorough
@given(kinds=st.lists(st.integers(0, 3), min_size=1, max_size=8), sessions=FAILING)
def test_predictions_of_shards_are_joined_to_what_their_journals_say(
    kinds: list[int], sessions: list[tuple[Shard, float | None, set[int]]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        rows = [{"question": str(kind), "answer": "a", "row": number} for number, kind in enumerate(kinds)]
        spec = task_spec(write_rows(root / "x.jsonl", rows))
        run, joined, read = (RunFolder(root / folder) for folder in ("run", "joined", "read"))
        for number, (shard, kept, failing) in enumerate(sessions):
            failure = {"failure": "http_500", "message": f"session {number}"}
            answers = {f"^{kind}": failure for kind in failing}
            with suppress(ModelError):  # it never answered
                ask_shard(Task.of(spec, Unsteady(answers, default="some")), run, shard, kept)
        facts = [
            collect(Task.of(spec, Unsteady()), run, whole=target, part=target, shards=shards)
            for target, shards in ((joined, [one.folder for one in list_shard_folders(run)]), (read, ()))
        ]
        assert facts[0] == facts[1]
        assert joined.predictions("fake", "sums").read_bytes() == read.predictions("fake", "sums").read_bytes()


@given(st.text(), st.integers(1, 50))
def test_every_sample_is_in_exactly_one_shard(sample_id: str, count: int) -> None:
    assert sum(Shard(index, count).portion.holds(sample_id) for index in range(count)) == 1


@given(st.text(), shards(), shards())
def test_shards_with_a_sample_in_common_overlap(sample_id: str, one: Shard, other: Shard) -> None:
    here, there = (Shard(shard.of(sample_id), shard.count) for shard in (one, other))
    assert here.portion.overlaps(there.portion)
    numbers = range(one.count * other.count)
    both = any(n % one.count == one.index and n % other.count == other.index for n in numbers)
    assert one.portion.overlaps(other.portion) == both


def task_of(spec: object) -> Task:
    return Task.of(spec, ScriptedModel(ANSWERS, default="other"))  # type: ignore[arg-type]


def ask_shard(task: Task, run: RunFolder, shard: Shard, kept: float | None, held: HeldTasks = EVERYTHING) -> None:
    """Ask a shard, and lose a part of its journal if it is killed."""
    asking = AskingOptions(shard=shard_tasks([task.name], run, shard, held))
    with open_shard(run, shard, {}, held) as folder:
        ask_alone(TaskJob(task, folder, silent_progress, asking=asking))
        journal = folder.journal("fake", "sums")
        if kept is not None:
            journal.write_bytes(journal.read_bytes()[: int(kept * journal.stat().st_size)])
            folder.predictions("fake", "sums").unlink()


def keys(folder: RunFolder) -> list[str]:
    """The keys of the lines of a journal that are whole, with or without their newline."""
    found = []
    for line in folder.journal("fake", "sums").read_text().splitlines():
        with suppress(ValueError):
            found.append(json.loads(line)["key"])
    return found
