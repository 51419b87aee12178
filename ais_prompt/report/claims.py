"""How many samples a claim needs, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ais_prompt.metrics.claims import fewest_for, samples_for, samples_for_drop
from ais_prompt.types import Gate

CHANGED = (0.02, 0.1, 0.3)
"""Shares of samples that change between two runs of one model, for which the number of samples is said."""
MARGIN = 0.05
"""How far above a limit the true value is taken to be; half the way to the best where that is nearer."""


def describe_claim(gate: Gate, dataset: str, size: int) -> Iterator[str]:
    """Yield how many samples a claim needs, and a warning if the dataset has fewer.

    Args:
        gate: with a claim.
        dataset: its ``abbr``.
        size: how many questions it has.
    """
    assert gate.confidence is not None
    confidence, limit = float(gate.confidence), float(gate.limit) / (100 if gate.percent else 1)
    yield f"{gate.text}  {dataset}, {size} questions"
    if gate.limits_drop:
        for changed in CHANGED:
            needed = samples_for_drop(limit, changed, confidence)
            yield f"  if nothing drops and {changed:.0%} of the answers change: {needed} samples show it in 80 %"
        least = samples_for_drop(limit, 0.0, confidence)
        usual = samples_for_drop(limit, CHANGED[1], confidence)
    else:
        # A claim that a share is at most 30 % is the claim that the rest is at least 70 %.
        least_share = limit if gate.comparator[0] == ">" else 1 - limit
        margin = min(MARGIN, (1 - least_share) / 2)
        least = fewest_for(least_share, confidence)
        found = samples_for(least_share, least_share + margin, confidence)
        usual = found or size + 1
        sign = 1 if gate.comparator[0] == ">" else -1
        true = f"{100 * (limit + sign * margin):g} %"
        yield f"  at a true value of {true}: {found or 'more than a million'} samples show it in 80 %"
        yield f"  if no answer speaks against it: {least} samples"
    if size < least:
        yield f"  Warning: {size} questions can never show it"
    elif size < usual:
        yield f"  Warning: {size} questions are too few for that"
