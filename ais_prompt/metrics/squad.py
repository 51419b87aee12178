"""Exact match and token F1 as SQuAD defines them.

Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", and its published program
``evaluate-v1.1.py``, with which these functions agree exactly.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


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
