"""Token F1 and exact match of short answers."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from ais_prompt.evaluators.base import golds_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.metrics.spans import counted_f1, exact_match, token_f1
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils.packages import require

_CHINESE_PUNCTUATION: Final = frozenset(
    string.punctuation
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣"
    + "､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏."
)
"""Characters that LongBench leaves out of Chinese words; 《 is none of them."""


@EVALUATORS.register_module()
class SquadEvaluator:
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

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

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
