from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import (
    AveragePPLEvaluator,
    BBHEvaluator,
    ContainedAnswerEvaluator,
    ContainsEvaluator,
    EDAccEvaluator,
    FuzzyMatchEvaluator,
    LambadaEvaluator,
    OptionOrTextEvaluator,
    SquadEvaluator,
    edit_distance,
)
from ais_prompt.types import SampleScore

OF_TEXTS = (
    BBHEvaluator(),
    ContainedAnswerEvaluator(),
    ContainedAnswerEvaluator(cues=(), first_line=False),
    FuzzyMatchEvaluator(),
    LambadaEvaluator(),
    OptionOrTextEvaluator(),
)
WORDS = st.text("ab1 .,\n", max_size=12)
GOLDS = WORDS.filter(str.strip)


@pytest.mark.thorough
@pytest.mark.parametrize("evaluator", OF_TEXTS, ids=lambda one: type(one).__name__)
@given(answer=st.none() | WORDS, gold=GOLDS | st.lists(GOLDS, min_size=1, max_size=3))
def test_values_are_from_0_to_1(evaluator: Any, answer: str | None, gold: Any) -> None:
    [(metric, value)] = evaluator.score(answer, gold).items()
    assert evaluator.metrics == (metric,)
    assert 0 <= value <= 1


@pytest.mark.parametrize("evaluator", OF_TEXTS, ids=lambda one: type(one).__name__)
def test_no_gold_is_an_error(evaluator: Any) -> None:
    with pytest.raises(DataError, match="no gold"):
        evaluator.score("a", None)


def test_a_whole_answer_must_be_equal() -> None:
    whole = ContainedAnswerEvaluator(whole=True)
    assert whole.score("The answer is the Eiffel Tower", ["Eiffel Tower"]) == {"accuracy": 1}
    assert whole.score("The answer is the old Eiffel Tower", ["Eiffel Tower"]) == {"accuracy": 0}


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_edit_distance_is_a_metric(first: str, second: str, third: str) -> None:
    assert edit_distance(first, second) == edit_distance(second, first)
    assert (edit_distance(first, second) == 0) == (first == second)
    assert edit_distance(first, third) <= edit_distance(first, second) + edit_distance(second, third)
    assert edit_distance(first, second) >= abs(len(first) - len(second))


def test_edit_distance_of_a_known_pair() -> None:
    assert edit_distance("kitten", "sitting") == 3


@pytest.mark.parametrize("gold", [None, "B", {"candidates": []}, {"candidates": ["a", "b"]}])
def test_nearest_option_needs_candidates(gold: Any) -> None:
    with pytest.raises(DataError, match="candidates"):
        EDAccEvaluator().score("a", gold)


@pytest.mark.thorough
def test_f1_of_chinese_words() -> None:
    scores = SquadEvaluator(first_line=False, tokenize="jieba").score("首都是北京。", ["北京是首都"])
    assert scores["f1"] == pytest.approx(1)
    assert SquadEvaluator(first_line=False).score("首都是北京。", ["北京是首都"])["f1"] == 0


def test_mean_perplexity_has_no_right_and_wrong() -> None:
    evaluator = AveragePPLEvaluator()
    samples = [SampleScore(str(value), "scored", value, None, evaluator.score(value, None)) for value in (1.5, 2.5)]
    [score] = evaluator.aggregate(samples)
    assert (score.metric, score.value, score.bounds) == ("average_ppl", 2.0, None)


@pytest.mark.parametrize("gold", ["J. K. Rowling", "St. Louis", "U.S. Steel", "-5", "7:30"])
def test_a_name_with_initials_is_contained_in_a_sentence(gold: str) -> None:
    evaluator = ContainedAnswerEvaluator()
    for answer in (gold, f"The Answer is {gold}", f"The answer is that it was {gold}"):
        assert evaluator.score(answer, gold) == {"accuracy": 1.0}, answer


