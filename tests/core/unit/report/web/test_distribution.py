from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.report.web.overview import BINS, distributions

VALUES = st.lists(st.floats(0, 1e6) | st.integers(0, 10**6))


@given(st.lists(VALUES, max_size=4))
def test_every_value_is_counted_once(groups: list[list[float]]) -> None:
    found = distributions(groups)
    edges = found["edges"]
    assert edges == sorted(edges)
    assert len(edges) <= BINS + 1
    for group, distribution in zip(groups, found["groups"], strict=True):
        if not group:
            assert distribution is None
            continue
        assert sum(distribution["counts"]) == len(group)
        assert len(distribution["counts"]) == len(edges) - 1
        assert distribution["median"] == statistics.median_low(group)
        assert distribution["median"] <= distribution["p95"] <= max(group)
        assert max(group) <= edges[-1] * 1.000001 or max(group) == 0


def test_whole_numbers_have_bins_of_their_own() -> None:
    found = distributions([[1, 2, 2, 5]])
    assert found["edges"] == [0, 1, 2, 3, 4, 5, 6]
    assert found["groups"][0]["counts"] == [0, 1, 2, 0, 0, 1]


def test_a_few_values_far_above_the_others_make_the_axis_logarithmic() -> None:
    found = distributions([[1.0] * 50 + [1000.0]])
    ratios = {round(high / low, 6) for low, high in zip(found["edges"], found["edges"][1:], strict=False)}
    assert len(ratios) == 1
    assert found["groups"][0]["counts"][-1] == 1
