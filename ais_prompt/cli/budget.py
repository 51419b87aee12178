"""The options that limit how much a run asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ais_prompt.cli.output import hint, offer

if TYPE_CHECKING:
    from ais_prompt.plan.plan import Plan
    from ais_prompt.types import Budget

Command = TypeVar("Command", bound=Callable[..., Any])

BUDGET_OPTIONS = ("max_requests", "max_tokens_total", "max_cost")
"""The names of these options in a command."""
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
        type=click.FloatRange(0),
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
    from ais_prompt.engine.conversations import estimate, exceeded
    from ais_prompt.models.base import BatchModel
    from ais_prompt.report.documents import task_estimates
    from ais_prompt.report.spending import estimate_lines, estimate_words
    from ais_prompt.utils.text import listed, printable

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
