from __future__ import annotations

import errno
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.errors import StoreError
from ais_prompt.store import Journal, JournalView, RequestKeys
from ais_prompt.types import Completion, Decoding, Failure, Likelihood, Request, Usage

REQUEST = Request("a1b2", "1+1=", Decoding(max_out_len=8), turn=1, repeat=2)
COMPLETION = Completion("2\n\u2028«é»\ud800", "stop", Usage(4, 1), seconds=0.25, attempts=2)

APPENDS_FOR_EVER = """
import itertools, sys
from pathlib import Path
from ais_prompt.store.journal import Journal
from ais_prompt.types import Completion, Decoding, Request

with Journal.open(Path(sys.argv[1])) as journal:
    for number in itertools.count():
        journal.append(str(number), Request("id", "prompt", Decoding(8)), Completion("x" * 5000))
        print(number, flush=True)
"""


def test_a_line_is_what_a_person_can_read(tmp_path: Path) -> None:
    path = tmp_path / "model" / "dataset.jsonl"
    with Journal.open(path) as journal:
        journal.append("key", REQUEST, replace(COMPLETION, text="二"))
    assert path.read_text(encoding="utf-8").count("\n") == 1
    assert "二" in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "key": "key",
        "sample_id": "a1b2",
        "turn": 1,
        "repeat": 2,
        "completion": {
            "text": "二",
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 4, "completion_tokens": 1},
            "seconds": 0.25,
            "attempts": 2,
        },
    }


def test_an_answer_comes_back_after_opening_again_and_if_wanted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.open(path) as journal:
        journal.append("now", REQUEST, COMPLETION, findable=True)
        journal.append("later", REQUEST, COMPLETION)
        assert (journal.get("now"), journal.get("later"), len(journal)) == (COMPLETION, None, 1)
    with Journal.open(path) as journal:
        assert (journal.get("now"), journal.get("later"), len(journal)) == (COMPLETION, COMPLETION, 2)


def test_answers_are_found_while_others_are_written(tmp_path: Path) -> None:
    answers = {str(number): replace(COMPLETION, text="x" * 37 * number) for number in range(300)}
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        for number, (key, answer) in enumerate(answers.items()):
            journal.append(key, REQUEST, answer, findable=True)
            for earlier in (key, str(number // 2)):
                assert journal.get(earlier) == answers[earlier]


def test_a_likelihood_comes_back_to_the_last_digit(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    scored = replace(COMPLETION, likelihood=Likelihood(0.1 + 0.2, 3, 4, 17, (-1 / 3, float("-inf")), merged=True))
    with Journal.open(path) as journal:
        journal.append("key", REQUEST, scored)
    with Journal.open(path) as journal:
        assert journal.get("key") == scored


def test_a_failure_is_on_record_but_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    failed = Completion(failure=Failure("timeout", "no answer in 60 s"))
    for _ in range(2):
        with Journal.open(path) as journal:
            journal.append("key", REQUEST, failed, findable=True)
            assert (journal.get("key"), len(journal)) == (None, 0)
    assert path.read_text().count("no answer in 60 s") == 2


def test_the_last_answer_to_a_request_counts(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        journal.append("key", REQUEST, COMPLETION)
        journal.append("key", REQUEST, replace(COMPLETION, text="3"))
    with Journal.open(tmp_path / "journal.jsonl") as journal:
        answer = journal.get("key")
    assert answer is not None
    assert answer.text == "3"


def test_unreadable_lines_are_counted_and_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.open(path) as journal:
        journal.append("key", REQUEST, COMPLETION)
    broken = b'{"key": "k"}\n{"key": 1, "completion": {}}\n\xff\n'
    path.write_bytes(broken + path.read_bytes())
    with caplog.at_level(logging.WARNING), Journal.open(path) as journal:
        assert (journal.skipped, journal.get("key")) == (3, COMPLETION)
    assert "3 unreadable line(s)" in caplog.text
    assert path.read_bytes().startswith(broken)


@pytest.mark.parametrize(("keys", "has_former_keys"), [([], False), (["now"], False), (["former", "now"], True)])
def test_a_journal_says_whether_an_earlier_version_wrote_some_of_it(
    tmp_path: Path, keys: list[str], has_former_keys: bool
) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.open(path) as journal:
        for key in keys:
            journal.append(RequestKeys({})(REQUEST) if key == "now" else key, REQUEST, COMPLETION)
    with Journal.open(path) as journal:
        assert (journal.has_former_keys, JournalView(path).has_former_keys) == (has_former_keys, has_former_keys)


def test_closing_twice_is_no_fault(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal.jsonl")
    journal.close()
    journal.close()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write: Is a directory") as caught:
        Journal.open(tmp_path)
    assert caught.value.where == str(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        Journal.open(tmp_path / "file" / "journal.jsonl")


@pytest.mark.process
def test_whoever_is_killed_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    finished = -1
    for _ in range(3):
        command = [sys.executable, "-c", APPENDS_FOR_EVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            finished = max(finished, *(int(process.stdout.readline()) for _ in range(40)))
            process.kill()
            finished = max(finished, *(int(line) for line in process.stdout if line.endswith("\n")), 0)
        assert process.returncode == -signal.SIGKILL
        with Journal.open(path) as journal:
            assert journal.skipped == 0
            assert all(journal.get(str(number)) == Completion("x" * 5000) for number in range(finished + 1))
            # At most the one that was being told of when it was killed.
            assert len(journal) <= finished + 2


def test_a_quota_that_is_reported_when_the_file_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.open(tmp_path / "journal.jsonl")
    journal.append("key", REQUEST, COMPLETION)
    close = os.close

    def over_quota(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "close", over_quota)
    with pytest.raises(StoreError, match="no space left") as caught:
        journal.close()
    monkeypatch.undo()
    assert caught.value.where == str(tmp_path / "journal.jsonl")
    journal.close()  # as the end of a run does
    assert len(Journal.open(tmp_path / "journal.jsonl")) == 1


def test_a_disk_that_fails_when_the_file_is_flushed_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.open(tmp_path / "journal.jsonl")
    journal.append("key", REQUEST, COMPLETION)
    flushed: list[int] = []

    def broken(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_size)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StoreError, match="Input/output error"):
        journal.close()
    assert flushed == [(tmp_path / "journal.jsonl").stat().st_size]
    journal.close()
    assert len(flushed) == 1
