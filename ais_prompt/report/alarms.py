"""How many false alarms a year of nightly runs against a baseline may give, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.metrics.alarms import NIGHTS, alarms_per_year
from ais_prompt.store.baseline_file import BaselineTask


def alarm_words(tasks: Sequence[BaselineTask], runs: int) -> str:
    """Return what to expect of a baseline.

    Args:
        tasks: its datasets.
        runs: how many runs it was made of.
    """
    varying = len(tasks) if runs == 1 else sum(bool(task.noise) for task in tasks)
    if not varying:
        return f"False alarms: none expected, since every value is the same in all {runs} runs."
    mean, unlucky = alarms_per_year(varying, runs)
    lines = [
        "False alarms" + (", if answers vary from run to run:" if runs == 1 else ":"),
        f"  up to {mean:.0f} of {NIGHTS} nights, on average over all such baselines",
        f"  {unlucky:.0f} or more with one such baseline in ten",
    ]
    if runs == 1:
        lines.append("A baseline of several runs shows whether answers vary, and has less noise of its own.")
    else:
        lines.append(f"Values vary between the {runs} runs in {varying} of {len(tasks)} datasets.")
    return "\n".join([*lines, "With --level 0.0027 about one night a year fails without a drop."])
