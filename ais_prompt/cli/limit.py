"""``--max-failures 10`` or ``--max-failures 5%``."""

from __future__ import annotations

from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """How many samples may stay without an answer.

    Attributes:
        number: samples, or percent of all samples.
        percent: whether ``number`` is a percentage.
    """

    number: float
    percent: bool = False

    def allows(self, failed: int, asked: int) -> bool:
        """Whether so many failures are within the limit."""
        return failed <= (self.number * asked / 100 if self.percent else self.number)

    def __str__(self) -> str:
        return f"{self.number:g}{' %' if self.percent else ''}"


class _LimitType(click.ParamType[FailureLimit]):
    name = "limit"

    def convert(
        self, value: str | FailureLimit, param: click.Parameter | None, ctx: click.Context | None
    ) -> FailureLimit:
        if isinstance(value, FailureLimit):
            return value
        percent = value.endswith("%")
        try:
            number = float(value.removesuffix("%")) if percent else int(value)
        except ValueError:
            number = -1
        if not 0 <= number < float("inf") or (percent and number > 100):
            self.fail(f"{value!r} is neither a number of samples (10) nor a percentage (5%)", param, ctx)
        return FailureLimit(number, percent)


FAILURE_LIMIT = _LimitType()
