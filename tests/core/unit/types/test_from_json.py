"""Values that are written to a run folder come back equal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.scoring import Row
from ais_prompt.types import Reading, SampleScore, Speed, TaskFacts, Times

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 10**9)
TIMES = st.builds(Times, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
SPEEDS = st.builds(Speed, *[COUNTS] * 5, NUMBERS, NUMBERS, st.none() | TIMES, st.none() | TIMES, st.none() | TIMES)
FACTS = st.builds(
    TaskFacts,
    st.dictionaries(st.text(), st.text() | COUNTS, max_size=3),
    st.text(),
    st.lists(st.text(), max_size=2).map(tuple),
    *[COUNTS] * 3,
    speed=st.none() | SPEEDS,
    of=st.none() | COUNTS,
)
STATUS = st.sampled_from(["scored", "unparsed", "truncated", "failed"])
READINGS = st.just(()) | st.builds(Reading, st.text(), COUNTS, COUNTS).map(lambda one: (one, None))
SCORES = st.recursive(
    st.builds(
        SampleScore,
        st.text(),
        STATUS,
        extracted=st.none() | st.text() | st.lists(st.text(), max_size=2),
        gold=st.none() | st.text(),
        values=st.dictionaries(st.text(), NUMBERS, max_size=2),
        reason=st.text(),
        readings=READINGS,
        cluster=st.none() | st.text(),
    ),
    lambda answers: st.builds(SampleScore, st.text(), STATUS, repeats=st.lists(answers, max_size=3).map(tuple)),
    max_leaves=4,
)
ROWS = st.builds(Row, st.text(), st.text(), score=st.none() | NUMBERS, n=st.none() | COUNTS, note=st.text())


@pytest.mark.thorough
@given(st.one_of(FACTS, SCORES, ROWS))
def test_what_is_written_comes_back_equal(value: TaskFacts | SampleScore | Row) -> None:
    assert type(value).from_json(json.loads(json.dumps(value.to_json()))) == value


def test_facts_of_an_earlier_version_may_lack_any_key() -> None:
    assert TaskFacts.from_json({"model": {}}) == TaskFacts()


@pytest.mark.parametrize(
    ("kind", "values"),
    [(TaskFacts, {"samples": "many"}), (SampleScore, {"sample_id": "a"}), (Row, {"dataset": "d", "model": 3})],
)
def test_values_of_another_shape_are_refused(kind: Any, values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\$|missing"):
        kind.from_json(values)
