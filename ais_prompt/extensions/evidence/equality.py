"""Whether two sets of answers come from the same distribution: two-sample tests of texts and of numbers.

For each prompt the answers of one side are compared with those of the other by the maximum mean discrepancy (Gretton et
al. 2012, A Kernel Two-Sample Test), which is then added up over the prompts (Gao, Liang and Guestrin 2025, Model
Equality Testing). With one answer of each side to a prompt, the discrepancy of all answers is used, which sees only
what the answers to many prompts share. Numbers, such as lengths or whether a tool is called, are compared by their
means. If both sides are the same, chance decides which answer to a prompt belongs to which side: permutations of the
sides within each prompt give an exact test, whatever the answers look like.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.metrics import LEVEL, POWER

PERMUTATIONS: Final = 999
GRAMS: Final = (1, 2, 3, 4)
"""Lengths of the runs of characters that texts have in common (spectrum kernel, Leslie, Eskin and Noble 2002)."""
TRIALS: Final = 50
SHARES: Final = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Shares of foreign answers that `detectable_share` tries."""
_SEED: Final = 0
_EQUAL: Final = 1e-9
"""Distances below this are rounding."""
_STEPS: Final = 200
"""Shares that `detectable_shift` tries."""

Matrix = NDArray[np.float64]


def answer_kernel(texts: Sequence[str], prompts: int) -> Matrix:
    """Return how alike answers are: the Gaussian kernel of their distances by `text_kernel`, 1 for equal texts.

    Its width is the median distance of answers to one prompt, as Gretton et al. choose it.

    Args:
        texts: those to one prompt together, as many to each prompt.
        prompts: their number.
    """
    distances = np.maximum(1 - text_kernel(texts), 0.0)
    within = blocks(distances, prompts)
    apart = within[within > _EQUAL]
    found: Matrix = np.exp(-distances / (np.median(apart) if apart.size else 1.0))
    return found


def blocks(kernel: Matrix, prompts: int) -> Matrix:
    """Return the part of each prompt of a kernel over all answers (prompts × answers × answers)."""
    places = np.arange(len(kernel)).reshape(prompts, -1)
    found: Matrix = kernel[places[:, :, None], places[:, None, :]]
    return found


def text_kernel(texts: Sequence[str]) -> Matrix:
    """Return how alike texts are: 1 for equal texts, 0 for texts without a common character."""
    columns: dict[str, int] = {}
    rows, places, values = [], [], []
    for row, text in enumerate(texts):
        grams = Counter(text[at : at + size] for size in GRAMS for at in range(len(text) - size + 1)) or Counter([""])
        norm = math.sqrt(sum(count * count for count in grams.values()))
        for gram, count in grams.items():
            rows.append(row)
            places.append(columns.setdefault(gram, len(columns)))
            values.append(count / norm)
    kernel = np.zeros((len(texts), len(texts)))
    order = np.argsort(places, kind="stable")
    by_row, by_value = np.array(rows)[order], np.array(values)[order]
    ends = np.cumsum(np.bincount(places))
    start = 0
    for end in ends.tolist():
        if end - start > 1:  # most runs are in one text only
            members, weights = by_row[start:end], by_value[start:end]
            kernel[members[:, None], members] += weights[:, None] * weights
        start = end
    np.fill_diagonal(kernel, 1.0)
    return kernel


def number_kernel(values: Sequence[float], resolution: float) -> Matrix:
    """Return how alike numbers are, as the negative distance (energy distance, Székely and Rizzo 2013).

    Args:
        values: such as log-likelihoods.
        resolution: differences up to this are rounding.
    """
    numbers = np.asarray(values, np.float64)
    return -np.maximum(np.abs(numbers[:, None] - numbers[None, :]) - resolution, 0.0)


def discrepancy(kernels: Matrix, signs: Matrix) -> Matrix:
    """Return the discrepancy of each assignment, summed over the prompts.

    Args:
        kernels: of the answers to each prompt (prompts × answers × answers).
        signs: of each assignment: positive for one side and negative for the other, each side adding up to 1
            (assignments × prompts × answers).
    """
    found: Matrix = np.einsum("apn,pnm,apm->a", signs, kernels, signs, optimize=True)
    return found


def same_test(kernels: Matrix, first: int, seed: int = _SEED, permutations: int = PERMUTATIONS) -> float:
    """Return the p-value of the hypothesis that both sides are the same.

    Args:
        kernels: of the answers to each prompt (prompts × answers × answers), those of one side first.
        first: how many answers are of that side.
        permutations: their number.
    """
    prompts, answers = kernels.shape[:2]
    weights = np.concatenate([np.full(first, 1 / first), np.full(answers - first, -1 / (answers - first))])
    draw = np.random.default_rng(seed)
    orders = draw.random((permutations, prompts, answers)).argsort(axis=2)
    found = float(discrepancy(kernels, np.broadcast_to(weights, (1, prompts, answers)))[0])
    return _p_value(found, discrepancy(kernels, weights[orders]))


