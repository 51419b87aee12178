"""``--max-failures 10`` or ``--max-failures 5%``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import click


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """How many samples may fail.

    Attributes:
        number: samples, or percent of all samples.
        percent: whether ``number`` is a percentage.
    """

    number: Fraction
    percent: bool = False

    def allows(self, failed: int, asked: int) -> bool:
        """Return whether so many failures are within the limit."""
        return failed <= (self.number * asked / 100 if self.percent else self.number)

    def __str__(self) -> str:
        return f"{float(self.number):.12g}{' %' if self.percent else ''}"


class _LimitType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    name = "limit"

    def convert(
        self, value: str | FailureLimit, param: click.Parameter | None, ctx: click.Context | None
    ) -> FailureLimit:
        if isinstance(value, FailureLimit):
            return value
        percent = value.endswith("%")
        try:
            # Exactly what is written: as a float, 0.29 % of 10,000 would be less than 29.
            number = Fraction(Decimal(value.removesuffix("%"))) if percent else Fraction(int(value))
        except (ValueError, ArithmeticError):
            number = Fraction(-1)
        if number < 0 or (percent and number > 100):
            self.fail(f"{value!r} is neither a number of samples (10) nor a percentage (5%)", param, ctx)
        return FailureLimit(number, percent)


FAILURE_LIMIT = _LimitType()
