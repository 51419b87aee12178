"""The evaluator of MRCR gives what the function on the page of the data gives."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.benchmarks.long_bench import MrcrEvaluator

TEXTS = st.text("ab c", max_size=20)


def grade(response: str, answer: str, random_string_to_prepend: str) -> float:
    """As published."""
    if not response.startswith(random_string_to_prepend):
        return 0
    response = response.removeprefix(random_string_to_prepend)
    answer = answer.removeprefix(random_string_to_prepend)
    return float(SequenceMatcher(None, response, answer).ratio())


@given(response=TEXTS, answer=TEXTS, has_prefix=st.booleans())
def test_scores_are_those_of_the_publisher(response: str, answer: str, has_prefix: bool) -> None:
    prefix = "aYooSG8CQg"
    given_answer = prefix + response if has_prefix else response
    assert MrcrEvaluator().value(given_answer, prefix + answer) == grade(given_answer, prefix + answer, prefix)
