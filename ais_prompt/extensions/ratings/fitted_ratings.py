"""Ratings of several models by battles, with ranks as intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.ratings.bradley_terry import (
    POSITION,
    WEAK_PRIOR,
    Array,
    Battle,
    Design,
    Fit,
    Ridge,
    Ties,
    design_of,
    fit_model,
    reached,
    resampled,
    weights_of,
)
from ais_prompt.metrics import LEVEL, Z, critical_of, t_quantile

RATING_RESAMPLES: Final = 500
_MOST_BATTLES: Final = 100_000
_NORMAL: Final = NormalDist()


class RatedModel(Struct, frozen=True):
    """The rating of a model.

    Attributes:
        model: its name.
        rating: log odds of a win against a model with rating 0: the mean of all models, or the anchor.
        stderr, interval: of the rating, with 95 % confidence; None if unknown.
        best_rank, worst_rank: the rank is between them, 1 being the best; all ranks hold together in 95 % of cases.
        win_rate: predicted mean points against each of the other models, covariates being equal.
        battles: in which it was.
    """

    model: str
    rating: float
    stderr: float | None
    interval: tuple[float, float] | None
    best_rank: int
    worst_rank: int
    win_rate: float
    battles: int


class RatedPair(Struct, frozen=True):
    """Two models, the better one first.

    Attributes:
        better, worse: names of the models.
        wins, ties, losses: of ``better``, in battles of the two.
        win_rate: predicted points of ``better``, covariates being equal.
        interval: of ``win_rate``; those of all pairs hold together in 95 % of cases. None if unknown.
        is_separated: whether the interval leaves out 0.5.
        battles_to_separate: about how many more battles of the two would do that; None for more than 100,000, and if
            they are separated.
    """

    better: str
    worse: str
    wins: float
    ties: int
    losses: float
    win_rate: float
    interval: tuple[float, float] | None
    is_separated: bool
    battles_to_separate: int | None = None


class RatedEffect(Struct, frozen=True):
    """What a covariate adds to the log odds of a win, and its 95 % interval; None if it cannot be estimated."""

    name: str
    value: float | None
    interval: tuple[float, float] | None = None


class Ratings(Struct, frozen=True):
    """Ratings of models.

    Attributes:
        models: the best first.
        pairs: of all models.
        effects: of the covariates.
        tie: the tie parameter of Davidson, 0 if there are no ties of their own.
        notes: what limits the ratings: models that won everything, models that were never compared.
    """

    models: tuple[RatedModel, ...]
    pairs: tuple[RatedPair, ...]
    effects: tuple[RatedEffect, ...]
    tie: float
    notes: tuple[str, ...]


def elo(rating: float) -> float:
    """Return a rating in log odds on the scale of Elo: 0 is 1000, and 400 points are odds of ten to one."""
    return 1000.0 + rating * 400 / math.log(10)


def rate_battles(battles: Iterable[tuple[Any, ...]], **options: Any) -> Ratings:
    """Take the step ``rate``: battles are plain tuples there, with the fields of `Battle`."""
    return fit_ratings([Battle(*one) for one in battles], **options)


def fit_ratings(
    battles: Sequence[Battle],
    *,
    features: Sequence[str] = (),
    position: bool = True,
    ties: Ties = "davidson",
    anchor: str | None = None,
    ridge: Ridge = (0.0, 0.0),
    resamples: int = RATING_RESAMPLES,
) -> Ratings:
    """Rate models by the Bradley-Terry model, by maximum likelihood.

    With the ratings r, the coefficients b of the covariates x and the effect p of the first position, let
    ``d = r[first] - r[second] + p + b · x``. The probabilities of a win, a loss and a tie are proportional to
    ``exp(d / 2)``, ``exp(-d / 2)`` and the tie parameter. With ``ties="half"`` there is no tie parameter, and a tie
    counts as half a win and half a loss, as in Chatbot Arena, Arena-Hard and OpenCompass.

    The likelihood has a maximum only if no group of models won all battles against the rest (Ford 1957), and no
    covariate decides all battles. Else all parameters get a weak normal prior, and a note names the models. Models that
    were never compared, not even through others, are noted too, and are never separated.

    Standard errors are those of a bootstrap over questions: all battles about a question are drawn together, and the
    model is fitted again. Intervals have the quantile of Student's t for the number of questions. Ranks are from the
    differences of all pairs, with max-T intervals that hold together: a model is at best behind all that are better,
    and at worst before all that are worse.

    Sources: Bradley and Terry 1952, "Rank Analysis of Incomplete Block Designs"; Davidson 1970, "On Extending the
    Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments"; Davidson and Beaver 1977, "On Extending
    the Bradley-Terry Model to Incorporate Within-Pair Order Effects"; Ford 1957, "Solution of a Ranking Problem from
    Binary Comparisons"; Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks with Applications to Mobility
    across Neighbourhoods and Academic Achievement across Countries".

    Args:
        battles: at least one.
        features: names of the ``features`` of the battles, such as ``length``.
        position: whether the first position has an effect.
        ties: what a tie is; points other than 0, 0.5 and 1 need ``half``.
        anchor: the model whose rating is 0; None makes their mean 0.
        ridge: precision of a normal prior around 0 of ratings and of coefficients.
        resamples: of the bootstrap; 0 for none.

    Raises:
        ValueError: there is no battle, the features of a battle have another number, or ``davidson`` with other points.
    """
    design = design_of(battles, features, position, ties, has_prior=ridge[1] > 0)
    everything = weights_of(design, np.ones(len(battles)))
    fit = fit_model(design, everything, ridge)
    draws = resampled(design, fit, ridge, resamples)
    return _Summary(design, fit, draws, anchor).ratings(battles, features, position)


class _Summary:
    """Makes ratings of a fit and its resamples."""

    def __init__(self, design: Design, fit: Fit, draws: Array | None, anchor: str | None) -> None:
        self._design = design
        self._fit = fit
        self._models = len(design.models)
        zero = np.zeros(self._models)
        if anchor in design.models:
            zero[design.models.index(anchor)] = 1
        else:
            zero[:] = 1 / self._models
        self._from_zero = np.eye(self._models) - zero
        self._draws = draws
        # The standard errors are from so many questions: Student's t, as for a mean of clusters.
        self._t = t_quantile(1 - LEVEL / 2, design.questions - 1) if design.questions > 1 else math.nan

    def ratings(self, battles: Sequence[Battle], features: Sequence[str], position: bool) -> Ratings:
        """Return all that is known."""
        design, ratings = self._design, self._from_zero @ self._fit.values[: self._models]
        pairs = self._pairs(battles)
        errors = self._errors(self._of_models(self._from_zero))
        beaten = {name: sum(one.worse == name and one.is_separated for one in pairs) for name in design.models}
        beats = {name: sum(one.better == name and one.is_separated for one in pairs) for name in design.models}
        count = {name: sum(name in (one.first, one.second) for one in battles) for name in design.models}
        rates = [
            float(
                np.mean([self._points(ratings[place] - other) for rival, other in enumerate(ratings) if rival != place])
            )
            for place in range(self._models)
        ]
        rated = [
            RatedModel(
                name,
                float(ratings[place]),
                None if errors is None else float(errors[place]),
                None if errors is None else _around(ratings[place], self._t * errors[place]),
                1 + beaten[name],
                self._models - beats[name],
                rates[place],
                count[name],
            )
            for place, name in enumerate(design.models)
        ]
        rated.sort(key=lambda one: (-one.rating, one.model))
        effects = [self._effect(name) for name in [*([POSITION] if position else []), *features]]
        return Ratings(
            tuple(rated), tuple(pairs), tuple(effects), math.exp(self._fit.log_tie), tuple(self._notes(effects))
        )

    def _of_models(self, contrasts: Array) -> Array:
        """Return linear combinations of the ratings as those of all values; shape (combinations, values)."""
        return np.pad(contrasts, ((0, 0), (0, len(self._design.effects))))

    def _errors(self, contrasts: Array) -> Array | None:
        """Return the standard errors of linear combinations of the values; None if unknown."""
        if self._draws is None:
            return None
        errors: Array = (self._draws @ contrasts.T).std(axis=0, ddof=1)
        if not self._fit.is_finite:
            # Perfect records do not vary from resample to resample: the error is at least that of the likelihood, where
            # each question counts once however often the two models met on it.
            errors = np.maximum(errors, self._errors_of_likelihood(contrasts))
        return errors

    def _errors_of_likelihood(self, contrasts: Array) -> Array:
        design = self._design
        pair_of = np.unique(np.abs(design.matrix[:, : self._models]), axis=0, return_inverse=True)[1].ravel()
        met = np.column_stack([pair_of[design.row_of], design.question_of])
        _, places, sizes = np.unique(met, axis=0, return_inverse=True, return_counts=True)
        once = weights_of(design, 1 / sizes[places.ravel()])
        fit = fit_model(design, once, (WEAK_PRIOR, WEAK_PRIOR))
        errors: Array = np.sqrt(np.einsum("ij,jk,ik->i", contrasts, fit.covariance(), contrasts))
        return errors

    def _pairs(self, battles: Sequence[Battle]) -> list[RatedPair]:
        names, values = self._design.models, self._fit.values[: self._models]
        order = sorted(range(self._models), key=lambda place: (-values[place], names[place]))
        both = [(high, low) for rank, high in enumerate(order) for low in order[rank + 1 :]]
        if not both:
            return []
        contrasts = np.zeros((len(both), self._models))
        for row, (high, low) in enumerate(both):
            contrasts[row, high], contrasts[row, low] = 1, -1
        gaps, errors = contrasts @ values, self._errors(self._of_models(contrasts))
        connected = self._connected()
        critical = self._critical(contrasts, gaps, errors, [bool(connected[pair]) for pair in both])
        records = records_of(battles)
        independent = self._fit.covariance()[: self._models, : self._models]
        pairs = []
        for row, (high, low) in enumerate(both):
            wins, ties, losses = records.get((names[high], names[low]), (0.0, 0, 0.0))
            reach = None if errors is None or not connected[high, low] else critical * errors[row]
            ends = None if reach is None else _around(gaps[row], reach)
            separated = ends is not None and ends[0] > 0
            further = None
            if ends is not None and errors is not None and not separated:
                plain = float(contrasts[row] @ independent @ contrasts[row])
                further = self._further(float(gaps[row]), float(errors[row]), plain, critical)
            pairs.append(
                RatedPair(
                    names[high],
                    names[low],
                    wins,
                    ties,
                    losses,
                    self._points(gaps[row]),
                    None if ends is None else (self._points(ends[0]), self._points(ends[1])),
                    separated,
                    further,
                )
            )
        return pairs

    def _critical(self, contrasts: Array, gaps: Array, errors: Array | None, connected: list[bool]) -> float:
        """Return how many standard errors the intervals of all pairs reach."""
        if self._draws is None or errors is None:
            return math.nan
        known = np.array(connected) & (errors > 0)
        if not known.any():
            return self._t
        drawn = self._draws[:, : self._models] @ contrasts[known].T - gaps[known]
        # The draws are divided by one standard error, so they are about normal; this error varies as in Student's t.
        tail = max(1e-9, 1 - _NORMAL.cdf(max(Z, critical_of(np.abs(drawn) / errors[known]))))
        return t_quantile(1 - tail, self._design.questions - 1)

    def _further(self, gap: float, error: float, plain: float, critical: float) -> int | None:
        """Return how many battles of two models would separate them, if their difference remains.

        Each adds to the precision of the difference; battles about a question are not independent, which the ratio of
        the two variances says.

        Args:
            gap: difference of the ratings.
            error: its standard error.
            plain: its variance if all battles were independent.
            critical: how many standard errors an interval reaches.
        """
        if gap <= 0 or error <= 0:
            return None
        first, second = self._chances(gap)
        each = (first + second - (first - second) ** 2) / 4 / max(1.0, error**2 / plain)
        needed = math.ceil(((critical / gap) ** 2 - 1 / error**2) / each)
        return needed if 0 < needed <= _MOST_BATTLES else None

    def _effect(self, name: str) -> RatedEffect:
        if name not in self._design.effects:
            return RatedEffect(name, None)
        place = self._models + self._design.effects.index(name)
        value = float(self._fit.values[place])
        errors = self._errors(np.eye(len(self._fit.values))[[place]])
        return RatedEffect(name, value, None if errors is None else _around(value, self._t * errors[0]))

    def _chances(self, gap: float) -> tuple[float, float]:
        """Return the probabilities of a win and of a loss."""
        win, loss = math.exp(gap / 2), math.exp(-gap / 2)
        total = win + loss + math.exp(self._fit.log_tie)
        return win / total, loss / total

    def _points(self, gap: float) -> float:
        win, loss = self._chances(float(gap))
        return win + (1 - win - loss) / 2

    def _connected(self) -> NDArray[np.bool_]:
        """Return which models were compared, directly or through others."""
        table = self._design.matrix[:, : self._models]
        met = (np.abs(table.T) @ np.abs(table)) > 0
        for _ in range(self._models.bit_length()):
            met = met @ met
        return met

    def _notes(self, effects: Sequence[RatedEffect]) -> list[str]:
        design, notes = self._design, []
        connected = self._connected()
        parts = sorted({tuple(np.flatnonzero(row).tolist()) for row in connected})
        if len(parts) > 1:
            listed = "; ".join(", ".join(design.models[place] for place in part) for part in parts)
            notes.append(f"never compared, so their ratings have no common scale: {listed}")
        chain = reached(design, weights_of(design, np.ones(len(design.row_of))))
        for part in parts:
            for group in sorted({tuple(np.flatnonzero(chain[at] & chain[:, at]).tolist()) for at in part}):
                others = [place for place in part if place not in group]
                names = ", ".join(design.models[place] for place in group)
                if others and not chain[np.ix_(others, group)].any():
                    notes.append(f"won every battle against the others: {names}; the rating has no upper limit")
                elif others and not chain[np.ix_(group, others)].any():
                    notes.append(f"lost every battle against the others: {names}; the rating has no lower limit")
        if not self._fit.is_finite:
            notes.append("the likelihood has no maximum: ratings are those with a weak prior, and depend on it")
        notes += [
            f"{one.name}: the battles do not tell its effect from ratings" for one in effects if one.value is None
        ]
        if self._draws is None:
            notes.append("no intervals: they need battles about two questions")
        return notes


def _around(value: float, half: float) -> tuple[float, float]:
    return float(value - half), float(value + half)


def records_of(battles: Sequence[Battle]) -> dict[tuple[str, str], tuple[float, int, float]]:
    """Return wins, ties and losses of each model against each other one."""
    records: dict[tuple[str, str], tuple[float, int, float]] = {}
    for one in battles:
        for own, other, points in ((one.first, one.second, one.points), (one.second, one.first, 1 - one.points)):
            wins, ties, losses = records.get((own, other), (0.0, 0, 0.0))
            tie = points == 0.5
            won, lost = (0.0, 0.0) if tie else (points, 1 - points)
            records[own, other] = (wins + won, ties + tie, losses + lost)
    return records
