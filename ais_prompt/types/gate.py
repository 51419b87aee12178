"""A gate: a condition that a run must meet, such as ``gsm8k*: accuracy >= 80%``, and the verdict on it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.errors import ConfigError

Comparator: TypeAlias = Literal[">=", ">", "<=", "<"]

COUNTS: Final = ("failed", "truncated", "unparsed")
"""Sample states whose number a gate can limit."""

DROP: Final = "drop"
"""Name of the gate that limits the drop of a metric against the baseline."""


EACH: Final = "each"
"""Name of the gate that every sample must meet by itself: ``each >= 4 of 5``."""

_GATE: Final = re.compile(
    r"""
    (?: (?P<pattern> \S.*?) \s* : \s+ )?
    (?P<name> [^\s<>=] [^<>=]*? ) \s*
    (?P<comparator> >=|<=|>|<) \s*
    (?P<limit> \d+ (?:\.\d+)? | \.\d+ ) \s* (?P<percent> % | pts? \b | points? \b)? (?: of \s+ (?P<answers> [1-9]\d*))?
    (?: \s* @ \s* (?P<confidence> \d+ (?:\.\d+)? ) \s* % )?
    """,
    re.VERBOSE,
)

_FORM: Final = (
    "write 'accuracy >= 80%', 'failed <= 3', with datasets 'gsm8k*: accuracy >= 0.8', 'accuracy >= 80% @95%', "
    "or of each sample 'each >= 4 of 5'"
)


class Gate(Struct, frozen=True):
    """One condition.

    Attributes:
        text: the condition as the user wrote it.
        pattern: which datasets (``gsm8k*``), or models and datasets (``demo/*``), it covers.
        name: a metric, or a state (``failed``, ``truncated``, ``unparsed``) whose answers are counted. ``drop`` and
            ``each`` are about the headline, ``NAME.drop`` and ``NAME.each`` about a further evaluator.
        comparator: compares the value with the limit.
        limit: the number as written: in the metric's own unit, a number of answers, or percent.
        percent: whether the limit was written in percent.
        where: config path or option.
        confidence: required confidence, 0.5 to 1, that the true value meets the limit; None compares the value itself.
    """

    text: str
    pattern: str
    name: str
    comparator: Comparator
    limit: Fraction
    percent: bool
    where: str = ""
    confidence: Fraction | None = None

    @property
    def limits_drop(self) -> bool:
        """Whether the gate limits the drop of a metric against the baseline."""
        return self._is(DROP) and self.confidence is not None

    @property
    def holds_each(self) -> bool:
        """Whether the gate is about every sample, not about a mean."""
        return self._is(EACH)

    @property
    def evaluator(self) -> str:
        """Name of the further evaluator whose drop or samples the gate is about; empty for the headline."""
        return self.name.rpartition(".")[0] if self.limits_drop or self.holds_each else ""

    def _is(self, kind: str) -> bool:
        return self.name.rpartition(".")[2] == kind

    @property
    def needs_samples(self) -> bool:
        """Whether the summary is not enough to decide it."""
        return self.holds_each or self.confidence is not None

    @property
    def counts_answers(self) -> bool:
        """Whether the gate limits the number of answers in a state, not a metric."""
        return self.name in COUNTS

    def concerns(self, model: str, dataset: str, base_model: str = "", base_dataset: str = "") -> bool:
        """Return whether the gate covers a model on a dataset, by its own name or that which all variants share."""
        models, datasets = (model, base_model or model), (dataset, base_dataset or dataset)
        names = [*datasets, *(f"{one}/{other}" for one in models for other in datasets)]
        return any(fnmatchcase(name, self.pattern) for name in names)

    def holds(self, value: Fraction) -> bool:
        """Return whether a value, in the unit of ``limit``, meets the limit."""
        if self.comparator == ">=":
            return value >= self.limit
        if self.comparator == ">":
            return value > self.limit
        return value <= self.limit if self.comparator == "<=" else value < self.limit

    def holds_score(self, value: Fraction, *, fraction: bool) -> bool:
        """Return whether a metric's value meets the limit; for a ``fraction``, 0.8 and 80 % are the same limit."""
        return self.holds(100 * value if self.percent and fraction else value)

    def holds_count(self, count: int, answers: int) -> bool:
        """Return whether ``count`` out of ``answers`` meets the limit; without answers the share is 0."""
        return self.holds(Fraction(100 * count, answers or 1) if self.percent else Fraction(count))


def parse_gate(text: Any, where: str) -> Gate:
    """Parse one condition.

    Raises:
        ConfigError: it is none.
    """
    found = _GATE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ConfigError(f"{text!r} is no condition", where=where, fix=_FORM)
    return Gate(
        text=text.strip(),
        pattern=found["pattern"] or "*",
        name=found["name"],
        comparator=found["comparator"],  # type: ignore[arg-type]  # the expression allows no others
        limit=Fraction(found["limit"]) / int(found["answers"] or 1),
        percent=found["percent"] is not None,
        where=where,
        confidence=None if found["confidence"] is None else Fraction(found["confidence"]) / 100,
    )


class Verdict(Struct, frozen=True):
    """The verdict of one gate for one model and dataset.

    Attributes:
        gate: the condition, in words.
        subject: ``model/dataset``; empty if the gate applies to none.
        passed: whether the run passes the gate.
        found: what was found, in words.
        inconclusive: whether the evidence is not enough; the gate has not passed then.
    """

    gate: str
    subject: str
    passed: bool
    found: str
    inconclusive: bool = False

    def __str__(self) -> str:
        mark = "ok  " if self.passed else "????" if self.inconclusive else "FAIL"
        return f"{mark}  {self.gate}  {self.subject}  {self.found}"
