"""Whatever happens to the end of a journal, finished answers are kept and new ones can follow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.store import Journal
from ais_prompt.types import Completion, Decoding, Failure, Request

REQUEST = Request("id", "prompt", Decoding(max_out_len=8))
# Lone surrogates, line separators of Unicode and control characters are texts that models do produce.
TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)
FAILURES = st.none() | st.builds(Failure, kind=st.just("timeout"), message=TEXTS)
COMPLETIONS = st.builds(Completion, text=TEXTS, failure=FAILURES)
BYTES = st.binary(max_size=40) | st.sampled_from(
    [b"{}\n", b"[1]\n", b"\n", b'{"key": "x", "completion": [1]}\n', b"\xff\n"]
)

few = settings(max_examples=40)


@contextmanager
def journal_of(completions: list[Completion]) -> Iterator[tuple[Path, list[int]]]:
    """A closed journal, its keys the numbers of the completions, and where in the file each line ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        ends = []
        with Journal.open(path) as journal:
            for number, completion in enumerate(completions):
                journal.append(str(number), REQUEST, completion)
                ends.append(path.stat().st_size)
        yield path, ends


def answers(path: Path, count: int) -> list[Completion | None]:
    with Journal.open(path) as journal:
        return [journal.get(str(number)) for number in range(count)]


def kept(completion: Completion) -> Completion | None:
    return completion if completion.failure is None else None


@few
@given(st.lists(COMPLETIONS, max_size=5))
def test_answers_come_back_and_failures_do_not_count(completions: list[Completion]) -> None:
    with journal_of(completions) as (path, _):
        assert answers(path, len(completions)) == [kept(completion) for completion in completions]


@few
@given(st.lists(COMPLETIONS, min_size=1, max_size=4), COMPLETIONS, st.data())
def test_torn_at_any_byte(completions: list[Completion], later: Completion, data: st.DataObject) -> None:
    with journal_of(completions) as (path, ends):
        size = data.draw(st.integers(0, ends[-1]) | st.sampled_from([end - 1 for end in ends]))
        with path.open("r+b") as stream:
            stream.truncate(size)
        # A line that lacks nothing but its newline is whole.
        expected = [
            kept(completion) if end - 1 <= size else None for completion, end in zip(completions, ends, strict=True)
        ]
        with Journal.open(path) as journal:
            assert journal.skipped == 0
            assert [journal.get(str(number)) for number in range(len(completions))] == expected
            journal.append("later", REQUEST, later, findable=True)
            assert journal.get("later") == kept(later)
        with Journal.open(path) as journal:
            assert (journal.skipped, journal.get("later")) == (0, kept(later))
        assert answers(path, len(completions)) == expected


@few
@given(st.lists(COMPLETIONS, max_size=3), BYTES, COMPLETIONS)
def test_foreign_bytes_cost_nothing_else(completions: list[Completion], foreign: bytes, later: Completion) -> None:
    with journal_of(completions) as (path, _):
        with path.open("ab") as stream:
            stream.write(foreign)
        for _ in range(2):
            assert answers(path, len(completions)) == [kept(completion) for completion in completions]
            with Journal.open(path) as journal:
                journal.append("later", REQUEST, later, findable=True)
        with Journal.open(path) as journal:
            assert journal.get("later") == kept(later)
