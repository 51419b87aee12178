"""Compare the score of spoiled questions with chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ais_prompt.metrics import low_end
from ais_prompt.scoring.rows import percent
from ais_prompt.types import ControlSpec, SampleScore, Score
from ais_prompt.utils import canonical, listed

CONFIDENCE: Final = 0.95


def control_finding(control: ControlSpec, score: Score, samples: Iterable[SampleScore]) -> tuple[str, bool]:
    """Return what a control shows, and whether the data can be answered without what was spoiled.

    Chance is the share of the most frequent gold: what an answer gets that is always the same.

    Args:
        control: how the questions were spoiled.
        score: the main score.
        samples: all of them.
    """
    how = f"control {control.type} ({listed(control.columns)})"
    if control.type == "shuffle":
        return (
            f"{how}: the options have another order; `aisprompt compare` with the ordinary run shows what it does",
            False,
        )
    answered = [sample for sample in samples if sample.status != "failed"]
    if not answered or not score.is_mean or score.value is None:
        return f"{how}: {score.metric} is no mean, so that chance is not known", False
    chance = Counter(canonical(sample.gold) for sample in answered).most_common(1)[0][1] / len(answered)
    low = low_end([(one.cluster or one.sample_id, one.values.get(score.metric, 0.0)) for one in answered], CONFIDENCE)
    found = f"{how}: {score.metric} {percent(score.value)}; the most frequent gold alone gets {percent(chance)}"
    if low is None or low <= chance:
        return f"{found}: no answer without reading is shown", False
    return f"{found}: with 95 % confidence {percent(low - chance)} or more are answered without reading", True
