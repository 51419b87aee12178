"""Exact match and F1 of texts, as SQuAD and DROP define them.

Sources: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", and its published
program ``evaluate-v1.1.py``; Dua et al. 2019, "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning
Over Paragraphs", and its published program, ``allennlp_models/rc/tools/drop.py`` of AllenNLP. These functions agree
with both programs exactly.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_span(span: str) -> str:
    """Normalize a span: lower case, words split at blanks and hyphens, without articles and punctuation.

    Numbers are written in one way: 3,000 and 3000 are 3000.0.

    >>> normalize_span("The 3,000-yard run!")
    '3000.0 yard run'
    """
    words = (_number_or_word(word) for word in re.split("[ -]", span.lower()))
    return " ".join(part for word in words for part in _ARTICLES.sub(" ", word).split())


def span_exact_match(answer: Sequence[str], gold: Sequence[str]) -> float:
    """Return 1 if both have the same spans after normalization, in any order, else 0."""
    answered, expected = (list(map(normalize_span, spans)) for spans in (answer, gold))
    return float(len(answered) == len(expected) and set(answered) == set(expected))


def span_f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    """Return the F1 of the spans of an answer, 0 to 1, rounded to two digits as the published program does.

    Each span of the gold is compared with at most one of the answer, so that the sum of their F1 is largest; the sum is
    divided by the number of spans of the longer side. The F1 of two spans is that of the sets of their words, and 0 if
    the gold has numbers of which the answer has none.

    Args:
        answer: its spans, at least one.
        gold: the spans of one right answer, at least one.
    """
    answered, expected = ([set(normalize_span(span).split()) for span in spans] for spans in (answer, gold))
    values = [[_bag_f1(bag, right) for bag in answered] for right in expected]
    # As the published program does, down to the order of the sum and numpy's rounding: they decide where 0.375 goes.
    of_spans = np.zeros(max(len(answered), len(expected)))
    for row, column in best_assignment(values):
        of_spans[row] = values[row][column]
    return float(np.round(np.mean(of_spans), 2))


def best_assignment(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the places (row, column) of the values with the largest sum of which no two share a row or a column.

    The Hungarian method with potentials (Kuhn 1955; Munkres 1957), in O(rows² · columns) for fewer rows than columns.

    Args:
        values: a table, shape (rows, columns), with at least one row and one column.
    """
    if len(values) > len(values[0]):
        return [(row, column) for column, row in best_assignment(list(zip(*values, strict=True)))]
    columns = range(1, len(values[0]) + 1)  # column 0 has the row that is being assigned
    row_potential, column_potential = [0.0] * (len(values) + 1), [0.0] * (len(values[0]) + 1)
    row_of = [0] * (len(values[0]) + 1)
    for row in range(1, len(values) + 1):
        row_of[0], column = row, 0
        slack, before = [math.inf] * len(row_of), [0] * len(row_of)
        done = {0}
        while row_of[column]:
            this = row_of[column]
            for other in columns:
                if other not in done:
                    reduced = -values[this - 1][other - 1] - row_potential[this] - column_potential[other]
                    if reduced < slack[other]:
                        slack[other], before[other] = reduced, column
            column = min((other for other in columns if other not in done), key=slack.__getitem__)
            step = slack[column]
            for other in done:
                row_potential[row_of[other]] += step
                column_potential[other] -= step
            slack = [value - step for value in slack]
            done.add(column)
        while column:
            row_of[column], column = row_of[before[column]], before[column]
    return [(row_of[column] - 1, column - 1) for column in columns if row_of[column]]


def _bag_f1(answer: set[str], gold: set[str]) -> float:
    numbers = set(filter(_is_number, gold))
    if numbers and not numbers & answer:
        return 0.0
    common = len(answer & gold)
    precision = common / len(answer) if answer else 1.0
    recall = common / len(gold) if gold else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _number_or_word(word: str) -> str:
    word = word if _is_number(word) else word.translate(_PUNCTUATION)
    return str(float(word)) if _is_number(word) else word


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def normalize(text: str) -> str:
    """Normalize a text: lower case, without ASCII punctuation and articles, single blanks.

    >>> normalize("The  Eiffel Tower!")
    'eiffel tower'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the golds after normalization, else 0."""
    normal = normalize(answer)
    return float(any(normal == normalize(gold) for gold in golds))


def token_f1(answer: str, golds: Sequence[str]) -> float:
    """Return the F1 of the tokens of answer and gold, 0 to 1; of several golds the best one counts.

    Tokens are separated by blanks after normalization and counted with repeats. Without tokens in answer or gold the
    value is 0, as in the published program.
    """
    tokens = Counter(normalize(answer).split())
    return max((counted_f1(tokens, Counter(normalize(gold).split())) for gold in golds), default=0.0)


def counted_f1(answer: Counter[str], gold: Counter[str]) -> float:
    """Return the F1 of counted tokens, 0 to 1; 0 if none is common."""
    common = (answer & gold).total()
    if common == 0:
        return 0.0
    precision, recall = common / answer.total(), common / gold.total()
    return 2 * precision * recall / (precision + recall)
