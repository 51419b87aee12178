"""How often something went wrong while answers were examined."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.types import SampleScore, Score


def incident_shares(incidents: Sequence[str], scores: Sequence[SampleScore]) -> list[Score]:
    """The share of answers with each incident, 0 to 1; an incident that never happened is left out.

    Args:
        incidents: keys of the samples' ``values``, with 1 where it happened and 0 elsewhere.
        scores: one for each question.
    """
    # There is no right and wrong in it, so failed and unread answers have no bounds.
    shares = mean_scores(incidents, scores, best=None)
    return [replace(share, fraction=True) for share in shares if share.value]
