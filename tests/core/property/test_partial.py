"""Wherever a journal ends, the predictions made of it are those of the whole run, and nothing is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.engine import TaskJob, silent_progress, stored_predictions
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import Task
from ais_prompt.store import Journal, JournalView, RunFolder, read_predictions
from ais_prompt.types import Completion, Decoding, Failure, Request
from tests.support.asking import ask_alone
from tests.support.parts import task_spec, write_rows

ANSWERS = {r"^0": "zero", r"^[1-4]": "some", r"^7": {"failure": "http_500", "message": "out of order"}}
OUTCOMES = st.tuples(st.sampled_from("abc"), st.sampled_from(["answer", "failure"]))


@settings(max_examples=40)
@given(rows=st.integers(1, 9), cut=st.floats(0, 1), concurrency=st.integers(1, 4))
def test_the_predictions_are_those_of_the_whole_run(rows: int, cut: float, concurrency: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = RunFolder(Path(name))
        spec = task_spec(
            write_rows(folder.root / "x.jsonl", [{"question": str(n), "answer": "a"} for n in range(rows)])
        )
        task = Task.of(spec, ScriptedModel(ANSWERS, default="other", max_concurrency=concurrency))
        ask_alone(TaskJob(task, folder, silent_progress))
        whole = {one.sample_id: one for one in read_predictions(folder.predictions("fake", "sums"))}

        journal = folder.journal("fake", "sums")
        journal.write_bytes(journal.read_bytes()[: int(cut * journal.stat().st_size)])
        kept = journal.read_bytes()
        found = list(stored_predictions(task, [journal], ()))
        assert found == [whole[one.sample_id] for one in found]
        assert [one.index for one in found] == sorted(one.index for one in found)
        assert kept.count(b"\n") <= len(found) <= kept.count(b"\n") + 1
        assert journal.read_bytes() == kept


@settings(max_examples=60)
@given(st.lists(OUTCOMES, max_size=8), st.binary(max_size=20))
def test_a_view_knows_what_came_of_each_request(outcomes: list[tuple[str, str]], torn: bytes) -> None:
    """The last answer, or the last failure of a request without an answer; a torn line does not count."""
    expected: dict[str, Completion] = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "journal.jsonl"
        with Journal.open(path) as journal:
            for number, (key, kind) in enumerate(outcomes):
                failure = Failure("timeout", str(number)) if kind == "failure" else None
                completion = Completion(str(number) if failure is None else "", failure=failure)
                journal.append(key, Request("id", "prompt", Decoding(max_out_len=8)), completion)
                if failure is None or key not in expected or expected[key].failure is not None:
                    expected[key] = completion
        with path.open("ab") as file:
            file.write(b'{"key": "a", ' + torn)
        view = JournalView(path)
        assert {key: view.get([key]) for key in "abc"} == {key: expected.get(key) for key in "abc"}
        assert len(view) == len(expected)


@settings(max_examples=60)
@given(st.lists(st.lists(OUTCOMES, max_size=6), max_size=4))
def test_the_first_of_several_journals_counts(files: list[list[tuple[str, str]]]) -> None:
    """Its last answer; without any answer, the last failure in all of them."""
    answers: dict[str, Completion] = {}
    failures: dict[str, Completion] = {}
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{number}.jsonl" for number in range(len(files))]
        for path, outcomes in zip(paths, files, strict=True):
            own: dict[str, Completion] = {}
            with Journal.open(path) as journal:
                for number, (key, kind) in enumerate(outcomes):
                    text = f"{path.stem}-{number}"
                    failure = Failure("timeout", text) if kind == "failure" else None
                    completion = Completion("" if failure else text, failure=failure)
                    journal.append(key, Request("id", "prompt", Decoding(max_out_len=8)), completion)
                    (failures if failure else own)[key] = completion
            answers = own | answers
        view = JournalView(*paths)
        assert {key: view.get([key]) for key in "abc"} == {key: answers.get(key, failures.get(key)) for key in "abc"}
        assert {key: view.answer(key) for key in "abc"} == {key: answers.get(key) for key in "abc"}


@pytest.mark.parametrize(
    "completion",
    [
        {},
        {"finish_reason": "stop"},
        {"text": "an answer"},
        {"text": 1, "finish_reason": "stop"},
        {"text": "an answer", "finish_reason": "tired"},
        {"text": "an answer", "finish_reason": "stop", "seconds": "1"},
        ["an answer"],
        None,
    ],
)
def test_lines_without_a_whole_completion_are_not_used(tmp_path: Path, completion: object) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"key": "a", "completion": completion}) + "\n")
    assert len(JournalView(path)) == 0
    with Journal.open(path) as journal:
        assert (len(journal), journal.skipped) == (0, 1)


def test_an_answer_that_an_earlier_version_withheld_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"key": "a", "completion": {"text": "", "finish_reason": "content_filter"}}) + "\n")
    found = JournalView(path).get(["a"])
    assert found is not None
    assert found.failure is not None
    assert found.failure.kind == "content_filter"
    assert JournalView(path).answer("a") is None