def paired_test(kernel: Matrix, permutations: int = PERMUTATIONS) -> float:
    """Return the p-value of the hypothesis that both sides are the same, each with one answer to a prompt.

    Args:
        kernel: of all answers, in pairs: the answer of the first side to a prompt, and that of the second.
        permutations: their number.
    """
    pairs = kernel[::2, ::2] - kernel[::2, 1::2] - kernel[1::2, ::2] + kernel[1::2, 1::2]
    found = float(pairs.sum())
    signs = np.random.default_rng(_SEED).choice([-1.0, 1.0], (permutations, len(pairs)))
    return _p_value(found, np.einsum("an,an->a", signs @ pairs, signs))


def shift_test(values: Matrix, first: int, permutations: int = PERMUTATIONS) -> float:
    """Return the p-value of the hypothesis that both sides are the same, by the difference of their means.

    Each prompt counts by its own mean, as strata do in the test of Mantel and Haenszel (1959).

    Args:
        values: of the answers to each prompt (prompts × answers), those of one side first; NaN where there is none.
        first: how many answers are of that side.
        permutations: their number.
    """
    known = ~np.isnan(values)
    means = np.where(known, values, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    apart = np.where(known, values - means[:, None], 0.0)
    draw = np.random.default_rng(_SEED)
    others = [abs(draw.permuted(apart, axis=1)[:, :first].sum()) for _ in range(permutations)]
    return _p_value(float(abs(apart[:, :first].sum())), np.array(others))


def detectable_shift(values: Matrix, first: int, level: float = LEVEL, *, of_share: bool = False) -> float | None:
    """Return the smallest difference of means that `shift_test` finds in 80 % of trials; None if it finds none.

    The sum over many prompts is taken as normal. The shares of the second side are shifted from the value that most
    answers have towards the other, which also changes how much they vary.

    Args:
        values, first: as in `shift_test`.
        level: of the test.
        of_share: the values are 0 or 1, and their mean is a share.
    """
    known = ~np.isnan(values)
    counts = known[:, :first].sum(axis=1), known[:, first:].sum(axis=1)
    both = counts[0] + counts[1]
    rows = (counts[0] > 0) & (counts[1] > 0)
    weights = (counts[0] * counts[1])[rows] / both[rows]
    if not weights.size:
        return None
    means = np.nanmean(values[rows], axis=1)
    variances = np.nanvar(values[rows], axis=1) * both[rows] / (both[rows] - 1)
    quantile = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(POWER)
    if not of_share:
        return float(quantile * math.sqrt((weights * variances).sum()) / weights.sum())
    target = float((weights * means).sum() / weights.sum() < 1 / 2)
    for step in range(1, _STEPS + 1):
        shifts = step / _STEPS * (target - means)
        pooled = shifts * counts[1][rows] / both[rows]
        shifted = variances + pooled * (1 - 2 * means) - pooled**2
        if abs((weights * shifts).sum()) >= quantile * math.sqrt(max((weights * shifted).sum(), 0.0)):
            return float(abs((weights * shifts).sum()) / weights.sum())
    return None


def _p_value(found: float, others: Matrix) -> float:
    # Sums in another order differ by rounding; equal assignments must count as equal.
    return float(1 + (others >= found - _EQUAL * max(abs(found), 1.0)).sum()) / (1 + len(others))


def detectable_share(kernel: Matrix, prompts: int, first: int, level: float = LEVEL) -> float | None:
    """Return the smallest share of foreign answers that the test finds in 80 % of trials; None if it finds none.

    In a trial, the answers of both sides are mixed and divided at random, and a share of one side is replaced by
    answers to other prompts.

    Args:
        kernel: of all answers to all prompts, those to one prompt together.
        prompts: their number, at least two.
        first: how many answers to each prompt are of the first side.
        level: of the test.
    """
    answers = len(kernel) // prompts
    second = answers - first
    draw = np.random.default_rng(_SEED)
    places = np.arange(prompts * answers).reshape(prompts, answers)
    for share in SHARES:
        found = 0
        for trial in range(TRIALS):
            mixed = draw.permuted(places, axis=1)
            foreign = draw.random((prompts, second)) < share
            others = (np.arange(prompts)[:, None] + draw.integers(1, prompts, (prompts, second))) % prompts
            theirs = places[others, draw.integers(0, answers, (prompts, second))]
            mixed[:, first:] = np.where(foreign, theirs, mixed[:, first:])
            kernels = kernel[mixed[:, :, None], mixed[:, None, :]]
            found += same_test(kernels, first, seed=trial, permutations=199) <= level
        if found >= POWER * TRIALS:
            return share
    return None
