"""A disk that is full, or takes only part of a file: in processes of their own, whose files may not grow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ais_prompt.errors import StoreError
from ais_prompt.store import Journal, reading, replacing, writing
from ais_prompt.types import Completion

APPENDS_UNTIL_FULL = """
import resource, sys
from pathlib import Path
from ais_prompt.errors import StoreError
from ais_prompt.store.journal import Journal
from ais_prompt.types import Completion, Decoding, Request

REQUEST = Request("id", "prompt", Decoding(8))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
with Journal.open(Path(sys.argv[1])) as journal:
    finished = 0
    try:
        while True:
            journal.append(str(finished), REQUEST, Completion("x" * 700))
            finished += 1
    except StoreError as error:
        print(finished, *error.lines(), sep="\\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    journal.append("later", REQUEST, Completion("there is room again"))
"""

WRITES_TOO_MUCH = """
import resource, sys
from pathlib import Path
from ais_prompt.errors import StoreError
from ais_prompt.store.results import write_json_atomic

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
try:
    write_json_atomic(Path(sys.argv[1]), {"text": "x" * 20_000})
except StoreError as error:
    print(*error.lines(), sep="\\n")
"""


def output_of(program: str, path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.process
def test_a_journal_on_a_full_disk_keeps_what_was_finished(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    finished, what, where, fix = output_of(APPENDS_UNTIL_FULL, path)
    assert int(finished) > 5
    assert what.startswith("StoreError: cannot write: File too large")
    assert str(path) in where
    assert "everything so far is kept" in fix
    with Journal.open(path) as journal:
        assert (len(journal), journal.skipped) == (int(finished) + 1, 0)
        assert journal.get(str(int(finished) - 1)) == Completion("x" * 700)
        assert journal.get("later") == Completion("there is room again")


@pytest.mark.process
def test_a_file_that_does_not_fit_leaves_the_old_one_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    assert output_of(WRITES_TOO_MUCH, path)[0].startswith("StoreError: cannot write")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_called_so(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="no space left") as caught,
        writing(tmp_path),
        Path("/dev/full").open("w") as full,
    ):
        full.write("x")
    assert "-r" in caught.value.fix


def test_a_fault_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with replacing(path) as stream:
        stream.write(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as stream:
        stream.writelines(b"new" * (1 // left) for left in (1, 0))
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(StoreError, match="cannot write: Is a directory"), replacing(tmp_path / "file"):
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot read: No such file") as caught, reading(tmp_path / "x", fix="look"):
        (tmp_path / "x").read_bytes()
    assert (caught.value.where, caught.value.fix) == (str(tmp_path / "x"), "look")
