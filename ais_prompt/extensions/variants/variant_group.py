"""The variants of a model on a dataset, as values: what is shown, stored and printed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.types import title_of

UNITS: Final = ("tokens", "thinking", "seconds", "cost")
"""What an answer takes, in the order in which it is shown."""


class Spent(Struct, frozen=True):
    """What the answer to a question takes on average; None where it is not known.

    Attributes:
        tokens: of prompt and answer, thinking included.
        thinking: tokens of the reasoning, as the server counts them.
        seconds: from sending a request to the end of its answer, of all requests of the question.
        cost: in ``currency``, for a model with a price.
        estimated: whether tokens are estimates, because neither server nor tokenizer counted them.
    """

    tokens: float | None = None
    thinking: float | None = None
    seconds: float | None = None
    cost: float | None = None
    currency: str = ""
    estimated: bool = False


class Holdout(Struct, frozen=True):
    """A choice, and its score on questions that had no part in it.

    Attributes:
        chosen: place of the variant that is best on the questions of the choice.
        on: number of these questions.
        score, ci95_low, ci95_high: of the chosen variant on the others.
        n: number of the others.
        questions: each of the others, or its cluster, with the value of the chosen variant; empty in documents.
    """

    chosen: int
    on: int
    score: float
    ci95_low: float
    ci95_high: float
    n: int
    questions: tuple[tuple[str, float], ...] = ()


class Variant(Struct, frozen=True):
    """One variant with its score.

    Attributes:
        settings: what distinguishes it: ``prompt`` and options.
        model, dataset: the ``abbr`` of each, which name its files.
        score, ci95_low, ci95_high: as in the summary; None where there is none.
        n: answers requested.
        behind: by how much the best variant is better, on the questions that both have answered; None for the best.
        interval: of ``behind``; all intervals of a group hold together in 95 % of cases. None if unknown.
        p_adjusted: p-value of ``behind``, corrected for all pairs of variants.
        verdict: ``best``; ``worse`` than the best; ``unclear`` if the difference may be chance.
        spent: what an answer takes on average.
        front: in which units (``tokens``, ``thinking``, ``seconds``, ``cost``) no variant of the dataset has a better
            score for as little.
    """

    settings: Mapping[str, Any]
    model: str
    dataset: str
    score: float | None
    ci95_low: float | None
    ci95_high: float | None
    n: int
    behind: float | None = None
    interval: tuple[float, float] | None = None
    p_adjusted: float | None = None
    verdict: str = "unclear"
    spent: Spent = Spent()
    front: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its settings in words: ``short, ice_num=2``."""
        return title_of(self.settings)


class VariantGroup(Struct, frozen=True):
    """One model on one dataset, with all its variants.

    Attributes:
        model, dataset: the names that the variants share.
        metric: the main metric, and whether its values are parts of 1 (``fraction``) of which less is better.
        variants: in the order of the config.
        best: place of the best; None if fewer than two have scores.
        common: questions that all have answered.
        optimism: by how much the score of the best is too high because it is the best, in the unit of the score; None
            if it is not known.
        holdout: the choice on some questions and its score on the others; None if nothing was held out.
        note: why variants cannot be compared; empty if they can.
        questions: each common question, or its cluster, with the value of the best variant; empty in documents.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    lower_is_better: bool
    variants: tuple[Variant, ...]
    best: int | None = None
    common: int = 0
    optimism: float | None = None
    holdout: Holdout | None = None
    note: str = ""
    questions: tuple[tuple[str, float], ...] = ()


class VariantsField(Struct):
    """What documents have of variants.

    Attributes:
        variants: the prompts and options of each model and dataset, if there are several.
    """

    variants: list[VariantGroup] = field(default_factory=list)


def without_questions(groups: Sequence[VariantGroup]) -> list[VariantGroup]:
    """Return the groups without their questions, which a document does not have."""
    return [replace(one, questions=(), holdout=one.holdout and replace(one.holdout, questions=())) for one in groups]
