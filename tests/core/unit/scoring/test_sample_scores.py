from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.scoring import SampleScores
from ais_prompt.types import SampleScore


def test_reasons_are_those_of_answers_without_what_is_special_to_a_sample() -> None:
    late, cut = SampleScore("a", "failed", reason="timeout"), SampleScore("a", "truncated", reason="cut: at 7")
    asked_twice = SampleScore("a", "truncated", reason="timeout", repeats=(late, cut))
    plain, also_cut = SampleScore("b", "scored"), SampleScore("c", "truncated", reason="cut: at 9")
    reasons = SampleScores([asked_twice, plain, also_cut]).reasons
    assert list(reasons.items()) == [("truncated: cut", 2), ("failed: timeout", 1)]


@given(st.lists(st.text(max_size=2), max_size=300))
def test_ids_of_more_than_one_sample_are_found(ids: list[str]) -> None:
    samples = SampleScores(SampleScore(name, "scored") for name in ids)
    assert samples.doubled_ids() == [name for name, count in Counter(ids).items() if count > 1]
