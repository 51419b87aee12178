"""The shapes of the JSON files that the program writes, checked when they are read again.

A person or another program may have changed them. What has another shape is an error with the file and the key, and not
an exception somewhere below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import msgspec

from ais_prompt.types import Score, Speed, Status


class Session(TypedDict, total=False):
    """One session in ``run.json``."""

    status: str
    command: str
    started: str
    ended: str | None
    addresses: dict[str, str]
    isolation: dict[str, str]


class TaskRecord(TypedDict, total=False):
    """One task in ``run.json``, see `ais_prompt.types.TaskFacts`."""

    samples: int
    failed: int
    model: dict[str, Any]
    data_digest: str
    data_files: list[str]
    shortened: int
    redacted: int
    speed: Speed | None
    of: int | None


class RunFile(TypedDict, total=False):
    """``run.json``."""

    run_number: int
    status: str
    sessions: list[Session]
    config_digest: str
    versions: dict[str, Any]
    tasks: dict[str, TaskRecord]


class Detail(TypedDict):
    """One sample in a file of results, see `ais_prompt.types.SampleScore`."""

    sample_id: str
    status: Status
    extracted: Any
    gold: Any
    values: dict[str, float]
    reason: NotRequired[str]
    repeats: NotRequired[list[Detail]]
    readings: NotRequired[list[Any]]
    cluster: NotRequired[str]


class Results(TypedDict):
    """A file of results."""

    scores: list[Score]
    details: list[Detail]


class BaselineTaskFile(TypedDict):
    """One task in a baseline."""

    model: str
    dataset: str
    metric: str
    fraction: bool
    samples: dict[str, str]
    n: NotRequired[int | None]
    noise: NotRequired[float | None]
    sums: NotRequired[dict[str, str]]


class BaselineFile(TypedDict):
    """A baseline."""

    format: int
    run: str
    tasks: list[BaselineTaskFile]
    samples_by: NotRequired[str]
    runs: NotRequired[int]


def check_shape(values: Any, shape: Any) -> Any:
    """Return what was read from a file, if it has the shape; keys that the shape does not name may be there.

    Raises:
        ValueError: it has another one; the message names the key.
    """
    try:
        msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("`$.", "`").replace("`", "'")) from None
    return values


def check_scores(values: Mapping[str, Any]) -> list[Score]:
    """Return the scores in a file of results, of which there is at least one.

    Raises:
        ValueError: they have another shape.
    """
    scores = [Score.from_json(score) for score in check_shape(values.get("scores"), list[Score])]
    if not scores:
        raise ValueError("there is not one score")
    return scores
