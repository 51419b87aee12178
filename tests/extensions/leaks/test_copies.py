"""Near copies count unless the form of the task explains them."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.leaks.copies import copies_beyond_form
from ais_prompt.extensions.leaks.near_copies import NearCopy


@pytest.mark.parametrize(
    ("near", "believed"),
    [
        ([(0.9, True)], [0]),
        ([(0.9, True), (0.8, False)], []),  # a half of the pairs has the same gold by chance
        ([(0.9, True)] * 20 + [(0.8, False)] * 5 + [(0.7, True)] * 3, [*range(20)]),
        ([(0.9, False)] * 20 + [(0.8, True)] * 20, []),
        ([(1.0, False), (0.9, False), (0.8, True)], [0]),  # the same words are the same question
    ],
)
def test_pairs_with_other_golds_tell_which_likeness_is_the_form(
    near: list[tuple[float, bool]], believed: list[int]
) -> None:
    found = [NearCopy(place, place, likeness) for place, (likeness, _) in enumerate(near)]
    golds = [place % 2 for place in range(100)]
    row_golds = [gold if place >= len(near) or near[place][1] else 1 - gold for place, gold in enumerate(golds)]
    assert [one.question for one in copies_beyond_form(found, golds, row_golds)] == believed
