"""The options that limit a run: how much it asks, and how many samples may fail (``--max-failures 10`` or ``5%``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ais_prompt.cli.verb import hint, offer

if TYPE_CHECKING:
    from ais_prompt.plan import Plan
    from ais_prompt.types import Budget

Command = TypeVar("Command", bound=Callable[..., Any])

BUDGET_OPTIONS = ("max_requests", "max_tokens_total", "max_cost")
"""The names of these options in a command."""


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


class FiniteRange(click.FloatRange):
    """A range of numbers, without infinity and without NaN, which is in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class _LongerType(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    name = "longer"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of ``max_out_len=N``."""
        if isinstance(value, int):
            return value
        name, _, number = value.partition("=")
        if name != "max_out_len" or not number.isdecimal() or not int(number):
            self.fail(f"{value!r} is not max_out_len=N, such as max_out_len=8192", param, ctx)
        return int(number)


LONGER = _LongerType()

_OPTIONS = (
    click.option(
        "--max-requests",
        type=click.IntRange(1),
        metavar="N",
        help="Pause after so many requests of this session (exit code 4); -r resumes.",
    ),
    click.option(
        "--max-tokens-total", type=click.IntRange(1), metavar="N", help="Pause after so many tokens, in and out."
    ),
    click.option(
        "--max-cost",
        type=FiniteRange(0),
        metavar="X",
        help="Pause at this cost; every model needs a price in the config.",
    ),
)


def budget_options(command: Command) -> Command:
    """Add these options to a command; `read_budget` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_budget(max_requests: int | None, max_tokens_total: int | None, max_cost: float | None) -> Budget:
    """Return the limits that the options name."""
    from ais_prompt.types import Budget

    return Budget(max_requests, max_tokens_total, max_cost)


def budget_arguments(values: dict[str, Any]) -> list[str]:
    """Return the options as they were given, for a command to go on with."""
    given = ((name, values[name]) for name in BUDGET_OPTIONS if values[name] is not None)
    return [text for name, value in given for text in (f"--{name.replace('_', '-')}", str(value))]


def show_estimate(plan: Plan, *, by_task: bool) -> None:
    """Print what a run would ask, and which limits that reaches.

    Args:
        plan: of the run.
        by_task: a line for each task; else one for all tasks of served models. Prompts of local models may need their
            tokenizer, which takes longer than all the rest of a check.
    """
    from ais_prompt.engine import estimate, exceeded
    from ais_prompt.models import BatchModel
    from ais_prompt.report import estimate_lines, estimate_words
    from ais_prompt.utils import listed, printable
    from ais_prompt.verbs import task_estimates

    left_out = set() if by_task else {one.spec.abbr for one in plan.models if isinstance(one.model, BatchModel)}
    estimates = [estimate(task) for task in plan.tasks if task.spec.model.abbr not in left_out]
    offer(estimates=task_estimates(estimates))
    if by_task:
        for line in estimate_lines(estimates):
            hint(printable(line))
    elif estimates:
        without = f" (without {listed(sorted(left_out))}: see run --dry-run)" if left_out else ""
        hint(printable(f"A run asks {estimate_words(estimates)}{without}"))
    for limit in exceeded(plan.spec.budget, estimates):
        hint(f"Warning: {limit}: the run would be paused, and go on with -r")
