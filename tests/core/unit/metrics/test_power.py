"""Power is what drawing samples gives."""

from __future__ import annotations

import numpy as np
import pytest

from ais_prompt.metrics import (
    NIGHTS,
    alarms_per_year,
    detectable_drop,
    fewest_samples,
    mcnemar_power,
    mcnemar_worse,
)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "changed"), [(20, 0.0), (50, 0.1), (200, 0.3)])
def test_a_detectable_drop_is_found_in_80_percent(n: int, changed: float) -> None:
    drop = detectable_drop(n, changed)
    assert drop is not None
    shares = [changed / 2 + drop, changed / 2, 1 - changed - drop]
    drawn = np.random.default_rng(7).multinomial(n, shares, size=4_000)
    found = np.mean([mcnemar_worse(int(worse), int(better)) < 0.05 for worse, better, _ in drawn])
    assert found == pytest.approx(0.8, abs=0.03)


def test_power_keeps_the_level_and_reaches_1() -> None:
    assert mcnemar_power(300, 0.1, 0.1) <= 0.05
    assert mcnemar_power(300, 0.5, 0.0) == pytest.approx(1)
    assert mcnemar_power(4, 1.0, 0.0) == 0.0
    assert detectable_drop(4, 0.0) is None
    assert fewest_samples(lambda n: detectable_drop(n, 0.0) is not None) == 5


def test_alarms_keep_the_level_on_average_and_gather_on_unlucky_baselines() -> None:
    one, many = alarms_per_year(1, 1), alarms_per_year(1, 10)
    assert one.mean == pytest.approx(0.05 * NIGHTS, rel=0.05)
    assert one.unlucky > many.unlucky > one.mean
    assert alarms_per_year(0, 1) == (0.0, 0.0)
    assert alarms_per_year(5, 1, 0.01).mean < one.mean / 4
