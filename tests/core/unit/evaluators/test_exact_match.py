from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import EMEvaluator, Evaluator
from ais_prompt.registry import EVALUATORS


@pytest.mark.parametrize(
    ("extracted", "gold", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("The Paris. It is big", "Paris", 1.0),
        ("Paris, France", ["Rome", "Paris"], 1.0),
        ("Paris", "paris", 0.0),
        ("P", "Paris", 0.0),
        ("3.14", "3", 0.0),
        ("3", 3, 1.0),
        ("-", "-", 1.0),
        ("-", "+", 0.0),
        (None, "Paris", 0.0),
        ("", "Paris", 0.0),
    ],
)
def test_what_matters_is_what_is_said(extracted: Any, gold: Any, expected: float) -> None:
    assert EMEvaluator().score(extracted, gold) == {"exact_match": expected}


def test_case_can_be_ignored() -> None:
    assert EMEvaluator(ignore_case=True).score("paris", ["PARIS"]) == {"exact_match": 1.0}


def test_no_gold_is_an_error() -> None:
    with pytest.raises(DataError, match="no gold"):
        EMEvaluator().score("Paris", None)


def test_it_is_an_evaluator_and_found_by_name() -> None:
    assert isinstance(EVALUATORS.get("EMEvaluator")(), Evaluator)


NAMES = (
    ("J. K. Rowling", "J. R. R. Tolkien", "J. Edgar Hoover"),
    ("A. A. Milne", "A. Lincoln", "A. Camus"),
    ("D. Trump", "D. Duck", "D. Lynch"),
    ("U.S.", "U.K.", "U.N."),
    ("St. Louis", "St. Paul", "St. John's"),
    ("Dr. No", "Dr. Who", "Mr. Bean"),
    ("Mt. Everest", "Mt. Fuji", "Ft. Worth"),
    ("No. 10", "No. 11", "Vol. 10"),
    ("George W. Bush", "George W. Washington", "George H. W. Bush"),
    ("E. coli", "E. faecalis", "T. rex"),
    ("7 p.m.", "7 a.m.", "7 p.c."),
    ("P.T. Barnum", "P.D. James", "P. Barnum"),
    ("3.5", "3.6", "3"),
    ("Oct. 3", "Oct. 4", "Nov. 3"),
    ("C. S. Lewis", "C. S. Peirce", "P. Lewis"),
    ("J.-P. Sartre", "J.-P. Belmondo", "J.-J. Rousseau"),
    ("Roe v. Wade", "Roe v. Doe", "Brown v. Board"),
    ("Hwy. 61", "Hwy. 66", "Rte. 61"),
    ("p. 5", "p. 6", "pp. 5"),
    ("c. 1500", "c. 1600", "ca. 1500"),
    ("Cpl. Jones", "Cpl. Klinger", "Pvt. Jones"),
)


def test_initials_and_abbreviations_are_no_ends_of_sentences() -> None:
    for names in NAMES:
        evaluator = EMEvaluator()
        for gold in names:
            for answer in names:
                texts = [answer, f"{answer.rstrip('.')}.", f"{answer}\nThat is what I know."]
                if not answer.endswith("."):  # where the sentence ends in "U.S. It is known." cannot be seen
                    texts.append(f"{answer}. It is known.")
                for text in texts:
                    assert evaluator.score(text, gold) == {"exact_match": float(answer == gold)}, (text, gold)
                assert evaluator.same_answer(answer, gold) == (answer == gold)


@pytest.mark.parametrize("abbreviation", ["Xyz.", "qq.", "Abt.", "Nr."])
def test_unknown_abbreviations_make_no_two_golds_equal(abbreviation: str) -> None:
    gold = f"{abbreviation} Berg"
    for answer, expected in ((gold, 1.0), (f"{gold}. It is old.", 1.0), (f"{abbreviation} Tal", 0.0)):
        assert EMEvaluator().score(answer, gold) == {"exact_match": expected}


@pytest.mark.parametrize("gold", ["vitamin C", "World War I", "Malcolm X", "Apple Inc"])
def test_a_letter_or_an_abbreviation_may_end_a_sentence(gold: str) -> None:
    assert EMEvaluator().score(f"{gold}. That is it.", gold) == {"exact_match": 1.0}


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("-5", "5"), ("−5", "5"), ("-$5", "$5"), ("3/4", "34"), ("7:30", "730"), ("10-20", "1020"), ("2^3", "23")],
)
def test_marks_of_numbers_are_no_punctuation(answer: str, gold: str) -> None:
    evaluator = EMEvaluator()
    for one, other in ((answer, gold), (gold, answer)):
        assert evaluator.score(one, other) == {"exact_match": 0.0}
        assert not evaluator.same_answer(one, other)
        assert evaluator.score(one, one) == {"exact_match": 1.0}
    assert evaluator.score(answer.replace("-", "–"), answer.replace("-", "−")) == {"exact_match": 1.0}


def test_an_option_with_its_text_is_the_option() -> None:
    assert EMEvaluator().score("B. Paris", "B") == {"exact_match": 1.0}
    assert EMEvaluator().score("B. Paris", "B. Rome") == {"exact_match": 0.0}
