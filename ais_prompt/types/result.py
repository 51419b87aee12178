"""What is stored of a sample after inference, and what scoring makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from ais_prompt.types.completion import Completion
from ais_prompt.types.prompt import Prompts, prompts_from_json, prompts_to_json

Status: TypeAlias = Literal["scored", "unparsed", "truncated", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "unparsed", "truncated", "failed")


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of ``predictions/<model>/<dataset>.jsonl``.

    A dialogue of which each turn is asked has lists: one prompt and one completion for each request, one answer and one
    gold for each turn.

    Attributes:
        sample_id, index: as in `Sample`.
        origin_prompt: the prompt exactly as it was sent.
        prediction: the answer, before any postprocessing; None if there is none.
        gold: the value of the output column.
        completions: every answer that the prediction is made of, in order of asking.
        failed_turn: the turn that ended a dialogue, because it has no answer, counted from 1; None if there is none.
        labels: label → what was found about it, for a prediction that is chosen from labels; empty for others.
    """

    sample_id: str
    index: int
    origin_prompt: Prompts
    prediction: Any
    gold: Any
    completions: tuple[Completion, ...]
    failed_turn: int | None = None
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, in the order in which a person reads them."""
        values = {
            "id": self.sample_id,
            "index": self.index,
            "origin_prompt": prompts_to_json(self.origin_prompt),
            "prediction": self.prediction,
            "gold": self.gold,
            **({"labels": {label: dict(found) for label, found in self.labels.items()}} if self.labels else {}),
            "completions": [completion.to_json() for completion in self.completions],
        }
        return values if self.failed_turn is None else {**values, "failed_turn": self.failed_turn}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Prediction:
        """The inverse of `to_json`."""
        return cls(
            sample_id=values["id"],
            index=values["index"],
            origin_prompt=prompts_from_json(values["origin_prompt"]),
            prediction=values["prediction"],
            gold=values["gold"],
            completions=tuple(Completion.from_json(item) for item in values["completions"]),
            failed_turn=values.get("failed_turn"),
            labels=values.get("labels", {}),
        )

    @property
    def failed(self) -> bool:
        """True if any request of this sample has no answer."""
        return any(completion.failure for completion in self.completions)

    @property
    def truncated(self) -> bool:
        """True if an answer was cut at ``max_out_len``."""
        return any(completion.finish_reason == "length" for completion in self.completions)


@dataclass(frozen=True, slots=True)
class SampleScore:
    """The score of one sample.

    Attributes:
        sample_id: as in `Sample`.
        status: exactly one of `STATUSES`.
        extracted: the answer after postprocessing; None if it could not be parsed or there is none.
        gold: the gold after ``dataset_postprocessor``.
        values: metric name → value; empty for a failed sample.
    """

    sample_id: str
    status: Status
    extracted: Any = None
    gold: Any = None
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """One number, never without the counts behind it.

    Attributes:
        metric: its name, e.g. ``accuracy``.
        value: in the metric's own unit (accuracy: 0 to 1); None if no sample was answered.
        stderr: standard error of ``value`` in the same unit; None if it cannot be known.
        n: samples in the data set.
        counts: status → number of samples, all four always present.
    """

    metric: str
    value: float | None
    stderr: float | None
    n: int
    counts: Mapping[Status, int]


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What is known of a task when its inference is over.

    Attributes:
        model: the model's `identity`.
        data_digest: digest of all data that was read.
        data_files: where the data came from.
        samples: questions in the data set, after its range.
        failed: how many of them have no answer.
    """

    model: Mapping[str, Any]
    data_digest: str
    data_files: tuple[str, ...]
    samples: int
    failed: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)
