"""Wrong answers that contain their gold: how many there are, and what extracts it."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.audits.other_readings import BestReading, find_lost_golds
from ais_prompt.types import PartSpec, SampleScore


def scored(answer: str, gold: object, value: float = 0.0) -> SampleScore:
    return SampleScore("id", "scored", answer, gold, {"accuracy": value})


@pytest.mark.parametrize(
    ("answer", "gold", "advice"),
    [
        ("The answer is B.", "B", "Try pred_postprocessor=dict(type='first_option_postprocess')"),
        ("It is (F)", "F", "dict(type='first_option_postprocess', options='ABCDEF')"),
        ("3 + 4 = 7", "7", "Try pred_postprocessor=dict(type='gsm8k_postprocess')"),
        ("It costs 1,000 USD", "1,000", "gsm8k_postprocess"),
        ("the capital is paris, I think", "Paris", "try evaluator=dict(type='ContainsEvaluator'"),
        ("答案是巴黎。", "巴黎", "try evaluator=dict(type='ContainsEvaluator'"),
    ],
)
def test_the_advice_fits_the_gold(answer: str, gold: str, advice: str) -> None:
    found = find_lost_golds(
        [*[scored(answer, gold)] * 4, scored("no idea", gold), scored(answer, gold, 1.0)], "accuracy"
    )
    assert found is not None
    assert (found.lost, found.wrong) == (4, 5)
    warning = found.warning(None, 0.0, fraction=True)
    assert warning.startswith("4 of 5 wrong answers contain the gold answer: ")
    assert advice in warning


@pytest.mark.parametrize(
    ("score", "samples", "advice"),
    [
        (0.928, 50, "pred_postprocessor=dict(type='last_option_postprocess', options='ABCDE') would give 92.8 %"),
        (0.928, 40, "would give about 92.8 %"),
        (0.1, 50, "the shipped postprocessors do not extract it; write a pred_postprocessor of your own"),
    ],
)
def test_the_best_postprocessor_is_named_with_its_score(score: float, samples: int, advice: str) -> None:
    lost = find_lost_golds([scored("It is (E)", "E")] * 9, "accuracy")
    assert lost is not None
    best = BestReading(PartSpec("last_option_postprocess", {"options": "ABCDE"}, ""), score, samples, 50)
    assert lost.warning(best, 0.1, fraction=True).endswith(advice)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("a bit of all", "A"), ("17", "7"), ("Parisian", "Paris"), ("x" * 200, "x" * 100), ("True", True), ("", "")],
)
def test_no_word_where_the_gold_is_only_a_part_of_another_one(answer: str, gold: object) -> None:
    assert find_lost_golds([scored(answer, gold)] * 9, "accuracy") is None


def test_no_word_where_few_wrong_answers_have_the_gold() -> None:
    assert find_lost_golds([scored("It is 7.", "7"), scored("It is 7.", "7"), scored("8", "7")], "accuracy") is None
    assert find_lost_golds([*[scored("It is 7.", "7")] * 4, *[scored("8", "7")] * 5], "accuracy") is None
