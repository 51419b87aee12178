"""Read and write the JSON files of a run folder, always whole: results, ``run.json``, ``summary.json``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.shapes import Results, check_scores, check_shape, from_shape
from ais_prompt.types import SampleScore, Score, TaskSpec
from ais_prompt.types.score import Sensitivity
from ais_prompt.utils.files import open_regular, read_regular
from ais_prompt.utils.jsonl import decode_own, encode

_DETAILS: Final = b'  "details": ['
"""The line between the scores and the details of a results file."""


def write_json_atomic(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object as indented JSON, whole or not at all.

    Raises:
        StoreError: it cannot be written; what the file held before stays as it was.
    """
    with replacing(path, json=True) as stream:
        stream.write(encode(value, indent=2))


def write_results(path: Path, head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> None:
    """Write the results of a task as JSON, whole or not at all: ``head``, and ``details`` with one sample a line.

    Raises:
        StoreError: they cannot be written; what the file held before stays as it was.
    """
    with replacing(path, json=True, restorable=True) as stream:
        stream.write(encode(head, indent=2).removesuffix(b"\n}\n"))
        stream.write(b",\n" + _DETAILS)
        for number, detail in enumerate(details):
            stream.write((b",\n    " if number else b"\n    ") + encode(detail).rstrip(b"\n"))
        stream.write(b"\n  ]\n}\n")


def read_scores(path: Path) -> list[Score]:
    """Return the scores in a file of `write_results`, the main one first; there is at least one.

    Raises:
        ConfigError: there is no such file: nothing was scored yet.
        StoreError: it cannot be read or it is not such a file.
    """
    values = _head(path)
    try:
        return check_scores(values)
    except ValueError as error:
        raise _no_results(path, str(error)) from None


def read_head(path: Path) -> tuple[list[Score], Sensitivity | None]:
    """Return what `read_scores` does, and the scores under other postprocessors; None if there are none.

    Raises:
        ConfigError, StoreError: as `read_scores`.
    """
    values = _head(path)
    try:
        scores, other = check_scores(values), values.get("extraction")
        return scores, Sensitivity.from_json(check_shape(other, Sensitivity)) if other else None
    except ValueError as error:
        raise _no_results(path, str(error)) from None


def read_details(path: Path) -> Iterator[SampleScore]:
    """Yield the details in a file of `write_results`, one at a time.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path), open_regular(path) as lines:
        for line in dropwhile(_is_head, lines):
            if line.startswith(b"    "):
                detail = _object(line.strip().removesuffix(b","), path)
                try:
                    yield from_shape(detail, SampleScore)
                except ValueError as error:
                    raise _no_results(path, str(error)) from None


def check_scored(run: RunFolder, tasks: Iterable[TaskSpec]) -> None:
    """Check that a run has scores of at least one of the tasks that can have some.

    Raises:
        ConfigError: nothing was scored yet.
    """
    paths = [run.results(task.model.abbr, task.dataset.abbr) for task in tasks if task.is_scored]
    if paths and not any(path.exists() for path in paths):
        raise ConfigError("the run has no scores yet", where=str(run.root), fix=_score_command(run.root))


def detail_starts(path: Path) -> Iterator[int]:
    """Yield where the line of each detail begins in a file of `write_results`, in bytes, in order.

    Raises:
        StoreError: it cannot be read.
    """
    place = 0
    with _reading(path), open_regular(path) as lines:
        for line in lines:
            if line.startswith(b'    {"sample_id"'):
                yield place
            place += len(line)


def read_detail(path: Path, start: int) -> SampleScore:
    """Read the detail that begins at a place in a file of `write_results`.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path), open_regular(path) as lines:
        lines.seek(start)
        detail = _object(lines.readline().strip().removesuffix(b","), path)
    try:
        return from_shape(detail, SampleScore)
    except ValueError as error:
        raise _no_results(path, str(error)) from None


def read_questions(path: Path, metric: str) -> Iterator[tuple[str, float]]:
    """Yield name and value of each question that has a value; the name is that of its cluster if it has one.

    Raises:
        StoreError: as `read_scores`.
    """
    for detail in read_details(path):
        values = detail.values
        if detail.status != "failed" and (metric in values or not values):
            yield detail.sample_id if detail.cluster is None else detail.cluster, values.get(metric, 0.0)


def read_results(path: Path) -> tuple[list[Score], list[SampleScore]]:
    """Read the scores and the details of a file of `write_results`, all of it at once.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path):
        values = _object(read_regular(path), path)
    try:
        return check_scores(values), from_shape(values, Results)["details"]
    except ValueError as error:
        raise _no_results(path, str(error)) from None


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of `write_json_atomic` or `write_results`, all of it at once.

    Raises:
        StoreError: there is no such file, it cannot be read or it is not such a file.
    """
    with reading(path, fix="check the path of the run"):
        content = read_regular(path)
    return _object(content, path)


def _head(path: Path) -> dict[str, Any]:
    """Return what a results file has before the details."""
    with _reading(path), open_regular(path) as lines:
        head: list[bytes] = list(takewhile(_is_head, lines))
    return _object(b"".join(head).rstrip().removesuffix(b",") + b"}", path)


def _reading(path: Path) -> AbstractContextManager[None]:
    return reading(path, fix=_score_command(path.parent.parent.parent), absent="there are no scores yet")


def _score_command(run: Path) -> str:
    return f"make them: aisprompt score {shlex.quote(str(run))}"


def _is_head(line: bytes) -> bool:
    return line.rstrip() != _DETAILS


def _object(content: bytes, path: Path) -> dict[str, Any]:
    try:
        value = decode_own(content)
    except ValueError as error:
        raise StoreError(f"the file is not JSON: {error}", where=str(path), fix="remove it and go on with -r") from None
    if not isinstance(value, dict):
        raise StoreError("the file is not a JSON object", where=str(path), fix="remove it and go on with -r")
    return value


def _no_results(path: Path, why: str) -> StoreError:
    return StoreError(f"the file has no results: {why}", where=str(path), fix="score again: aisprompt score RUN")
