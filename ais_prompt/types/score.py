"""Scores of a sample and of a dataset.

A score keeps the position of the answer that a postprocessor extracted, and how much it depends on the postprocessor.
Whether less of a metric is better follows from its name (`lower_is_better`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, convert, field
from msgspec.structs import asdict, force_setattr

from ais_prompt.types.request import plain


class Reading(Struct, frozen=True):
    """The position of an extracted answer.

    Attributes:
        rule: name of the rule that found it, e.g. ``the answer is``.
        start, end: it is ``text[start:end]`` of the model's answer, counted in code points.
    """

    rule: str
    start: int
    end: int


class Extraction(str):
    """An extracted answer: a string that also carries its `Reading`.

    The string may differ from the text between ``start`` and ``end``: "１,０００" is read as "1000".

    Args:
        text: the answer.
        rule: name of the rule that found it.
        start, end: it was found in ``text[start:end]`` of the model's answer, counted in code points.
    """

    __slots__ = ("reading",)

    reading: Reading

    def __new__(cls, text: str, rule: str, start: int, end: int) -> Extraction:
        """Create the string."""
        made = super().__new__(cls, text)
        made.reading = Reading(rule, start, end)
        return made


class Stratum(Struct, frozen=True):
    """A part of a whole set of questions, of which some were drawn at random.

    Attributes:
        name: its value in the column by which the set is divided; empty if it is not divided.
        size: number of questions in it, drawn or not.
    """

    name: str
    size: int


Status: TypeAlias = Literal["scored", "unparsed", "truncated", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "unparsed", "truncated", "failed")
REFUSAL: Final = "refusal"
"""The reason of an answer that the server marked as a refusal."""
Range: TypeAlias = tuple[float, float]
"""The lowest and the highest value."""


class JudgeVerdict(Struct, frozen=True):
    """The verdict of one judge on an answer.

    Attributes:
        judge: ``abbr`` of the judge.
        vote: its verdict as a tag, or as a number: a rating, or 1, 0.5 or 0 for a win, tie or loss; None if it gave
            none.
        orders: the verdict in each order of the two answers that were compared; empty without a comparison.
        rival: ``abbr`` of the model whose answer was compared, of several.
    """

    judge: str
    vote: str | float | None = None
    orders: tuple[str | None, ...] = ()
    rival: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; ``rival`` only if there is one."""
        return plain(self, "rival")


