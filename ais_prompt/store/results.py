"""The JSON files of a run folder, always written whole: results, ``run.json``, ``summary.json``; and their shapes.

A person or another program may have changed a file. A wrong shape is an error with file and key, instead of an
exception in later code.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any, Final, NotRequired, TypedDict, TypeVar

import msgspec

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import SampleScore, Score, Sensitivity, TaskFacts, TaskSpec, Used
from ais_prompt.utils import decode_own, encode, open_regular, read_regular

_DETAILS: Final = b'  "details": ['
"""The line between the scores and the details of a results file."""
Value = TypeVar("Value")


def write_json_atomic(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object as indented JSON, whole or not at all.

    Raises:
        StoreError: it cannot be written; the earlier content of the file stays.
    """
    with replacing(path, json=True) as stream:
        stream.write(encode(value, indent=2))


def write_results(path: Path, head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> None:
    """Write the results of a task as JSON, whole or not at all: ``head``, and ``details`` with one sample a line.

    Raises:
        StoreError: they cannot be written; the earlier content of the file stays.
    """
    with replacing(path, json=True, restorable=True) as stream:
        stream.write(encode(head, indent=2).removesuffix(b"\n}\n"))
        stream.write(b",\n" + _DETAILS)
        for number, detail in enumerate(details):
            stream.write((b",\n    " if number else b"\n    ") + encode(detail).rstrip(b"\n"))
        stream.write(b"\n  ]\n}\n")


def read_results(path: Path) -> tuple[list[Score], list[SampleScore]]:
    """Read the scores and the details of a file of `write_results`, all of it at once.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path):
        values = _object(read_regular(path), path)
        return check_scores(values), from_shape(values, Results)["details"]


def read_scores(path: Path) -> list[Score]:
    """Return the scores in a file of `write_results`, the main one first; there is at least one.

    Raises:
        ConfigError: there is no such file: nothing was scored yet.
        StoreError: it cannot be read or it is not such a file.
    """
    with _reading(path):
        return check_scores(_head(path))


def read_head(path: Path) -> tuple[list[Score], Sensitivity | None, str]:
    """Return the scores as `read_scores` does, those under other postprocessors or None, and the doubt or "".

    The doubt says how many wrong answers contain the gold answer.

    Raises:
        ConfigError, StoreError: as `read_scores`.
    """
    with _reading(path):
        values = _head(path)
        scores, other = check_scores(values), values.get("extraction")
        sensitivity = from_shape(other, Sensitivity) if other else None
        return scores, sensitivity, str(values.get("doubt", ""))


def read_battles(path: Path) -> list[dict[str, Any]]:
    """Return the comparisons with other models in a file of `write_results`.

    Raises:
        ConfigError, StoreError: as `read_scores`.
    """
    with _reading(path):
        battles: list[dict[str, Any]] = _head(path).get("battles", [])
        return battles


def read_details(path: Path) -> Iterator[SampleScore]:
    """Yield the details in a file of `write_results`, one at a time.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path), open_regular(path) as lines:
        for line in dropwhile(_is_head, lines):
            if line.startswith(b"    "):
                yield _detail(line, path)


def check_scored(run: RunFolder, tasks: Iterable[TaskSpec]) -> None:
    """Check that a run has scores of at least one of the tasks that can have some.

    Raises:
        ConfigError: nothing was scored yet.
    """
    paths = [run.results(task.model.abbr, task.dataset.abbr) for task in tasks if task.is_scored]
    if paths and not any(path.exists() for path in paths):
        raise ConfigError("the run has no scores yet", where=str(run.root), fix=_score_command(run.root))


class _Head(msgspec.Struct):
    sample_id: str


