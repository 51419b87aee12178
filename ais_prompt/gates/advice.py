"""Gates for later runs, from earlier runs of a model that has not changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, to_builtins

from ais_prompt.comparison import StoredRun
from ais_prompt.errors import ConfigError
from ais_prompt.gates.baseline import make_baseline, make_baselines
from ais_prompt.metrics import ENOUGH_RUNS, NIGHTS, Threshold, level_with_run_effect, threshold
from ais_prompt.scoring import value

_STEP: Final = 0.001
"""Limits of parts of 1 are rounded away from the mean to this."""


class Advice(Struct, frozen=True):
    """A gate for a dataset.

    Attributes:
        model, dataset, metric: what it is about.
        gate: to be given to ``--gate``; empty if no limit is worth it.
        questions: that all runs answered.
        found: the threshold behind it, before rounding.
        drop: the drop that it finds in 80 % of runs, after rounding; where less is better, the rise.
        metric_is_fraction: whether the values are parts of 1.
        lower_is_better: whether the gate is an upper limit.
    """

    model: str
    dataset: str
    metric: str
    gate: str
    questions: int
    found: Threshold
    drop: float
    metric_is_fraction: bool = True
    lower_is_better: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values: dict[str, Any] = to_builtins(self)
        return values


def advise_gates(runs: Sequence[StoredRun], alarms: float) -> list[Advice]:
    """Return a gate for each dataset.

    Args:
        runs: at least two runs of one config that are scored.
        alarms: how many false alarms all gates together may raise in a year of nights.

    Raises:
        ConfigError: there are too few runs or too many alarms, or the runs are no evidence, as in `make_baselines`.
        StoreError, DataError: as `make_baseline`.
    """
    if len(runs) < 2:
        raise ConfigError("one run does not show how much scores vary", where="--advise", fix="name at least two runs")
    if alarms >= NIGHTS / 2:
        what = f"{alarms:g} false alarms in {NIGHTS} nights is no limit"
        raise ConfigError(what, where="--alarms", fix="give a smaller number, such as 1")
    joint = make_baselines(runs)
    each = [make_baseline(run, by_row=joint.by_row) for run in runs]
    level = alarms / NIGHTS / max(len(joint.tasks), 1)
    advice = []
    for number, task in enumerate(joint.tasks):
        if task.sums:
            continue  # no mean of questions, such as BLEU
        columns = [[run.tasks[number].values[name] for name in task.values] for run in each]
        less = task.lower_is_better
        found = threshold(np.array(columns, np.float64).T, level, lower_is_better=less)
        limit = _rounded(found.limit, fraction=task.fraction, up=less)
        shown = f"{100 * limit:.1f}%" if task.fraction else f"{limit:.10g}"
        is_useful = not task.fraction or (limit < 1 if less else limit > 0)
        name = f"{task.model}/{task.dataset}"
        gate = f"{name}: {task.metric} {'<=' if less else '>='} {shown}" if is_useful else ""
        advice.append(
            Advice(
                model=task.model,
                dataset=task.dataset,
                metric=task.metric,
                gate=gate,
                questions=len(task.values),
                found=found,
                drop=found.drop + abs(found.limit - limit),
                metric_is_fraction=task.fraction,
                lower_is_better=less,
            )
        )
    return advice


def _rounded(limit: float, *, fraction: bool, up: bool) -> float:
    """Return a limit with few digits that is not nearer to the mean: three decimals of a fraction, else four digits."""
    step = _STEP if fraction else 10.0 ** (math.floor(math.log10(abs(limit))) - 3) if limit else 1.0
    return (math.ceil(limit / step - 1e-9) if up else math.floor(limit / step + 1e-9)) * step


def advice_lines(advice: Sequence[Advice], runs: int, alarms: float) -> Iterator[str]:
    """Yield the gates that earlier runs advise, and what to expect of them.

    Args:
        advice: of each dataset.
        runs: how many runs it rests on.
        alarms: that all gates together may raise in a year of nights, if nothing changes.
    """
    yield f"Gates after {runs} runs, for {alarms:g} false {'alarm' if alarms == 1 else 'alarms'} in {NIGHTS} nights:"
    for one in advice:
        found, fraction = one.found, one.metric_is_fraction
        shown = f"{value(found.mean, fraction=fraction)} ± {value(found.deviation, fraction=fraction)} from run to run"
        if not one.gate:
            yield f"  {one.model}/{one.dataset}: {shown}: no limit keeps to that; name more runs, or allow more alarms"
            continue
        yield f"  --gate '{one.gate}'"
        if found.deviation == 0:
            yield "      all answers are equal in these runs, so that every change shows"
            continue
        kind = "rise" if one.lower_is_better else "drop"
        yield f"      {shown}; a {kind} of {value(one.drop, fraction=fraction)} is found in 80 %"
        if found.varies_beyond:
            yield "      The scores vary more than single answers explain: something else changes between the runs."
    varying = [one.found.level for one in advice if one.gate and one.found.deviation and not one.found.varies_beyond]
    if runs < ENOUGH_RUNS and varying:
        nights = NIGHTS * math.fsum(map(level_with_run_effect, varying))
        yield (
            f"{runs} runs rarely show a run effect: what moves all scores of a run, such as another server, build or "
            f"day. If there is one as large as the noise of the answers, about {max(nights, 1):.0f} of {NIGHTS} nights "
            f"fail. Name {ENOUGH_RUNS} runs or more."
        )
    yield "Paired with a baseline, smaller drops are found: aisprompt baseline RUN… -o FILE, and run … --baseline FILE."
