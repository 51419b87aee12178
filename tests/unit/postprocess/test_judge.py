from __future__ import annotations

import pytest

from ais_prompt.postprocess.judge import generic_llmjudge_postprocess, judge_rating_postprocess


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("A", "A"),
        ("B.", "B"),
        ("A: CORRECT", "A"),
        ("(B) INCORRECT", "B"),
        ("Based on the gold, the grade is A.", "A"),
        ("Draft grade: A. After all, final grade: **B**", "B"),
        ("The answer matches. [[A]]", "A"),
        (r"So \boxed{B}.", "B"),
        (r"So \boxed{\text{B}}.", "B"),
        ("<think>Verdict: A?</think>\nB", "B"),
        ("A careful look shows that it is wrong, so B", "B"),
        ("<think>Verdict: A", None),
        ("A or B", None),
        ("Brilliant! Absolutely.", None),
        ("", None),
    ],
)
def test_verdicts(text: str, verdict: str | None) -> None:
    assert generic_llmjudge_postprocess(text) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("CORRECT", "CORRECT"), ("INCORRECT", "INCORRECT"), ("it is CORRECT because of this", "CORRECT"), ("A", None)],
)
def test_tags_of_ones_own(text: str, verdict: str | None) -> None:
    assert generic_llmjudge_postprocess(text, true_tag="CORRECT", false_tag="INCORRECT") == verdict


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Good, 2 of 3 facts. Rating: [[7]]", "7"),
        ("[[8.5]]", "8.5"),
        ("Score: 9/10", "9"),
        ("**Rating:** 6", "6"),
        ("7", "7"),
        ("It has 3 faults.", None),
        ("", None),
    ],
)
def test_ratings(text: str, rating: str | None) -> None:
    assert judge_rating_postprocess(text) == rating
