"""Expected false alarms of nightly runs against a baseline."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from ais_prompt.metrics.paired import LEVEL

NIGHTS: Final = 365
_BASELINES: Final = 4_000
_SEED: Final = 0


class Alarms(NamedTuple):
    """False alarms in a year of nightly runs against one baseline.

    Attributes:
        mean: number of nights, averaged over all possible baselines of the same model.
        unlucky: number of nights that one of ten such baselines reaches or exceeds.
    """

    mean: float
    unlucky: float


def alarms_per_year(datasets: int, runs: int, level: float = LEVEL) -> Alarms:
    """Return the expected number of nights in a year that alarm although nothing became worse.

    Each night has noise of its own, but all of them share that of the baseline: a lucky one makes every night look
    worse. A baseline of ``runs`` runs has 1 / (runs + 1) of the variance of the difference. The noise is taken to be
    normal; with few changing samples the tests are stricter than their level, and there are fewer alarms.

    Args:
        datasets: number of datasets whose answers vary from night to night.
        runs: in the baseline.
        level: of the gate, for all datasets together.
    """
    if not datasets:
        return Alarms(0.0, 0.0)
    normal = NormalDist()
    shared = 1 / (runs + 1)
    luck = np.random.default_rng(_SEED).standard_normal((_BASELINES, datasets))
    # The first step of Holm's procedure decides whether there is an alarm at all.
    limit = normal.inv_cdf(level / datasets)
    ends = (limit - np.sqrt(shared) * luck) / np.sqrt(1 - shared)
    quiet = np.array([[1 - normal.cdf(end) for end in row] for row in ends.tolist()]).prod(axis=1)
    nights = NIGHTS * (1 - quiet)
    return Alarms(float(nights.mean()), float(np.quantile(nights, 0.9)))
