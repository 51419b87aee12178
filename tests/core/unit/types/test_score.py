"""Scores, written to results and read back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import mean_scores
from ais_prompt.types import STATUSES, SampleScore, Score

values = st.fixed_dictionaries({"accuracy": st.floats(0, 1)})
answers = st.builds(SampleScore, st.just("id"), st.sampled_from(STATUSES), st.just("a"), st.just("a"), values)


@given(st.lists(answers, max_size=5), st.booleans())
def test_a_score_comes_back_as_it_was(samples: list[SampleScore], fraction: bool) -> None:
    for score in mean_scores(("accuracy",), samples, best=1.0 if fraction else None):
        assert Score.from_json(json.loads(json.dumps(score.to_json()))) == score


def test_a_score_of_an_earlier_version_is_read() -> None:
    old = {"metric": "accuracy", "value": 0.5, "stderr": None, "n": 2, "counts": dict.fromkeys(STATUSES, 0)}
    assert Score.from_json(old) == Score("accuracy", 0.5, None, 2, dict.fromkeys(STATUSES, 0))  # type: ignore[arg-type]


def test_a_sample_is_written_without_what_it_lacks() -> None:
    plain = SampleScore("id", "scored", "A", "A", {"accuracy": 1.0})
    assert list(plain.to_json()) == ["sample_id", "status", "extracted", "gold", "values"]
    several = SampleScore("id", "failed", reason="timeout", repeats=(plain,))
    assert several.to_json()["reason"] == "timeout"
    assert several.to_json()["repeats"] == [plain.to_json()]
