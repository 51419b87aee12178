"""The agreement of several judges as a score of the dataset."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ais_prompt.metrics.agreement import ALPHA, agreement
from ais_prompt.types import SampleScore, Score


def agreement_of_judges(judges: int, samples: Iterable[SampleScore], main: Score) -> Score:
    """Return Krippendorff's alpha of the votes: of numbers as interval data, of tags as categories.

    Args:
        judges: how many there are.
        samples: the scores of all samples, with the votes on each answer and each turn.
        main: the main score, whose counts this one has.
    """
    votes: list[list[str | float | None]] = []
    clusters: list[str] = []
    for sample in samples:
        for answer in sample.repeats or (sample,):
            for start in range(0, len(answer.verdicts), judges):
                votes.append([one.vote for one in answer.verdicts[start : start + judges]])
                clusters.append(sample.sample_id if sample.cluster is None else sample.cluster)
    numeric = all(isinstance(vote, float) for given in votes for vote in given if vote is not None)
    found = agreement(votes, "interval" if numeric else "nominal", clusters)
    return replace(
        main,
        metric=ALPHA,
        value=found.alpha,
        stderr=found.stderr,
        interval=found.interval,
        bounds=None,
        fraction=False,
        is_mean=False,
        questions=None,
        precision=None,
    )
