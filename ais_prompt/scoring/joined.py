"""Join what several evaluators of a dataset found; of a single evaluator, everything stays as it is.

The metrics of the headline keep their names. A metric of another evaluator that a second one has too is called
``evaluator.metric``. So scores do not depend on the order of the evaluators, but for the headline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.evaluators import Evaluator, unread_value
from ais_prompt.types import SampleScore, Score


class ScoredByEvaluator(Struct, frozen=True):
    """What one evaluator of a dataset found about the answers of a model.

    Attributes:
        name: of the evaluator, if there are several; else empty.
        evaluator: it.
        scores: the main one first.
        samples: one for each question, in the order of the predictions.
        head: of the results file, without the details.
    """

    name: str
    evaluator: Evaluator
    scores: Sequence[Score]
    samples: Iterable[SampleScore]
    head: dict[str, Any]


def joined_scores(found: Sequence[ScoredByEvaluator]) -> list[Score]:
    """Return the scores of all evaluators, the headline first."""
    return [
        replace(score, metric=names.get(score.metric, score.metric), evaluator=one.name)
        for one, names in zip(found, _new_names(found), strict=True)
        for score in one.scores
    ]


def joined_samples(found: Sequence[ScoredByEvaluator]) -> Iterator[SampleScore]:
    """Yield the score of each question: that of the headline, with those of the further evaluators in it."""
    columns = map(_written, found, _new_names(found))
    for first, *others in zip(*columns, strict=True):
        further = {one.name: other for one, other in zip(found[1:], others, strict=True)}
        yield replace(first, further=further) if further else first


def joined_head(found: Sequence[ScoredByEvaluator]) -> dict[str, Any]:
    """Return the head of the results: that of the headline, and how programs of any evaluator were isolated."""
    isolation = [one.head["isolation"] for one in found if "isolation" in one.head]
    return {**found[0].head, **({"isolation": isolation[0]} if isolation else {})}


def _new_names(found: Sequence[ScoredByEvaluator]) -> list[Mapping[str, str]]:
    """Return metric → its name in the results, for each evaluator; metrics that keep their names are left out."""
    owners = Counter(score.metric for one in found for score in one.scores)
    return [
        {score.metric: f"{one.name}.{score.metric}" for score in one.scores if place and owners[score.metric] > 1}
        for place, one in enumerate(found)
    ]


def _written(found: ScoredByEvaluator, names: Mapping[str, str]) -> Iterator[SampleScore]:
    samples = (_read(sample, found.evaluator) for sample in found.samples)
    return (_renamed(sample, names) for sample in samples) if names else samples


def _renamed(sample: SampleScore, names: Mapping[str, str]) -> SampleScore:
    values = {names.get(metric, metric): value for metric, value in sample.values.items()}
    return replace(sample, values=values, repeats=tuple(_renamed(one, names) for one in sample.repeats))


def _read(sample: SampleScore, evaluator: Evaluator) -> SampleScore:
    """Return a sample with its values, where it was unread before the evaluator had named its metrics.

    Files leave out the values of an unread answer then, and mean 0, which is the best where less is better.
    """
    if sample.values or sample.status in ("scored", "failed"):
        return sample
    values = {metric: unread_value(evaluator, metric) for metric in evaluator.metrics}
    return replace(sample, values=values) if any(values.values()) else sample
