"""What ``compare`` prints with ``--json``; the page of a comparison shows it too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from msgspec import field
from msgspec.structs import asdict

from ais_prompt.comparison.compared_task import Comparison, Flip
from ais_prompt.comparison.difference_entry import DifferenceEntry, difference_json
from ais_prompt.comparison.differences import Difference, differences_together
from ais_prompt.comparison.paired_runs import RunComparison
from ais_prompt.comparison.printed import questions_of
from ais_prompt.types import Document, prompts_to_json


class CompareDocument(Document, kw_only=True):
    """What ``compare`` prints.

    Attributes:
        notes: what a reader must know first.
        comparisons: of each dataset that both runs have.
        means: of each model over all datasets, and over each group of the summary.
        together: with ``--together``, an interval for each dataset, which all hold together with 95 % confidence.
    """

    kind: Literal["compare"]
    notes: list[str] = field(default_factory=list)
    comparisons: list[ComparisonEntry] = field(default_factory=list)
    means: list[DifferenceEntry] = field(default_factory=list)
    together: list[TogetherEntry] = field(default_factory=list)


class TogetherEntry(TypedDict):
    """A difference among all of a comparison, corrected by max-T."""

    dataset: str
    model: str
    metric: str
    difference: float
    interval: tuple[float, float] | None
    p: float


class ComparisonEntry(TypedDict):
    """One dataset of two runs; scores as stored, not in percent. The page on `compare` explains the numbers."""

    dataset: str
    model: str
    metric: str
    fraction: bool
    lower_is_better: bool
    before: float
    after: float
    difference: float
    interval: tuple[float, float] | None
    n: int
    only_before: int
    only_after: int
    failed_before: int
    failed_after: int
    without_gold: int
    worse: int
    better: int
    both_right: int | None
    units: int
    p: float
    p_adjusted: float
    reported_difference: float
    undivided: str
    shares: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    flips: list[dict[str, Any]]


def comparison_json(found: RunComparison) -> dict[str, Any]:
    """Return everything as plain JSON values; scores as stored, not in percent."""
    return {
        "notes": list(found.notes),
        "comparisons": [_to_json(one) for one in found.comparisons],
        "means": [difference_json(one) for one in (*found.means, *found.further_means)],
    }


def together_json(found: Sequence[Difference]) -> list[TogetherEntry]:
    """Return the intervals of `differences_together` as plain JSON values."""
    return [
        TogetherEntry(
            dataset=one.dataset, model=one.model, metric=one.metric, difference=one.difference, interval=interval, p=p
        )
        for one, interval, p in differences_together(found)
    ]


def _to_json(one: Comparison) -> dict[str, Any]:
    made = {
        "n": one.common,
        "reported_difference": one.reported,
        "shares": [asdict(share) for share in one.shares],
        "changes": [asdict(change) for change in one.changes],
        "flips": [_flip_json(*pair) for pair in zip(one.flips, questions_of(one.flips), strict=True)],
    }
    return {name: made[name] if name in made else getattr(one, name) for name in ComparisonEntry.__annotations__}


def _flip_json(flip: Flip, question: str) -> dict[str, Any]:
    old, new = flip.predictions
    return {
        "id": flip.sample_id,
        "index": flip.index,
        "question": question,
        "before": flip.before,
        "after": flip.after,
        "same_prompt": flip.same_prompt,
        "gold": new.gold,
        "prompts": [prompts_to_json(old.origin_prompt), prompts_to_json(new.origin_prompt)],
        "answers": [old.prediction, new.prediction],
        "extracted": list(flip.extracted),
    }
