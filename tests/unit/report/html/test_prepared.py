"""A report is the same, whether parts of it were made beside the asking or not."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.report.html import prepared, task_parts, write_report
from ais_prompt.report.html.prepared import PreparedParts
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import write_predictions
from ais_prompt.types import Completion, Failure, Prediction, SampleScore, TaskSpec, Usage
from tests.parts import task_spec
from tests.unit.report.html.making import make_run, prediction, scored
from tests.unit.report.html.reading import read_report

FAILED = Completion(failure=Failure("timeout", "no answer in 60 s"))
PREDICTIONS = [
    replace(prediction(number, f"</script>{number}+1=?", Completion(f"It is {number}.", "stop", Usage(7, number))))
    for number in range(40)
] + [prediction(40, "x", FAILED, answer=None)]
SAMPLES = [
    *(replace(scored(number, float(number % 2)), cluster=f"group {number % 7}") for number in range(40)),
    SampleScore("id40", "failed", reason="timeout"),
]


def task_of_run() -> TaskSpec:
    task = task_spec(Path("rows.jsonl"))
    model, dataset = replace(task.model, abbr="model"), replace(task.dataset, abbr="sums")
    return replace(task, model=model, dataset=dataset)


def made(folder: RunFolder, times: int = 1) -> PreparedParts:
    """Return the parts of the task, as a process that scores it makes and sends them."""
    parts = PreparedParts(folder)
    for _ in range(times):
        maker = parts.maker(task_of_run())
        assert maker is not None
        parts.receive(pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(maker))())))
    return parts


def reports(folder: RunFolder, parts: PreparedParts) -> tuple[bytes, bytes]:
    """Return the report without and with what was made before."""
    write_report(folder)
    before = folder.report.read_bytes()
    with parts:
        write_report(folder, parts)
    return before, folder.report.read_bytes()


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_parts, "samples_of", lambda *_: pytest.fail("the samples were read again"))


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_prepared_report_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_disk: bool) -> None:
    monkeypatch.setattr(prepared, "IN_MEMORY", 100 if on_disk else 1 << 20)
    monkeypatch.setattr(task_parts, "CHUNK_SAMPLES", 10)
    folder = make_run(tmp_path, PREDICTIONS, SAMPLES)
    judged = Prediction("id3-0", 0, "Is it 4?", "A", None, (Completion("A"),))
    write_predictions(folder.judge("model").predictions("judge", "sums"), [judged])
    write_report(folder)
    parts, before = made(folder), folder.report.read_bytes()
    forbid_reading(monkeypatch)
    with parts:
        write_report(folder, parts)
    assert folder.report.read_bytes() == before
    assert len(read_report(folder.report).sample(3)["judgements"]) == 1


def test_answers_without_scores_are_the_same(tmp_path: Path) -> None:
    """The task could have been scored, and its part says so."""
    folder = make_run(tmp_path, PREDICTIONS)
    before, after = reports(folder, made(folder))
    assert after == before


def test_a_task_that_was_scored_again_has_its_last_part(tmp_path: Path) -> None:
    folder = make_run(tmp_path, PREDICTIONS, SAMPLES)
    before, after = reports(folder, made(folder, times=2))
    assert after == before


def test_broken_files_are_the_trouble_of_the_report(tmp_path: Path) -> None:
    folder = make_run(tmp_path, PREDICTIONS, SAMPLES)
    with folder.predictions("model", "sums").open("a") as stream:
        stream.write("{broken\n")
    before, after = reports(folder, made(folder))
    assert after == before
    assert "not JSON" in read_report(folder.report).data["tasks"][0]["trouble"]


@pytest.mark.parametrize("most", [10, 41])
def test_of_too_many_samples_some_are_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("ais_prompt.report.html.writer.MOST_SAMPLES", most)
    monkeypatch.setattr(prepared, "MOST_SAMPLES", most)
    folder = make_run(tmp_path, PREDICTIONS, SAMPLES)
    parts = made(folder)
    assert (parts.maker(task_of_run()) is None) is (most < len(PREDICTIONS))
    before, after = reports(folder, parts)
    assert after == before


def test_a_full_disk_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(tmp_path, PREDICTIONS, SAMPLES)
    monkeypatch.setattr(prepared, "IN_MEMORY", 0)
    parts = made(folder)
    full = Path("/dev/full").open("r+b", buffering=100)  # noqa: SIM115
    monkeypatch.setattr(parts._stream, "_file", full)
    maker = parts.maker(task_of_run())
    assert maker is not None
    parts.receive(maker())
    assert parts.maker(task_of_run()) is None
    before, after = reports(folder, parts)
    assert after == before
