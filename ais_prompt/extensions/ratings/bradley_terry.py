"""The Bradley-Terry model of battles with ties and covariates, by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics import SEED

Ties: TypeAlias = Literal["davidson", "half"]
"""What a tie is: an outcome with a probability of its own, or half a win and half a loss."""
Ridge: TypeAlias = tuple[float, float]
"""Precision of a normal prior around 0, of ratings and of coefficients."""

POSITION: Final = "first position"
"""Name of the effect of being shown first."""
WEAK_PRIOR: Final = 0.1
"""Precision of the prior where the likelihood has no maximum: a standard deviation of about 3 in log odds."""
_STEPS: Final = 60
_FARTHEST: Final = 30.0
"""Log odds beyond which a maximum is taken to be infinite."""

Array: TypeAlias = NDArray[np.float64]


class Battle(Struct, frozen=True):
    """A comparison of two answers to a question.

    Attributes:
        first, second: the models, in the order in which a judge saw their answers.
        points: of ``first``: 1 for a win, 0.5 for a tie, 0 for a loss.
        question: the battles about a question are drawn together.
        features: covariates, each that of ``first`` less that of ``second``.
    """

    first: str
    second: str
    points: float
    question: str
    features: tuple[float, ...] = ()


class Design(NamedTuple):
    """The battles as numbers. Equal battles are a row.

    Attributes:
        models: their names.
        effects: names of covariates that can be estimated.
        matrix: models, then covariates: first less second; shape (rows, models + effects).
        points: of the first; shape (rows,).
        own_ties: whether ties have a parameter of their own.
        row_of, question_of: row and question of each battle.
        questions: how many there are.
    """

    models: list[str]
    effects: list[str]
    matrix: Array
    points: Array
    own_ties: bool
    row_of: NDArray[np.intp]
    question_of: NDArray[np.intp]
    questions: int


def design_of(
    battles: Sequence[Battle], features: Sequence[str], position: bool, ties: Ties, *, has_prior: bool = False
) -> Design:
    """Return the design of battles.

    Args:
        battles: at least one.
        features: names of those of the battles.
        position, ties: as for `fit_ratings`.
        has_prior: whether coefficients have a prior, by which any can be estimated.

    Raises:
        ValueError: as `fit_ratings`.
    """
    if not battles:
        raise ValueError("there are no battles to rate models by")
    if any(len(one.features) != len(features) for one in battles):
        raise ValueError(f"each battle needs {len(features)} features: {', '.join(features)}")
    if ties == "davidson" and any(one.points not in (0.0, 0.5, 1.0) for one in battles):
        raise ValueError("points other than 0, 0.5 and 1 need ties='half'")
    models = sorted({name for one in battles for name in (one.first, one.second)})
    number = {name: place for place, name in enumerate(models)}
    table = np.zeros((len(battles), len(models)))
    places = np.arange(len(battles))
    table[places, [number[one.first] for one in battles]] += 1
    table[places, [number[one.second] for one in battles]] -= 1
    effects = []
    columns = {POSITION: np.ones(len(battles))} if position else {}
    columns |= {name: np.array([one.features[place] for one in battles]) for place, name in enumerate(features)}
    for name, column in columns.items():
        wider = np.column_stack([table, column])
        # A covariate that the models determine, such as the position of a model that is always first, has no effect
        # of its own.
        if has_prior or np.linalg.matrix_rank(wider) > np.linalg.matrix_rank(table):
            table = wider
            effects.append(name)
    points = np.array([one.points for one in battles], float)
    rows, row_of = np.unique(np.column_stack([table, points]), axis=0, return_inverse=True)
    questions, question_of = np.unique([one.question for one in battles], return_inverse=True)
    return Design(
        models, effects, rows[:, :-1], rows[:, -1], ties == "davidson", row_of.ravel(), question_of, len(questions)
    )


def weights_of(design: Design, weights: Array) -> Array:
    """Return the weight of each row, from those of the battles."""
    found: Array = np.bincount(design.row_of, weights=weights, minlength=len(design.matrix)).astype(np.float64)
    return found


class Fit(NamedTuple):
    """Parameters at the maximum.

    Attributes:
        values: ratings, which sum to 0, and coefficients.
        log_tie: logarithm of the tie parameter; minus infinity without ties of their own.
        information: negative second derivatives of the log-likelihood, prior included: of ``values``, then of
            ``log_tie`` if it is finite.
        is_finite: whether the likelihood has a maximum; else the weak prior is in it.
    """

    values: Array
    log_tie: float
    information: Array
    is_finite: bool

    def covariance(self) -> Array:
        """Return the covariance of ``values`` if all battles were independent."""
        inverse: Array = np.linalg.pinv(self.information).astype(np.float64)
        return inverse[: len(self.values), : len(self.values)]


def fit_model(design: Design, weights: Array, ridge: Ridge, start: Fit | None = None) -> Fit:
    """Return the parameters with the highest likelihood; with the weak prior if it has no maximum.

    Args:
        weights: of the rows of the design.
        start: parameters near the result.
    """
    prior = np.array([ridge[0]] * len(design.models) + [ridge[1]] * len(design.effects), np.float64)
    if ridge[0] or reached(design, weights).all():
        found = _maximum(design, weights, prior, start)
        if found is not None:
            return found
    found = _maximum(design, weights, np.maximum(prior, WEAK_PRIOR), None)
    assert found is not None  # the prior makes the likelihood strictly concave
    return found._replace(is_finite=False)


def _maximum(design: Design, weights: Array, prior: Array, start: Fit | None) -> Fit | None:
    """Return the maximum of the penalized likelihood by Newton's method; None if there is none."""
    matrix, points = design.matrix, design.points
    models, columns = len(design.models), matrix.shape[1]
    tied = float(weights[points == 0.5].sum())
    own_ties = design.own_ties and 0 < tied < weights.sum()
    size = columns + own_ties  # the tie parameter is the last value
    value = np.zeros(size)
    if start is not None:
        value[:columns] = start.values
        if own_ties:
            value[columns:] = start.log_tie
    penalty = np.append(prior, np.zeros(size - columns))
    together = np.zeros((size, size))
    together[:models, :models] = 1.0  # ratings sum to 0: only differences have a likelihood

    def derivatives(at: Array) -> tuple[float, Array, Array]:
        gap = matrix @ at[:columns]
        log_tie = at[columns] if own_ties else -np.inf
        total = np.logaddexp(np.logaddexp(gap / 2, -gap / 2), log_tie)
        first, second, tie = np.exp(gap / 2 - total), np.exp(-gap / 2 - total), np.exp(log_tie - total)
        lead = first - second
        height = weights @ ((points - 0.5) * gap - total) + (tied * log_tie if own_ties else 0.0)
        slope = np.zeros(size)
        slope[:columns] = matrix.T @ (weights * (points - 0.5 - lead / 2))
        curve = np.zeros((size, size))
        curve[:columns, :columns] = matrix.T @ (matrix * (weights * (first + second - lead**2) / 4)[:, None])
        if own_ties:
            slope[columns] = tied - weights @ tie
            curve[columns, columns] = weights @ (tie * (1 - tie))
            curve[:columns, columns] = curve[columns, :columns] = matrix.T @ (-weights * lead * tie / 2)
        centre = together @ at
        height -= (penalty @ at**2 + at @ centre) / 2
        return float(height), slope - penalty * at - centre, curve + np.diag(penalty) + together

    height, slope, curve = derivatives(value)
    for _ in range(_STEPS):
        try:
            step = np.linalg.solve(curve, slope)
        except np.linalg.LinAlgError:
            return None
        if np.abs(step).max() < 1e-9:
            log_tie = float(value[columns]) if own_ties else -math.inf
            return Fit(value[:columns], log_tie, curve - together, True)
        share = 1.0
        while True:
            after = derivatives(value + share * step)
            if after[0] >= height - 1e-9 * abs(height) or share < 1e-6:
                break
            share /= 2
        value = value + share * step
        height, slope, curve = after
        if np.abs(value).max() > _FARTHEST:
            return None
    return None


def reached(design: Design, weights: Array) -> NDArray[np.bool_]:
    """Return whether a chain of points leads from a model to another one; shape (models, models)."""
    size = len(design.models)
    table = design.matrix[:, :size]
    met = weights > 0
    firsts, seconds = table.argmax(axis=1), table.argmin(axis=1)
    chain = np.eye(size, dtype=bool)
    took = met & (design.points > 0)
    chain[firsts[took], seconds[took]] = True
    lost = met & (design.points < 1)
    chain[seconds[lost], firsts[lost]] = True
    for _ in range(size.bit_length()):
        chain = chain @ chain
    return chain


def resampled(design: Design, fit: Fit, ridge: Ridge, resamples: int) -> Array | None:
    """Return the values of each resample of the questions; None if there are fewer than two questions."""
    if design.questions < 2 or not resamples:
        return None
    draw = np.random.default_rng(SEED)
    found = []
    for _ in range(resamples):
        drawn = draw.integers(design.questions, size=design.questions)
        counts = np.bincount(drawn, minlength=design.questions).astype(np.float64)
        found.append(fit_model(design, weights_of(design, counts[design.question_of]), ridge, fit).values)
    return np.array(found)
