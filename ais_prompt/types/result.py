"""What is stored of a sample, and known of a task, after inference."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from msgspec import Struct, convert, field
from msgspec.structs import asdict

from ais_prompt.types.completion import Completion
from ais_prompt.types.prompt import Prompts, prompts_from_json, prompts_to_json
from ais_prompt.types.speed import Speed

_FAILURE, _FINISH_REASON, _REFUSED = attrgetter("failure"), attrgetter("finish_reason"), attrgetter("refused")


class _Line(Struct):
    """What a line of predictions holds besides its prompt."""

    id: str
    index: int
    prediction: Any
    gold: Any
    completions: list[dict[str, Any]]
    failed_turn: int | None = None
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots_used: int = 0
    row: str = ""
    cluster: tuple[str, str] | None = None


class Prediction(Struct, frozen=True):
    """One line of ``predictions/<model>/<dataset>.jsonl``.

    A dialogue of which each turn is asked has lists: one prompt and one completion for each request, one answer and one
    gold for each turn. A sample of which several answers were asked has a list of answers too.

    Attributes:
        sample_id, index: as in `Sample`.
        origin_prompt: the prompt exactly as it was sent.
        prediction: the answer, before any postprocessing; None if there is none.
        gold: the value of the output column.
        completions: every answer that the prediction is made of, in order of asking.
        failed_turn: the turn that ended a dialogue, because it has no answer, counted from 1; None if there is none.
        labels: label → what was found about it, for a prediction that is chosen from labels; empty for others.
        shots_used: in-context examples in the prompt; fewer than retrieved where more do not fit ``max_seq_len``.
        row_id: as in `Sample`; empty in run folders of version 1, whose ``sample_id`` is the row's.
        cluster: column and value of what the question shares with others (``eval_cfg.cluster``); None without one.
    """

    sample_id: str
    index: int
    origin_prompt: Prompts
    prediction: Any
    gold: Any
    completions: tuple[Completion, ...]
    failed_turn: int | None = None
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots_used: int = 0
    row_id: str = ""
    cluster: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, in the order in which a person reads them."""
        values = {
            "id": self.sample_id,
            **({"row": self.row_id} if self.row_id else {}),
            "index": self.index,
            "origin_prompt": prompts_to_json(self.origin_prompt),
            "prediction": self.prediction,
            "gold": self.gold,
            **({"labels": {label: dict(found) for label, found in self.labels.items()}} if self.labels else {}),
            "shots_used": self.shots_used,
            **({"cluster": self.cluster} if self.cluster else {}),
            "completions": [completion.to_json() for completion in self.completions],
        }
        return values if self.failed_turn is None else {**values, "failed_turn": self.failed_turn}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], *, with_prompt: bool = True) -> Prediction:
        """The inverse of `to_json`; without its prompt, which is then an empty text, it is made faster."""
        line = convert(values, _Line)
        return cls(
            line.id,
            line.index,
            prompts_from_json(values["origin_prompt"]) if with_prompt else "",
            line.prediction,
            line.gold,
            tuple(map(Completion.from_json, line.completions)),
            line.failed_turn,
            line.labels,
            line.shots_used,
            line.row,
            line.cluster,
        )

    @property
    def row_digest(self) -> str:
        """Id of the whole row, whichever version wrote the prediction."""
        return self.row_id or self.sample_id

    @property
    def failed(self) -> bool:
        """True if any request of this sample has no answer."""
        return any(map(_FAILURE, self.completions))

    @property
    def truncated(self) -> bool:
        """True if an answer was cut at ``max_out_len``."""
        return "length" in map(_FINISH_REASON, self.completions)

    @property
    def refused(self) -> bool:
        """True if the server marked an answer as a refusal."""
        return any(map(_REFUSED, self.completions))


class TaskFacts(Struct, frozen=True):
    """What is known of a task when its inference is over.

    Attributes:
        model: the model's `identity`.
        data_digest: digest of all data that was read.
        data_files: where the data came from.
        samples: questions that were asked.
        failed: how many of them have no answer.
        shortened: how many of them show fewer in-context examples than were retrieved, to keep to ``max_seq_len``.
        redacted: how many of them have an answer in which a secret was replaced.
        speed: how fast a served model answered; None if nothing was asked, or the model is in this process.
        of: questions in the dataset, after its range, if asking stopped before its end; None if it did not.
    """

    model: Mapping[str, Any]
    data_digest: str
    data_files: tuple[str, ...]
    samples: int
    failed: int
    shortened: int = 0
    speed: Speed | None = None
    redacted: int = 0
    of: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; ``speed`` and ``of`` are left out if there are none."""
        values = asdict(self)
        if self.of is None:
            del values["of"]
        if self.speed is None:
            del values["speed"]
            return values
        return {**values, "speed": self.speed.to_json()}
