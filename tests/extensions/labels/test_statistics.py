"""What labels say of a score, how far people agree, and which labels help most."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.labels.label_files import Label, agreed
from ais_prompt.extensions.labels.labelled import VerdictStratum, corrected_share, next_labels, people_agree, strata_of


def labels(given: Mapping[str, bool]) -> dict[str, Label]:
    return {name: Label(name, label) for name, label in given.items()}


def test_strata_count_labels_by_verdict() -> None:
    verdicts = {"a": True, "b": True, "c": False, "d": False, "e": False}
    assert strata_of(verdicts, {"a": True, "c": True, "d": False, "other": True}) == (
        VerdictStratum(2, 1, 1),
        VerdictStratum(3, 2, 1),
    )


def test_the_corrected_share_weighs_both_verdicts() -> None:
    found = corrected_share([VerdictStratum(80, 10, 9), VerdictStratum(20, 10, 3)])
    assert found is not None
    assert found.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.3)
    assert found.low < found.value < found.high
    assert corrected_share([VerdictStratum(80, 10, 9), VerdictStratum(20, 0, 0)]) is None
    everything = corrected_share([VerdictStratum(5, 5, 4), VerdictStratum(0, 0, 0)])
    assert everything is not None
    assert (everything.low, everything.value, everything.high) == (0.8, 0.8, 0.8)


def test_labels_go_where_the_judge_errs_and_answers_are_many() -> None:
    right, wrong = next_labels([VerdictStratum(500, 20, 19), VerdictStratum(500, 20, 10)])
    assert right < wrong
    right, wrong = next_labels([VerdictStratum(900, 20, 15), VerdictStratum(100, 20, 15)])
    assert right > wrong
    assert next_labels([VerdictStratum(3, 1, 1), VerdictStratum(4, 4, 0)]) == [2, 0]  # no more than there are


STRATUM = st.integers(0, 30).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda labelled: st.integers(0, labelled).map(lambda right: VerdictStratum(size, labelled, right))
    )
)


@given(st.lists(STRATUM, min_size=2, max_size=2), st.integers(0, 50))
def test_an_advice_is_as_long_as_answers_are_left(strata: list[VerdictStratum], number: int) -> None:
    found = next_labels(strata, number)
    assert sum(found) == min(number, sum(one.size - one.labelled for one in strata))
    assert all(0 <= more <= one.size - one.labelled for more, one in zip(found, strata, strict=True))


@pytest.mark.thorough
def test_the_interval_covers_the_share_also_if_labels_follow_the_advice() -> None:
    draw = np.random.default_rng(0)
    covered, runs = 0, 400
    for _ in range(runs):
        truth = draw.random(400) < 0.7
        verdicts = np.where(draw.random(400) < np.where(truth, 0.9, 0.3), True, False)
        known: dict[str, bool] = {}
        names = [str(number) for number in range(400)]
        both = dict(zip(names, verdicts.tolist(), strict=True))
        order = random.Random(int(draw.integers(1 << 30))).sample(names, 400)
        for _ in range(3):
            for verdict, number in zip((True, False), next_labels(strata_of(both, known), 25), strict=True):
                left = [name for name in order if both[name] is verdict and name not in known]
                known |= {name: bool(truth[int(name)]) for name in left[:number]}
        found = corrected_share(strata_of(both, known))
        covered += found is not None and found.low <= truth.mean() <= found.high
    assert covered / runs > 0.93


def test_people_agree_on_what_both_have_labelled() -> None:
    people = {"anna": labels({"a": True, "b": False, "c": True}), "ben": labels({"a": True, "b": True, "d": False})}
    found = people_agree(people)
    assert found is not None
    assert (found.answers, found.equal) == (2, 1)
    assert agreed(people) == {"a": True, "c": True, "d": False}
    assert people_agree({"anna": people["anna"]}) is None
