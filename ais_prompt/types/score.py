"""What scoring makes of a sample, and of a dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, convert, field
from msgspec.structs import asdict

from ais_prompt.types.extraction import Reading

Status: TypeAlias = Literal["scored", "unparsed", "truncated", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "unparsed", "truncated", "failed")

REFUSAL: Final = "refusal"
"""The reason of an answer that the server marked as a refusal."""

Range: TypeAlias = tuple[float, float]
"""The lowest and the highest value."""


class SampleScore(Struct, frozen=True):
    """The score of one sample.

    A question that was asked more than once has the score of each answer in ``repeats``. Its own ``values`` are the
    means over those answers that did not fail, its ``extracted`` is a list, and its ``status`` is the worst one, but
    failed only if every answer failed.

    Attributes:
        sample_id: as in `Sample`.
        status: exactly one of `STATUSES`.
        extracted: the answer after postprocessing; None if it could not be parsed or there is none.
        gold: the gold after ``dataset_postprocessor``.
        values: metric name → value; empty for a failed sample.
        reason: why it is not scored, or that it is a refusal, in a few words that can be counted (``timeout``,
            ``no answer found``).
        repeats: the scores of the single answers in order of asking; empty if it was asked once.
        readings: which rule read which part of the answer, one entry for each turn of a dialogue; None where the
            postprocessor does not know, or found nothing.
        cluster: what the question has in common with others, such as its passage; None if it is independent of all.
    """

    sample_id: str
    status: Status
    extracted: Any = None
    gold: Any = None
    values: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    repeats: tuple[SampleScore, ...] = ()
    readings: tuple[Reading | None, ...] = ()
    cluster: str | None = None

    @property
    def is_read(self) -> bool:
        """Whether an answer was found in what came back, right or wrong; what was cut may still hold one.

        Of a list, such as the turns of a dialogue, every one must be found.
        """
        if self.status != "truncated":
            return self.status == "scored"
        return None not in (self.extracted if isinstance(self.extracted, list) else [self.extracted])

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; reason and repeats are left out when there are none."""
        return {
            "sample_id": self.sample_id,
            "status": self.status,
            **({"reason": self.reason} if self.reason else {}),
            "extracted": self.extracted,
            "gold": self.gold,
            "values": dict(self.values),
            **({"repeats": [repeat.to_json() for repeat in self.repeats]} if self.repeats else {}),
            **({"readings": [one and asdict(one) for one in self.readings]} if any(self.readings) else {}),
            **({} if self.cluster is None else {"cluster": self.cluster}),
        }


class Spread(Struct, frozen=True):
    """How far the mean of independent questions may be from the true one.

    Attributes:
        variance: of the mean, in the metric's own unit, squared.
        units: how many independent questions, or clusters of them, it is the mean of.
        freedom: degrees of freedom of ``variance``; None where the mean itself gives it, as for right and wrong.
    """

    variance: float
    units: float
    freedom: float | None = None

    @property
    def stderr(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)


class Score(Struct, frozen=True):
    """One number, never without what stands behind it.

    Attributes:
        metric: its name, e.g. ``accuracy``.
        value: in the metric's own unit (accuracy: 0 to 1); None if no sample was answered.
        stderr: standard error of ``value`` in the same unit; None if it cannot be known.
        n: answers that were asked for: samples, or samples times the answers to each.
        counts: status → how many of them, all four always present.
        interval: where the true value lies, with 95 % confidence; None if it cannot be known.
        bounds: the value if every answer that failed or could not be read was wrong, and if all of these were right;
            None if the metric knows no right and wrong.
        repeats: the most answers to one question.
        fraction: whether ``value`` is a part of 1, which people read as percent.
        reasons: ``status: reason`` → how many answers, for those that are not plainly scored.
        failed_samples: samples with an answer that failed, whether model, judge or gold did; None in results
            of earlier versions.
        is_mean: whether ``value`` is the mean over the questions, of values that are at best 1.
        of: answers that the dataset would have given, if asking stopped before its end; None if it did not.
        questions: how many questions ``value`` is the mean of; None if it is no mean, or was written before 0.2.
    """

    metric: str
    value: float | None
    stderr: float | None
    n: int
    counts: Mapping[Status, int]
    interval: Range | None = None
    bounds: Range | None = None
    repeats: int = 1
    fraction: bool = True
    reasons: Mapping[str, int] = field(default_factory=dict)
    failed_samples: int | None = None
    is_mean: bool = False
    of: int | None = None
    questions: int | None = None

    @property
    def refused(self) -> int:
        """Answers that the server marked as refusals, whatever their status."""
        return sum(number for reason, number in self.reasons.items() if reason.partition(": ")[2].startswith(REFUSAL))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; ``of`` is left out if there is none."""
        values = asdict(self)
        if self.of is None:
            del values["of"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Score:
        """The inverse of `to_json`.

        Raises:
            ValueError: the values are not those of a score.
        """
        score = convert(values, cls)
        if missing := set(STATUSES) - score.counts.keys():
            raise ValueError(f"counts have no {', '.join(sorted(missing))}")
        return score
