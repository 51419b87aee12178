"""Accuracy by equal text, equal text after normalization, equal number, or nearest option."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import AveragingEvaluator, MeanEvaluator, golds_of
from ais_prompt.postprocess import first_phrase, phrases_of, to_decimal
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import late

_THOUSANDS: Final = late(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?![.,]?\d)")


@EVALUATORS.register_module()
class AccEvaluator(AveragingEvaluator):
    """Accuracy: 1 where answer and gold are the same text, 0 elsewhere; a list of golds has alternatives.

    Both are compared as text, so the gold 3 equals the answer "3", but "3.0" does not. Source: OpenCompass'
    ``AccEvaluator``, which compares ``str()`` of both; here white space at either end is left out as well.

    Args:
        ignore_case: whether "Paris" equals "PARIS".
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def __init__(self, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, 0 or 1.

        Raises:
            DataError: there is no gold.
        """
        golds = {self._text(one) for one in golds_of(gold)}
        return {"accuracy": float(extracted is not None and self._text(extracted) in golds)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same text."""
        return self._text(first) == self._text(second)

    def _text(self, value: Any) -> str:
        text = str(value).strip()
        return text.casefold() if self.ignore_case else text


@EVALUATORS.register_module()
class EMEvaluator(AveragingEvaluator):
    """Exact match: 1 where the first phrase of the answer equals a gold, 0 elsewhere.

    What a phrase is: `general_postprocess`, which also reads announcements; here "The answer is Paris" is not "Paris".
    A full stop ends no gold, so abbreviations need not be known: "Rte. 5. It is long." equals "Rte. 5", not "Rte. 6".

    Source: OpenCompass, ``EMEvaluator`` (which compares with the letters of a gold that is no list).

    Args:
        ignore_case: whether "Paris" equals "PARIS".
    """

    metrics: tuple[str, ...] = ("exact_match",)

    def __init__(self, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``exact_match``, 0 or 1.

        Raises:
            DataError: there is no gold.
        """
        golds = {self._normal(phrases_of(one)[-1], one) for one in golds_of(gold)}
        if extracted is None:
            return {"exact_match": 0.0}
        answers = {self._normal(phrase, str(extracted)) for phrase in phrases_of(str(extracted))}
        return {"exact_match": float(not golds.isdisjoint(answers))}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same text after normalization."""
        one, other = (self._normal(first_phrase(str(answer)), str(answer)) for answer in (first, second))
        return one == other

    def _normal(self, phrase: str, text: str) -> str:
        # A text without words, such as "-", is compared as it is.
        normal = phrase or text.strip()
        return normal.casefold() if self.ignore_case else normal


@EVALUATORS.register_module()
class Gsm8kEvaluator(AveragingEvaluator):
    """Accuracy by exact numeric equality: 18, 18.00 and $18 are the same, and so are 1,000 and 1000.

    Decimal numbers are compared without tolerance (OpenCompass allows 1e-6; all golds of GSM8K are whole numbers).
    An answer that is not a number is wrong; use it with ``gsm8k_postprocess``, which finds the number.

    Args:
        or_text: whether a gold that is no number, such as "None", is compared as a text, in any case.
        thousands_point: whether "1.250" is 1250, as in German, and not 1.25.
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def __init__(self, or_text: bool = False, thousands_point: bool = False) -> None:
        self.or_text = or_text
        self.thousands_point = thousands_point

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, 0 or 1.

        Raises:
            DataError: the gold is not a number, without ``or_text``.
        """
        golds = golds_of(gold)
        numbers = list(map(self._number, golds))
        if self.or_text and None in numbers:
            texts = [one.strip().casefold() for one in golds]
            number = self._number(extracted)
            is_right = extracted is not None and str(extracted).strip().casefold() in texts
            return {"accuracy": float(is_right or (number is not None and number in numbers))}
        if None in numbers:
            raise DataError(
                f"the gold answer {golds[numbers.index(None)][-40:]!r} is not a number",
                fix="set dataset_postprocessor=dict(type='gsm8k_dataset_postprocess'), or use AccEvaluator",
            )
        return {"accuracy": float(self._number(extracted) in numbers)}

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same number, or with ``or_text`` the same text."""
        number = self._number(first)
        if number is None and self.or_text:
            return str(first).strip().casefold() == str(second).strip().casefold()
        return number is not None and number == self._number(second)

    def _number(self, value: Any) -> Decimal | None:
        text = str(value)
        return to_decimal(_THOUSANDS.sub(r"\1\2", text) if self.thousands_point else text)


@EVALUATORS.register_module()
class EDAccEvaluator(MeanEvaluator):
    """Accuracy: 1 where the right option has a text with the smallest edit distance to the answer.

    The gold is a mapping: ``candidates`` has for each option its text, or several ways to write it; ``label`` is the
    number of the right one, from 0. Of equally near options the first counts. Source: OpenCompass, ``EDAccEvaluator``.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the nearest option is the right one, else 0.

        Raises:
            DataError: the gold has no candidates or no label.
        """
        if not isinstance(gold, Mapping) or not gold.get("candidates") or gold.get("label") is None:
            raise DataError("the gold has no candidates and label", fix="set output_column to the column that has them")
        distances = [
            min(edit_distance(answer, text) for text in ([option] if isinstance(option, str) else option))
            for option in gold["candidates"]
        ]
        return float(distances.index(min(distances)) == gold["label"])


def edit_distance(first: str, second: str) -> int:
    """Return how many characters must be inserted, deleted or replaced to turn one text into the other.

    Source: Levenshtein 1966, "Binary codes capable of correcting deletions, insertions, and reversals".
    """
    row = list(range(len(second) + 1))
    for number, character in enumerate(first, 1):
        before, row = row, [number]
        for place, other in enumerate(second):
            row.append(min(before[place + 1] + 1, row[place] + 1, before[place] + (character != other)))
    return row[-1]
