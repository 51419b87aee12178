"""Texts that were written before any rule was tried on them: how many are read, and how many that hold no answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ais_prompt.registry import POSTPROCESSORS
from bench.extraction import FAMILIES, Family, Readings, measure_whole, peer_functions, sets, whole_answers

WHEEL = Path(os.environ.get("OPENCOMPASS_WHEEL", "opencompass.whl"))
LEAST_RECALL = {"options": 0.87, "numbers": 0.86, "maths": 0.78}
MOST_FALSE_READS = {"options": 0.01, "numbers": 0.04, "maths": 0.03}
"""Of all sets together. Most of these texts have no marker; what real answers say is in `test_phrasings`."""


def all_sets(family: Family, function: object) -> list[Readings]:
    assert callable(function)
    return [
        measure_whole(family, function, name, language) for name in sets(family.corpus) for language in ("en", "zh")
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.function)
def test_results_are_read_and_texts_without_a_result_are_not(family: Family) -> None:
    every = all_sets(family, POSTPROCESSORS.get(family.function))
    n = sum(one.n for one in every)
    lost = [text for one in every for text in one.lost]
    read = [text for one in every for text in one.read]
    assert len(lost) <= (1 - LEAST_RECALL[family.corpus]) * n, lost
    assert len(read) <= MOST_FALSE_READS[family.corpus] * n, read


@pytest.mark.skipif(not WHEEL.is_file(), reason="OPENCOMPASS_WHEEL names no wheel of OpenCompass")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.function)
def test_recall_is_not_below_that_of_opencompass(family: Family) -> None:
    theirs = all_sets(family, peer_functions(WHEEL)[family.function])
    ours = all_sets(family, POSTPROCESSORS.get(family.function))
    assert sum(len(one.read) for one in ours) < sum(len(one.read) for one in theirs) / 5


@pytest.mark.thorough
@pytest.mark.parametrize("corpus", ["options", "numbers", "maths"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_half_of_each_set_has_no_result(corpus: str, language: str) -> None:
    for name in sets(corpus):
        golds = [gold for _, gold in whole_answers(corpus, name, language)]
        assert len([gold for gold in golds if gold]) == len([gold for gold in golds if gold is None]) >= 15
