"""Check the shapes of the JSON files of the program when they are read.

A person or another program may have changed them. A wrong shape is an error with file and key, instead of an exception
in later code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, TypeVar

import msgspec

from ais_prompt.types import SampleScore, Score, TaskFacts, Used

Value = TypeVar("Value")


class Session(TypedDict, total=False):
    """One session in ``run.json``."""

    status: str
    command: str
    started: str
    ended: str | None
    addresses: dict[str, str]
    isolation: dict[str, str]
    done: list[str]
    used: Used


class RunFile(TypedDict, total=False):
    """``run.json``."""

    run_number: int
    status: str
    sessions: list[Session]
    config_digest: str
    versions: dict[str, Any]
    tasks: dict[str, TaskFacts]
    used: Used


class Results(TypedDict):
    """A file of results."""

    scores: list[Score]
    details: list[SampleScore]


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
    """Return what was read from a file if it has the shape; unknown keys are allowed.

    Raises:
        ValueError: it has another one; the message names the key.
    """
    from_shape(values, shape)
    return values


def from_shape(values: Any, shape: type[Value]) -> Value:
    """Return what was read from a file as a value of the shape.

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