@pytest.mark.parametrize(("answer", "gold"), [("5", "-5"), ("-5", "5"), ("730", "7:30"), ("U.K. Steel", "U.S. Steel")])
def test_another_number_or_name_is_not_contained(answer: str, gold: str) -> None:
    assert ContainedAnswerEvaluator().score(answer, gold) == {"accuracy": 0.0}


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("Let me think. France is in Europe. Its capital is Paris.", "paris", 1),
        ("Sure!\n\n1. Lyon is a city.\n2. **Paris** is the capital.", "Paris", 1),
        ("the NILE", "The Nile", 1),
        ("N’Djamena – of course", "n'djamena", 1),
        ("Ｐａｒｉｓ", "Paris", 1),
        ("首都是巴黎。", "巴黎", 1),
        ("Because ice floats.", "Because ice floats", 1),
        ("New\nYork", "New York", 1),
        ("City of Light", ["Paris", "City of Light"], 1),
        ("<think>Is it Paris?</think>Lyon", "Paris", 0),
        ("Parisian", "Paris", 0),
        ("15", "5", 0),
        ("a-b", "-", 0),
        ("-", "-", 1),
        ("not Paris but Lyon", "Paris", 1),  # the known limit
        ("It is Paris.", "“Paris”", 1.0),
        ("It is Rome.", '"Paris"', 0.0),
        ('It is ".', '"', 0.0),
        ("It is 5 m.", '5"', 0.0),
    ],
)
def test_a_gold_counts_anywhere_in_an_answer_in_any_case(answer: str, gold: Any, value: float) -> None:
    assert ContainsEvaluator().value(answer, gold) == value


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("It's HR.", "IT", 0),
        ("Ask us.", "US", 0),
        ("I know who did it.", "WHO", 0),
        ("It is IT.", "IT", 1),
        ("it", "IT", 1),
        ("The US won.", "US", 1),
        ("CFO approves it", "the CFO", 1),
        ("I like Beatles songs", "The Beatles", 1),
        ("Guess who.", "The Who", 0),
        ("the who", "The Who", 1),
        ("3.5千米", "3.5 千米", 1),
        ("共3.5 千米。", "3.5千米", 1),
        ("It is 1,250 m.", "1250 m", 1),
        ("It is 1250.", "1,250", 1),
        ("1,234.5万元", "1234.5万元", 1),
        ("1：7", "1∶7", 1),
        ("2 : 9", "2:9", 1),
        ("12km", "12 km", 1),
        ("it is 12 km", "12km", 1),
        ("\\boxed{\\text{Paris}}", "Paris", 1),
        ("$\\text{CO}_2$", "CO2", 1),
        ("$12\\text{ cm}$", "12 cm", 1),
        ("Sao Paulo", "São Paulo", 1),
        ("São Paulo", "Sao Paulo", 0),
        ("Washington, D.C.", "Washington D.C.", 1),
        ("This is a hard thing to know.", "A", 0),
        ("The answer is A.", "A", 1),
        ("I think it is B.", "I", 0),
        ("I think it is B.", "B", 1),
        ("Option (B) is wrong, so (A).", "B", 0),
        ("The answer is X.", "X", 1),
        ("Yes, there is no doubt.", "no", 0),
        ("No, it is not; yes would be wrong.", "yes", 0),
        ("No, they differ.", "no", 1),
        ("yes", "Yes", 1),
        ("1005 - 5 = 1000", "1005", 0),
        ("Step 3: we get 15. The answer is 15.", "3", 0),
        ("It was built in 1969 by 300 men.", "1969", 1),
        ("He was born in 1921 in Paris, one of 4 children.", "1921", 1),
        ("是这样的吗?很难说。", "是", 0),
        ("500 is in 1,500", "1500", 1),
        ("1,500", "500", 0),
        ("It costs $5 and $6.", "$5", 1),
        ("I owe 7654321", "7654321", 1),
        ("1234567,7654321", "7654321", 1),
        ("Gare de l'Est", "gare de l’est", 1),
        ("が", "か", 0),
        ("at 5: 3 apples", "3", 1),
        ("July 20, 1969", "20 July 1969", 0),
        ("on July 20, 1969", "July 20, 1969", 1),
        ("The B2B market", "B2B", 1),
        ("v3.10", "3.10", 0),
        ("Python 3.10", "3.10", 1),
        ("\\boxed{70{,}000}", "70000", 1),
        ("The answer is 70000.0.", "70000", 1),
        ("The agent 7", "007", 0),
        ("I live in Washington DC", "Washington, D.C.", 1),
        ("the U.S. Army", "US", 1),
        ("St John's", "St. John's", 1),
        ("So it is [[0,1],[1,0]].", "[[0, 1], [1, 0]]", 1),
        ("So it is [[0,1],[1,1]].", "[[0, 1], [1, 0]]", 0),
        ("```sql\nSELECT 1\n```", "```SQL\nselect 1\n```", 1),
        ("SELECT 1", "```sql\nSELECT 1\n```", 1),
        ("J. R. Tolkien", "J. R. Tolkien", 1),
        ("It starts at 9:30 a.m.", "9:30 AM", 1),
        ("09:30AM", "9:30 a.m.", 1),
        ("It starts at 9:30 p.m.", "9:30 AM", 0),
        ("It starts at 9:30 a.m.", "19:30 AM", 0),
    ],
)
def test_spellings_make_no_difference_and_words_of_any_answer_must_be_stated(
    answer: str, gold: str, value: float
) -> None:
    assert ContainsEvaluator().value(answer, gold) == value
