"""What a run would ask, before it asks: for ``check`` and ``run --dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ais_prompt.cli.verb import hint, offer

if TYPE_CHECKING:
    from ais_prompt.plan import Plan


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
