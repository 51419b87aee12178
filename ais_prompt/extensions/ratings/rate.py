"""Rate the models of a run."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from ais_prompt.extensions.ratings.fitted_ratings import RatedPair, Ratings, fit_ratings
from ais_prompt.extensions.ratings.stored_battles import LENGTH, STYLES, Battles, battles_of
from ais_prompt.store import RunFolder

Control: TypeAlias = Literal["length", "style"]
"""Covariates of answers: their length as in AlpacaEval, or length and Markdown as in Arena-Hard's style control."""


class DatasetRatings(Struct, frozen=True):
    """The ratings of the models on a dataset.

    Attributes:
        dataset: its ``abbr``.
        verdicts: how many verdicts there are.
        questions: about how many questions, or clusters of them.
        ratings: of the models.
    """

    dataset: str
    verdicts: int
    questions: int
    ratings: Ratings

    def neighbours(self) -> list[RatedPair]:
        """Return the pairs of models next to each other in the table, the best first."""
        names = [one.model for one in self.ratings.models]
        pairs = {(one.better, one.worse): one for one in self.ratings.pairs}
        return [pairs[both] for both in pairwise(names) if both in pairs]


def rate_run(
    folder: RunFolder, *, control: Control | None = None, anchor: str | None = None, ties_are_half: bool = False
) -> list[DatasetRatings]:
    """Return the ratings on each dataset of a run whose judge compared several models; none if it has no such dataset.

    Args:
        folder: of the run, which is scored.
        control: covariates of the answers; None for none.
        anchor: the model whose rating is 0.
        ties_are_half: count a tie as half a win, as the arenas do, instead of Davidson's model.

    Raises:
        AisPromptError: the run cannot be read.
    """
    return [_rated(one, control, anchor, ties_are_half) for one in battles_of(folder)]


def _rated(found: Battles, control: Control | None, anchor: str | None, ties_are_half: bool) -> DatasetRatings:
    battles = found.battles
    features: tuple[str, ...] = ()
    if control == "length":
        battles, features = found.with_length(), (LENGTH,)
    elif control == "style":
        battles, features = found.with_style(), STYLES
    ratings = fit_ratings(
        battles,
        features=features,
        ties="half" if ties_are_half else "davidson",
        anchor=anchor,
    )
    return DatasetRatings(found.dataset, len(battles), len({one.question for one in battles}), ratings)
