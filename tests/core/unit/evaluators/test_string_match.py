"""Share of the golds in an answer, as RULER counts."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import StringMatchEvaluator


@pytest.mark.parametrize(
    ("match", "answer", "golds", "value"),
    [
        ("all", "The numbers are 12 and 34.", ["12", "34", "56"], 2 / 3),
        ("all", "QWERT, asdfg", ["qwert", "ASDFG"], 1.0),
        ("all", "", ["12"], 0.0),
        ("part", "In OSLO, I think", ["Oslo", "Christiania"], 1.0),
        ("part", "In Bergen", ["Oslo"], 0.0),
        ("all", "答案是1234567。", ["1234567"], 1.0),
    ],
)
def test_share(match: Literal["all", "part"], answer: str, golds: list[str], value: float) -> None:
    assert StringMatchEvaluator(match).score(answer, golds) == {"string_match": pytest.approx(value)}


@given(st.lists(st.text().filter(str.strip), min_size=1), st.data())
def test_all_is_the_mean_and_part_the_maximum_of_single_golds(golds: list[str], data: st.DataObject) -> None:
    answer = " ".join(data.draw(st.lists(st.sampled_from(golds))))
    single = [StringMatchEvaluator().value(answer, [gold]) for gold in golds]
    assert StringMatchEvaluator("all").value(answer, golds) == pytest.approx(sum(single) / len(golds))
    assert StringMatchEvaluator("part").value(answer, golds) == max(single)


def test_an_unparsed_answer_has_none_and_a_gold_is_needed() -> None:
    assert StringMatchEvaluator().score(None, ["1"]) == {"string_match": 0.0}
    with pytest.raises(DataError, match="no gold"):
        StringMatchEvaluator().score("1", [])