class SampleScore(Struct, frozen=True):
    """The score of one sample.

    A question that is asked several times has the score of each answer in ``repeats``. Its ``values`` are the means
    over the answers that did not fail, ``extracted`` is a list, and ``status`` is the worst of the answers, but
    ``failed`` only if every answer failed.

    Attributes:
        sample_id: as in `Sample`.
        status: one of `STATUSES`.
        extracted: the answer after postprocessing; None if there is none or it could not be parsed.
        gold: the gold after ``dataset_postprocessor``.
        values: metric name → value; empty for a failed sample.
        reason: why the sample is not scored, or ``refusal``, in few words that can be counted (``timeout``,
            ``no answer found``).
        repeats: the scores of the single answers, in order; empty if the question was asked once.
        readings: which rule read which part of the answer, one entry per turn of a dialogue; None where the
            postprocessor does not report it, or found no answer.
        cluster: a value that the question shares with others, such as its passage; None if all questions are
            independent.
        verdicts: the verdict of each judge, for each turn of a dialogue; empty if one judge was asked one question.
        stratum: what the question was drawn from; None if all questions were asked.
        further: name of each further evaluator of the dataset → the score that it gives; the metrics have their names
            in the results.
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
    verdicts: tuple[JudgeVerdict, ...] = ()
    stratum: Stratum | None = None
    further: Mapping[str, SampleScore] = field(default_factory=dict)

    def by(self, evaluator: str) -> SampleScore:
        """Return the score that one evaluator of the dataset gives, by its name; another name is the headline's."""
        return self.further.get(evaluator, self)

    @property
    def all_values(self) -> dict[str, float]:
        """Metric name → value, of all evaluators that did not fail."""
        return {name: value for one in (self, *self.further.values()) for name, value in one.values.items()}

    @property
    def is_read(self) -> bool:
        """Whether an answer was extracted, right or wrong. A truncated text may still contain an answer.

        For a list, such as the turns of a dialogue, every answer must be extracted.
        """
        if self.status != "truncated":
            return self.status == "scored"
        return None not in (self.extracted if isinstance(self.extracted, list) else [self.extracted])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; those that are empty only if they are always there."""
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
            **({"verdicts": [one.to_json() for one in self.verdicts]} if self.verdicts else {}),
            **({"stratum": asdict(self.stratum)} if self.stratum else {}),
            **({"further": {name: one.to_json() for name, one in self.further.items()}} if self.further else {}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SampleScore:
        """The inverse of `to_json`.

        Raises:
            ValueError: the values are not those of a sample's score.
        """
        return convert(values, cls)


class Spread(Struct, frozen=True):
    """The uncertainty of a mean over independent questions.

    Attributes:
        variance: variance of the mean, in the metric's own unit squared.
        units: number of independent questions, or clusters of questions, in the mean.
        freedom: degrees of freedom of ``variance``; None where the mean determines the variance (right or wrong).
    """

    variance: float
    units: float
    freedom: float | None = None

    @property
    def stderr(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)


class Precision(Struct, frozen=True):
    """How many answers to each question a narrower 95 % interval needs.

    Attributes:
        half_width: half the 95 % interval with the answers there are, in the metric's own unit.
        target: the next round half width below it: 1, 2 or 5 times a power of ten.
        repeats: the fewest answers to each question that reach ``target``; None if no number does, because the
            questions differ too much: only more questions help.
    """

    half_width: float
    target: float
    repeats: int | None


class Score(Struct, frozen=True):
    """The score of a dataset in one metric, always with its counts and its uncertainty.

    Attributes:
        metric: name of the metric, e.g. ``accuracy``.
        value: in the metric's own unit (accuracy: 0 to 1); None if no sample was answered.
        stderr: standard error of ``value`` in the same unit; None if it cannot be computed.
        n: number of answers requested: samples, or samples times the answers to each.
        counts: status → number of answers; all four statuses are present.
        interval: 95 % confidence interval of the true value; None if it cannot be computed.
        bounds: the lowest and the highest value that failed and unparsed answers could lead to, if all of them were
            wrong or all were right; None for a metric that has no right and wrong.
        repeats: the largest number of answers to one question.
        fraction: whether ``value`` is a fraction of 1, to be shown in percent.
        reasons: ``status: reason`` → number of answers, for answers that were not scored and for refusals.
        failed_samples: samples with a failed answer, whether the model, the judge or the gold failed; None in results
            of earlier versions.
        is_mean: whether ``value`` is a mean over the questions, of values of at most 1.
        of: number of answers of the whole dataset, if not every sample was asked; else None.
        questions: number of questions in the mean; None if ``value`` is no mean, or was written before 0.2.
        precision: how many answers a narrower interval needs; None unless the questions were asked several times, and
            for all metrics but the main one.
        finished: the value without truncated answers; None unless there are some, and for all metrics but the main one.
        population: number of questions in the whole set, if those of the score were drawn from it; then ``stderr`` and
            ``interval`` are those of the score that the whole set would have. None if nothing was drawn.
        lower_is_better: whether less of it is better, as of a perplexity; without it as the name of the metric says
            (`ais_prompt.types.score.lower_is_better`).
        evaluator: name of the evaluator that gives it, of several; empty if the dataset has one.
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
    precision: Precision | None = None
    finished: float | None = None
    population: int | None = None
    lower_is_better: bool | None = None
    evaluator: str = ""

    def __post_init__(self) -> None:
        if self.lower_is_better is None:
            force_setattr(self, "lower_is_better", lower_is_better(self.metric))

    @property
    def refused(self) -> int:
        """Number of answers that the server marked as refusals, of any status."""
        return sum(number for reason, number in self.reasons.items() if reason.partition(": ")[2].startswith(REFUSAL))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; ``of``, ``precision``, ``finished``, ``population``, ``evaluator`` only if known.

        ``lower_is_better`` is there if it is true, or if the name of the metric says the opposite.
        """
        values = plain(self, "of", "finished", "population", "evaluator")
        if not self.lower_is_better and not lower_is_better(self.metric):
            del values["lower_is_better"]
        del values["precision"]
        return values if self.precision is None else {**values, "precision": asdict(self.precision)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Score:
        """Read back the values of `to_json`.

        Raises:
            ValueError: the values are not those of a score.
        """
        score = convert(values, cls)
        if missing := set(STATUSES) - score.counts.keys():
            raise ValueError(f"counts have no {', '.join(sorted(missing))}")
        return score


class OtherReading(Struct, frozen=True):
    """The score under an alternative postprocessor.

    Attributes:
        postprocessor: its name.
        score: mean of the main metric over the same samples.
        changed: number of samples whose value differs.
    """

    postprocessor: str
    score: float
    changed: int


class Sensitivity(Struct, frozen=True):
    """The score of a task under each plausible postprocessor.

    Attributes:
        postprocessor, score: the configured postprocessor, and the mean of the main metric.
        stderr: standard error of ``score``.
        samples, of: number of samples that were read again, and number of samples that could be.
        others: the scores under the alternatives.
    """

    postprocessor: str
    score: float
    stderr: float
    samples: int
    of: int
    others: tuple[OtherReading, ...]

    @property
    def far(self) -> list[OtherReading]:
        """The alternatives whose score differs by more than a standard error."""
        return [other for other in self.others if abs(other.score - self.score) > self.stderr]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "others": [asdict(other) for other in self.others]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Sensitivity:
        """Read back the values of `to_json`."""
        return convert(values, cls)


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LESS: Final = frozenset(
    (
        *("ppl", "perplexity", "loss", "nll", "bits", "bpb", "bpc", "bpt", "entropy", "crossentropy"),
        *("error", "errors", "mistakes", "wer", "cer", "ter", "mer", "mae", "mse", "rmse", "mape", "brier", "ece"),
        *("distance", "distances", "dist", "divergence", "regret"),
        *("failure", "failures", "violation", "violations", "hallucination", "hallucinations", "toxicity"),
        *("latency", "latencies", "duration", "time", "seconds", "ms", "ttft", "ttfo", "tpot", "itl", "e2el", "queue"),
        *("tokens", "cost", "costs", "price"),
    )
)
"""Words of which less is better."""
_MORE: Final = frozenset(
    (
        *("accuracy", "acc", "precision", "recall", "match", "correct", "right", "success", "pass"),
        *("second", "throughput", "goodput", "similarity", "agreement", "detection", "detected", "found", "reduction"),
        *("improvement", "avoided", "free", "correction", "corrected", "check", "ok", "valid", "equal", "same"),
    )
)
"""Words that make a good thing of those before them: ``error_detection``, ``tokens_per_second``."""
_NOT: Final = frozenset(
    ("no", "not", "non", "without", "within", "below", "under", "neg", "negative", "inverse", "minus")
)
"""Words with which the name is about how little there is: ``neg_mean_squared_error``."""


def lower_is_better(metric: str) -> bool:
    """Return whether less of a metric is better: the last word of its name that says so decides.

    An evaluator whose metric has another name says it itself, with its attribute ``lower_is_better``.

    >>> [lower_is_better(name) for name in ("average_ppl", "bits_per_byte", "WER", "tokens_per_second", "accuracy")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in _WORD.findall(metric)]
    if not _NOT.isdisjoint(words):
        return False
    return next((word in _LESS for word in reversed(words) if word in _LESS or word in _MORE), False)
