"""Evaluators of long contexts: LongBench, whose F1 is `SquadEvaluator`, and MRCR of OpenAI.

Source: Bai et al. 2023, "LongBench: A Bilingual, Multitask Benchmark for Long Context Understanding", ``metrics.py``;
OpenCompass, ``LongBenchClassificationEvaluator`` and others; the page of the data of MRCR, ``grade``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final, Literal

from ais_prompt.errors import DataError
from ais_prompt.evaluators import MeanEvaluator, golds_of
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import require

_NEAR_ZERO: Final = 1e-8
"""Keeps the published F-measure from dividing by 0."""


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
        return min(1.0, math.fsum(_share(answer, right, gold["all_classes"]) for right in golds_of(gold["answers"])))


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


@EVALUATORS.register_module()
class LongBenchRougeEvaluator(MeanEvaluator):
    """ROUGE-L of LongBench: an F-measure over different words, as the package ``rouge`` 1.0.1 computes it.

    Texts are divided at full stops, and each sentence of the answer is compared with each of the gold by the longest
    common subsequence of words. The words of all subsequences, each counted once, are divided by the different words of
    the answer (precision) and of the gold (recall). Upper and lower case differ, and a comma belongs to its word, so
    values are several points below those of `RougeEvaluator`. Of several golds the best counts.

    The published program gives 0 for pairs of sentences with about a thousand words together, where its recursion ends.

    Args:
        language: ``zh`` compares the words that jieba finds.
    """

    metrics = ("rougeL",)

    def __init__(self, language: Literal["en", "zh"] = "en") -> None:
        self.language = language

    def value(self, answer: str, gold: Any) -> float:
        """Return the F-measure.

        Raises:
            DataError: there is no gold.
            MissingExtra: jieba is not installed, and the language is ``zh``.
        """
        return max(_rouge_l(self._spaced(answer), self._spaced(one)) for one in golds_of(gold))

    def _spaced(self, text: str) -> str:
        """Return a text with blanks between its words."""
        return text if self.language == "en" else " ".join(self._jieba.cut(text))

    @cached_property
    def _jieba(self) -> Any:
        jieba = require("jieba", extra="metrics", why="ROUGE of Chinese words")
        jieba.setLogLevel("WARNING")
        return jieba


def _rouge_l(answer: str, gold: str) -> float:
    said, right = ([" ".join(part.split()).split(" ") for part in text.split(".") if part] for text in (answer, gold))
    if not said or not right:
        return 0.0
    common = {word for one in right for other in said for word in _common_words(one, other)}
    precision, recall = (len(common) / len(set(chain(*sentences))) for sentences in (said, right))
    return 2 * precision * recall / (precision + recall + _NEAR_ZERO)


def _common_words(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    """Yield the longest common subsequence, from its end; of equally long ones that of the published program."""
    lengths = [[0] * (len(second) + 1)]  # of the beginnings of both
    for word in first:
        above, row = lengths[-1], [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
        lengths.append(row)
    i, j = len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            i, j = i - 1, j - 1
            yield first[i]
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1


def _numbers_equal(answer: str, right: str) -> float:
    numbers = re.findall(r"\d+", answer)
    return numbers.count(right) / len(numbers) if numbers else 0.0


@EVALUATORS.register_module()
class MrcrEvaluator(MeanEvaluator):
    """Likeness of an answer and the gold behind the random text with which both begin; 0 without that text.

    Args:
        prefix_length: characters of the random text; those of the publisher have ten.
    """

    metrics = ("mrcr",)

    def __init__(self, prefix_length: int = 10) -> None:
        self.prefix_length = prefix_length

    def value(self, answer: str, gold: Any) -> float:
        """Return the likeness, 0 to 1."""
        right = golds_of(gold)[0]
        prefix = right[: self.prefix_length]
        if not answer.startswith(prefix):
            return 0.0
        return difflib.SequenceMatcher(None, answer.removeprefix(prefix), right.removeprefix(prefix)).ratio()
