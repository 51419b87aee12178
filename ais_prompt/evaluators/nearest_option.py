"""Accuracy where an answer counts as the option whose text it is most like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import MeanEvaluator
from ais_prompt.registry import EVALUATORS


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
