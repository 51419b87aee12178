"""Token F1 and exact match of short answers, and of answers with several spans, as DROP scores them."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal

from ais_prompt.evaluators.base import AveragingEvaluator, golds_of
from ais_prompt.metrics import counted_f1, exact_match, span_exact_match, span_f1, token_f1
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import is_missing, require

_CHINESE_PUNCTUATION: Final = frozenset(
    string.punctuation
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣"
    + "､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏."
)
"""Characters that LongBench leaves out of Chinese words; 《 is none of them."""


@EVALUATORS.register_module()
class SquadEvaluator(AveragingEvaluator):
    """Token F1 and exact match, as SQuAD defines them (`ais_prompt.metrics.spans`); of several golds the best counts.

    A question whose gold is an empty list has no answer: an empty one is right then, any other wrong (Rajpurkar et al.
    2018, "Know What You Don't Know", ``evaluate-v2.0.py``).

    Source: OpenCompass, ``SquadEvaluator``, which also looks at the first line of an answer only.

    Args:
        first_line: whether only the first line of the answer that is not empty counts.
        tokenize: ``jieba`` takes Chinese words for ``f1``, without punctuation, as LongBench does; ``exact_match``
            leaves out the same punctuation, and blanks.
    """

    metrics: tuple[str, ...] = ("f1", "exact_match")

    def __init__(self, first_line: bool = True, tokenize: Literal["words", "jieba"] = "words") -> None:
        self.first_line = first_line
        self.tokenize = tokenize

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``f1`` and ``exact_match``, 0 to 1.

        Raises:
            DataError: there is no gold.
            MissingExtra: jieba is wanted and not installed.
        """
        golds = [""] if self.accepts_silence(gold) else golds_of(gold)
        answer = "" if extracted is None else str(extracted)
        if self.first_line:
            answer = answer.strip().partition("\n")[0]
        exact = float(any(self.same_answer(answer, one) for one in golds))
        if golds == [""]:
            f1 = exact
        elif self.tokenize == "jieba":
            words = Counter(self._words(answer))
            f1 = max(counted_f1(words, Counter(self._words(one))) for one in golds)
        else:
            f1 = token_f1(answer, golds)
        return {"f1": f1, "exact_match": exact}

    def accepts_silence(self, gold: Any) -> bool:
        """Return whether the question has no answer: an empty list, alone or as ``text``, as in SQuAD 2.0."""
        texts = gold.get("text") if isinstance(gold, Mapping) else gold
        return isinstance(texts, list | tuple) and not texts

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers match exactly."""
        if self.tokenize == "jieba":
            return "".join(self._words(str(first))) == "".join(self._words(str(second)))
        return bool(exact_match(str(first), [str(second)]))

    def _words(self, text: str) -> list[str]:
        plain = (
            "".join(sign for sign in word.lower() if sign not in _CHINESE_PUNCTUATION) for word in self._jieba.cut(text)
        )
        return [word for one in plain if (word := "".join(one.split()))]

    @cached_property
    def _jieba(self) -> Any:
        jieba = require("jieba", extra="metrics", why="F1 of Chinese words")
        jieba.setLogLevel("WARNING")
        return jieba


@EVALUATORS.register_module()
class DropEvaluator(AveragingEvaluator):
    """F1 and exact match as DROP defines them (`ais_prompt.metrics.spans`): numbers must match, spans in any order.

    The gold is a list of right answers, each a list of spans, or a text if it is one span. The best of them counts;
    those whose first span is empty are left out. Source: AllenNLP, ``allennlp_models/rc/tools/drop.py``.

    Args:
        separator: the text between the spans of an answer, such as ``';'``; None takes the answer as one span. An
            answer that is a list has its items as spans.
    """

    metrics: tuple[str, ...] = ("f1", "exact_match")

    def __init__(self, separator: str | None = None) -> None:
        self.separator = separator

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``f1`` and ``exact_match``, 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        golds = _answers(gold)
        if extracted is None:
            return {"f1": 0.0, "exact_match": 0.0}
        spans = self._spans(extracted)
        return {
            "f1": max(span_f1(spans, one) for one in golds),
            "exact_match": max(span_exact_match(spans, one) for one in golds),
        }

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers match exactly."""
        return bool(span_exact_match(self._spans(first), self._spans(second)))

    def _spans(self, answer: Any) -> list[str]:
        if isinstance(answer, list | tuple):
            return [str(span) for span in answer] or [""]
        parts = [str(answer)] if self.separator is None else str(answer).split(self.separator)
        return [span for part in parts if (span := part.strip())] or [""]


def _answers(gold: Any) -> list[list[str]]:
    """Return the right answers, each as a list of spans.

    Raises:
        DataError: there is none.
    """
    given = gold if isinstance(gold, list | tuple) else golds_of(gold)
    answers = [one if isinstance(one, list | tuple) else [one] for one in given]
    usable = [golds_of(spans) for spans in answers if spans and not is_missing(spans[0])]
    return usable or [golds_of(None)]