def detail_places(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the id of each sample of a file of `write_results`, and where its line begins, in bytes.

    Raises:
        StoreError: the file cannot be read, or is broken.
    """
    decoder = msgspec.json.Decoder(_Head)
    place = 0
    with _reading(path), open_regular(path) as lines:
        for line in lines:
            if line.startswith(b'    {"sample_id"'):
                content = line.strip().removesuffix(b",")
                try:
                    yield decoder.decode(content).sample_id, place
                except ValueError:  # a lone surrogate or NaN
                    yield str(_object(content, path)["sample_id"]), place
            place += len(line)


def read_detail(path: Path, start: int) -> SampleScore:
    """Read the detail that begins at a place in a file of `write_results`.

    Raises:
        StoreError: as `read_scores`.
    """
    with _reading(path), open_regular(path) as lines:
        lines.seek(start)
        return _detail(lines.readline(), path)


def read_questions(path: Path, metric: str) -> Iterator[tuple[str, float]]:
    """Yield name and value of each question that has a value; the name is that of its cluster, if there is a cluster.

    Raises:
        StoreError: as `read_scores`.
    """
    evaluator = next((score.evaluator for score in read_scores(path) if score.metric == metric), "")
    for detail in (sample.by(evaluator) for sample in read_details(path)):
        values = detail.values
        if detail.status != "failed" and (metric in values or not values):
            yield detail.sample_id if detail.cluster is None else detail.cluster, values.get(metric, 0.0)


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of `write_json_atomic` or `write_results`, all of it at once.

    Raises:
        StoreError: there is no such file, it cannot be read or it is not such a file.
    """
    with reading(path, fix="check the path of the run"):
        content = read_regular(path)
    return _object(content, path)


class RunFile(TypedDict, total=False):
    """``run.json``: what was run, with which versions, when, and how it ended.

    Attributes:
        schema_version: version of the run folder; missing in version 1.
        run_number: one more than that of the runs of the same config before.
        status: how the last session ended.
        sessions: the sessions, in order.
        config_digest: digest of ``config.py``.
        versions: package → its version, and that of Python.
        tasks: ``model/dataset`` → the facts of the task.
        stamps: ``model/dataset`` → digest of its scores and of all that decided them, where that is known: they are
            not computed again while it is the same.
        used: requests, tokens and costs of all sessions.
    """

    schema_version: int
    run_number: int
    status: str
    sessions: list[SessionRecord]
    config_digest: str
    versions: dict[str, Any]
    tasks: dict[str, TaskFacts]
    stamps: dict[str, str]
    used: Used


class SessionRecord(TypedDict, total=False):
    """One session in ``run.json``: one command that worked in the folder.

    Attributes:
        status: ``running``, ``finished``, ``failed``, ``interrupted``, ``partial`` or ``paused``.
        command: the command line, without secrets.
        started, ended: times in UTC; ``ended`` is null while the session runs, and if it was killed.
        addresses: model → the address where it was asked, without secrets.
        isolation: task → how the programs of its answers were kept apart from the machine.
        done: tasks whose inference this session completed.
        notes: differences in the meaning of a config of another program.
        used: requests, tokens and costs of this session.
    """

    status: str
    command: str
    started: str
    ended: str | None
    addresses: dict[str, str]
    isolation: dict[str, str]
    done: list[str]
    notes: list[str]
    used: Used


class Results(TypedDict):
    """A file of results: the scores of a task, and those of its samples.

    Attributes:
        model, dataset: their ``abbr``.
        scores: one for each metric, the main one first.
        reported: metric → the score that a tool reported, in results of its log.
        isolation: how programs of answers were kept apart from the machine.
        repeatability: how much the answers to one question differ, where it is asked several times.
        extraction: the scores under other plausible postprocessors.
        battles: comparisons with other models, of an evaluator that makes a table of several.
        details: one for each sample, one a line; with several evaluators the headline's, and the others in ``further``.
    """

    model: NotRequired[str]
    dataset: NotRequired[str]
    scores: list[Score]
    reported: NotRequired[dict[str, float]]
    isolation: NotRequired[str]
    repeatability: NotRequired[dict[str, Any]]
    extraction: NotRequired[Sensitivity | None]
    battles: NotRequired[list[dict[str, Any]]]
    details: list[SampleScore]


def check_shape(values: Any, shape: Any) -> Any:
    """Return the value of a file if it has the shape; unknown keys are allowed.

    Raises:
        ValueError: it has another shape; the message names the key.
    """
    from_shape(values, shape)
    return values


def from_shape(values: Any, shape: type[Value]) -> Value:
    """Return the value of a file as a value of the shape.

    Raises:
        ValueError: as `check_shape`.
    """
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("`$.", "`").replace("`", "'")) from None


def check_scores(values: Mapping[str, Any]) -> list[Score]:
    """Return the scores in a file of results, of which there is at least one.

    Raises:
        ValueError: they have another shape.
    """
    scores = [Score.from_json(score) for score in check_shape(values.get("scores"), list[Score])]
    if not scores:
        raise ValueError("there is not one score")
    return scores


def _head(path: Path) -> dict[str, Any]:
    """Return the part of a results file before the details."""
    with open_regular(path) as lines:
        head: list[bytes] = list(takewhile(_is_head, lines))
    return _object(b"".join(head).rstrip().removesuffix(b",") + b"}", path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn errors while a file of results is read, and a ValueError for its shape, into errors with a fix."""
    try:
        with reading(path, fix=_score_command(path.parent.parent.parent), absent="there are no scores yet"):
            yield
    except ValueError as error:
        what = f"the file has no results: {error}"
        raise StoreError(what, where=str(path), fix="score again: aisprompt score RUN") from None


def _score_command(run: Path) -> str:
    return f"make them: aisprompt score {shlex.quote(str(run))}"


def _detail(line: bytes, path: Path) -> SampleScore:
    return from_shape(_object(line.strip().removesuffix(b","), path), SampleScore)


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
