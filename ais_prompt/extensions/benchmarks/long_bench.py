"""Evaluators of LongBench. Its F1 and ROUGE are `SquadEvaluator` and `RougeEvaluator`.

Source: Bai et al. 2023, "LongBench: A Bilingual, Multitask Benchmark for Long Context Understanding", ``metrics.py``;
OpenCompass, ``LongBenchClassificationEvaluator`` and others.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, Literal

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import MeanEvaluator, golds_of
from ais_prompt.registry import EVALUATORS


@EVALUATORS.register_module()
class LongBenchClassificationEvaluator(MeanEvaluator):
    """Accuracy of a class: 1 divided by the number of classes that the answer names, if the right one is among them.

    The gold is a mapping with ``answers`` and ``all_classes``. A class that is part of the name of the right one does
    not count. As in the published program, a second one directly behind it does.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return the value of an answer.

        Raises:
            DataError: the gold has no classes.
        """
        if not isinstance(gold, Mapping) or not gold.get("all_classes"):
            raise DataError(
                "the gold has no all_classes", fix="set output_column to the column with answers and classes"
            )
        return min(1.0, sum(_share(answer, right, gold["all_classes"]) for right in golds_of(gold["answers"])))


def _share(answer: str, right: str, classes: Any) -> float:
    named = [one for one in classes if one in answer]
    for one in named:  # as published: the loop skips what follows each class that it removes
        if one in right and one != right:
            named.remove(one)
    return 1 / len(named) if right in named else 0.0


@EVALUATORS.register_module()
class LongBenchCountEvaluator(MeanEvaluator):
    """Share of the numbers in an answer that are the gold."""

    def value(self, answer: str, gold: Any) -> float:
        """Return the share."""
        return _numbers_equal(answer, golds_of(gold)[0].strip())


@EVALUATORS.register_module()
class LongBenchRetrievalEvaluator(MeanEvaluator):
    """Share of the numbers in an answer that are the number of the right paragraph.

    Args:
        language: in which the gold names it: "Paragraph 3" or "段落3".
    """

    def __init__(self, language: Literal["en", "zh"] = "en") -> None:
        self._paragraph = re.compile(r"Paragraph (\d+)" if language == "en" else r"段落(\d+)")

    def value(self, answer: str, gold: Any) -> float:
        """Return the share.

        Raises:
            DataError: the gold names no paragraph.
        """
        paragraph = self._paragraph.search(golds_of(gold)[0])
        if paragraph is None:
            raise DataError(f"the gold {gold!r:.60} names no paragraph", fix="set language='en' or 'zh'")
        return _numbers_equal(answer, paragraph.group(1))


@EVALUATORS.register_module()
class LongBenchCodeSimEvaluator(MeanEvaluator):
    """Similarity of the first line of code in an answer to the gold, from 0 to 1 in steps of 0.01.

    It is twice the number of common characters, in blocks, divided by all characters (`difflib`). Lines with a comment
    or a quotation mark of code are left out. OpenCompass measures with ``fuzzywuzzy``, which gives other values where
    its optional C library is installed.
    """

    metrics = ("similarity",)

    def value(self, answer: str, gold: Any) -> float:
        """Return the similarity; of several golds the best counts."""
        lines = (line for line in answer.lstrip("\n").split("\n") if not any(sign in line for sign in ("`", "#", "//")))
        line = next(lines, "")
        return max(round(100 * difflib.SequenceMatcher(None, line, one).ratio()) / 100 for one in golds_of(gold))


def _numbers_equal(answer: str, right: str) -> float:
    numbers = re.findall(r"\d+", answer)
    return numbers.count(right) / len(numbers) if numbers else 0.0
