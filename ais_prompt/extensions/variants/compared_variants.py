"""The variants of each model and dataset of a run: their scores side by side, paired by question, and what they take.

A group is one model on one dataset with all its prompts and options. The best variant is compared with each other one;
as it was chosen among them, p-values and intervals are corrected for all pairs of variants: by the largest t statistic
where the score is a mean and there are at most `MOST_TOGETHER` variants, else by Bonferroni's inequality.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.comparison import Difference, ScoredTask, StoredRun, clusters_of, has_scores, score_difference
from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.variants.selection import exchanged, held_out, optimism
from ais_prompt.extensions.variants.variant_group import UNITS, Spent, Variant, VariantGroup
from ais_prompt.metrics import LEVEL, max_t
from ais_prompt.models import approximate_tokens
from ais_prompt.store import read_predictions
from ais_prompt.types import ChatMessage, Prompt

MOST_TOGETHER: Final = 20
"""Variants up to which all pairs are drawn together, which takes seconds for more."""


def variant_groups(run: StoredRun, holdout: float | None = None) -> list[VariantGroup]:
    """Return the groups of a run that have several variants, in the order of the config.

    Args:
        run: a run that is scored.
        holdout: the share of questions on which a variant is chosen; it is scored on the others. None holds out none.

    Raises:
        StoreError, DataError: results are missing or broken.
    """
    groups: dict[tuple[str, str], list[ScoredTask]] = {}
    for task in run.tasks:
        if task.is_scored and not task.spec.is_reference and has_scores(task):
            groups.setdefault((task.spec.model.base, task.spec.dataset.base), []).append(task)
    several = {key: tasks for key, tasks in groups.items() if len(tasks) > 1}
    found = [_group(*key, tasks, holdout) for key, tasks in several.items()]
    return _with_fronts(found)


def _group(model: str, dataset: str, tasks: Sequence[ScoredTask], holdout: float | None) -> VariantGroup:
    metric = tasks[0].metric
    lower = bool(metric.lower_is_better)
    group = VariantGroup(model, dataset, metric.metric, metric.fraction, lower, tuple(map(_variant, tasks)))
    try:
        return _compared(group, tasks, holdout)
    except AisPromptError as error:
        return replace(group, note=str(error))


def _variant(task: ScoredTask) -> Variant:
    score = task.metric
    low, high = score.interval or (None, None)
    return Variant(task.spec.variant, task.model, task.dataset, score.value, low, high, score.n, spent=spent_on(task))


def _compared(group: VariantGroup, tasks: Sequence[ScoredTask], holdout: float | None) -> VariantGroup:
    """Return a group with its best variant and what the others are behind it.

    Raises:
        DataError: the variants have no answered question in common, or different metrics.
    """
    sign = -1 if group.lower_is_better else 1
    known = [place for place, one in enumerate(group.variants) if one.score is not None]
    if len(known) < 2:
        return replace(group, note="fewer than two variants have a score")
    ids = [name for name in tasks[known[0]].values if all(name in tasks[place].values for place in known)]
    scores = sign * np.array([[tasks[place].values[name] for place in known] for name in ids])
    is_mean = all(tasks[place].corpus is None for place in known)
    means = scores.mean(axis=0) if ids and is_mean else [sign * (group.variants[place].score or 0) for place in known]
    best = known[int(np.argmax(means))]
    units = clusters_of(tasks[best], ids) or ids
    variants = list(group.variants)
    variants[best] = replace(variants[best], verdict="best")
    others = [place for place in known if place != best]
    differences = [score_difference(tasks[place], tasks[best]) for place in others]
    if ids and is_mean and len(known) <= MOST_TOGETHER:
        corrected = together(scores, units, known.index(best))
    else:
        corrected = [_bonferroni(found, len(known) * (len(known) - 1) // 2) for found in differences]
    for place, found, (p, interval) in zip(others, differences, corrected, strict=True):
        verdict = "worse" if p < LEVEL and found.gain > 0 else "unclear"
        variants[place] = replace(variants[place], behind=found.gain, interval=interval, p_adjusted=p, verdict=verdict)
    group = replace(group, variants=tuple(variants), best=best, common=len(ids))
    if not ids or not is_mean:
        return group
    held = None
    if holdout is not None:
        held = held_out(sign * scores, units, holdout, tasks[best].best, lower_is_better=group.lower_is_better)
        held = held and replace(held, chosen=known[held.chosen])
    questions = tuple((unit, tasks[best].values[name]) for unit, name in zip(units, ids, strict=True))
    return replace(group, questions=questions, optimism=optimism(scores, units), holdout=held)


def together(
    scores: NDArray[np.float64], units: Sequence[str], best: int
) -> list[tuple[float, tuple[float, float] | None]]:
    """Return p-value and interval of what each other variant is behind the best, corrected for all pairs.

    Of random signs and exchanged scores, the more careful answer counts.

    Args:
        scores: more is better; shape (questions, variants).
        units: the question, or its cluster, of each row.
        best: column of the best.
    """
    columns = range(scores.shape[1])
    pairs = [(best, other) for other in columns if other != best]
    rest = [pair for pair in combinations(columns, 2) if best not in pair]
    comparisons = [
        list(zip(units, (scores[:, one] - scores[:, other]).tolist(), strict=True)) for one, other in (*pairs, *rest)
    ]
    found, by_chance = max_t(comparisons), exchanged(scores, units, best)
    wider = max(1.0, by_chance.critical / found.critical)
    corrected: list[tuple[float, tuple[float, float] | None]] = []
    for (_, other), p, ends in zip(pairs, found.p_values, found.intervals, strict=False):
        if ends is not None:
            middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
            ends = middle - wider * half, middle + wider * half
        corrected.append((max(p, by_chance.p_values[other]), ends))
    return corrected


def _bonferroni(found: Difference, pairs: int) -> tuple[float, tuple[float, float] | None]:
    """Return p-value and interval of what a variant is behind the best, corrected for all pairs.

    Source: Dunn 1961, "Multiple Comparisons Among Means" (Bonferroni's inequality).
    """
    interval = found.interval_at(LEVEL / pairs)
    if interval is not None and found.lower_is_better:
        interval = -interval[1], -interval[0]
    return min(1.0, found.p * pairs), interval


def _with_fronts(groups: Sequence[VariantGroup]) -> list[VariantGroup]:
    """Return the groups with the Pareto fronts, over all variants and models of a dataset."""
    found = []
    for group in groups:
        others = [one for other in groups if other.dataset == group.dataset for one in other.variants]
        sign = -1 if group.lower_is_better else 1
        points = [(sign * one.score, one.spent) for one in others if one.score is not None]
        variants = [
            one if one.score is None else replace(one, front=on_front(sign * one.score, one.spent, points))
            for one in group.variants
        ]
        found.append(replace(group, variants=tuple(variants)))
    return found


def spent_on(task: ScoredTask) -> Spent:
    """Return what the answers of a task take, without those of a judge.

    Raises:
        StoreError, DataError: its predictions are missing or broken.
    """
    path = task.folder.predictions(task.model, task.dataset)
    questions, seconds, sent, received, thinking = 0, 0.0, 0, 0, 0
    has_thinking = estimated = False
    for prediction in read_predictions(path, with_prompts=False):
        questions += 1
        for one in prediction.completions:
            seconds += one.seconds
            usage = one.usage
            estimated |= one.failure is None and None in (usage.prompt_tokens, usage.completion_tokens)
            sent += usage.prompt_tokens or 0
            received += usage.completion_tokens or 0
            has_thinking |= usage.reasoning_tokens is not None
            thinking += usage.reasoning_tokens or 0
    if not questions:
        return Spent()
    if estimated:
        sent, received = _estimated_tokens(path)
    price = task.spec.model.price
    return Spent(
        tokens=(sent + received) / questions,
        thinking=thinking / questions if has_thinking else None,
        seconds=seconds / questions if seconds else None,
        cost=price.cost(sent, received) / questions if price else None,
        currency=price.currency if price else "",
        estimated=estimated,
    )


def _estimated_tokens(path: Path) -> tuple[int, int]:
    """Return the tokens of prompts and answers, estimated where they were not counted."""
    sent = received = 0
    for prediction in read_predictions(path):
        origin = prediction.origin_prompt
        is_single = isinstance(origin, str) or all(isinstance(one, ChatMessage) for one in origin)
        prompts = cast("tuple[Prompt, ...]", (origin,) if is_single else origin)
        for number, one in enumerate(prediction.completions):
            usage = one.usage
            if usage.prompt_tokens is not None:
                sent += usage.prompt_tokens
            elif one.failure is None:
                sent += approximate_tokens(prompts[min(number, len(prompts) - 1)])
            told = usage.completion_tokens
            received += approximate_tokens(one.reasoning + one.text) if told is None else told
    return sent, received


def on_front(score: float, spent: Spent, points: Sequence[tuple[float, Spent]]) -> tuple[str, ...]:
    """Return the units in which no point has as good a score for less, or a better score for as little.

    Args:
        score: more is better.
        spent: of the same point.
        points: score and spending of all points.
    """
    return tuple(
        unit
        for unit in UNITS
        if (amount := getattr(spent, unit)) is not None
        and not any(
            other >= score and taken <= amount and (other > score or taken < amount)
            for other, of_other in points
            if (taken := getattr(of_other, unit)) is not None
        )
    )
