"""ROUGE by rouge-score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ais_prompt.evaluators.base import golds_of, letters_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils.packages import require

Rouge: TypeAlias = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

_CJK = r"\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTERS = re.compile(rf"(?=\w)[{_CJK}]|[^\W{_CJK}]+")


@EVALUATORS.register_module()
class RougeEvaluator:
    """ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum as F-measures from 0 to 1, by rouge-score.

    Of several golds the best counts, for each metric by itself. ROUGE-Lsum takes lines for sentences. Source: Lin 2004,
    "ROUGE: A Package for Automatic Evaluation of Summaries"; OpenCompass, ``RougeEvaluator`` (there times 100).

    Args:
        tokenize: ``words`` is the library's own: runs of ASCII letters and digits, in small letters, so other scripts
            count for nothing; ``characters`` takes each Chinese or Japanese character, and words of other scripts;
            ``jieba`` takes Chinese words.
        use_stemmer: whether English words are reduced to their stems (Porter); for ``words`` only.
        metrics: which of the four, the main one first.
    """

    metrics: tuple[str, ...]

    def __init__(
        self,
        tokenize: Literal["words", "characters", "jieba"] = "words",
        use_stemmer: bool = False,
        metrics: Sequence[Rouge] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
    ) -> None:
        self.tokenize = tokenize
        self.use_stemmer = use_stemmer
        self.metrics = tuple(metrics)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the F-measures.

        Raises:
            DataError: there is no gold.
            MissingExtra: rouge-score is not installed, or jieba where it is wanted.
        """
        found = self._scorer.score_multi(golds_of(gold), "" if extracted is None else str(extracted))
        return {metric: float(found[metric].fmeasure) for metric in self.metrics}

    def doubt(self, golds: Sequence[Any]) -> tuple[str, str] | None:
        """Return that the tokenizer drops most letters, if it does: it knows those of ASCII only."""
        letters = letters_of(golds) if self.tokenize == "words" else []
        if 2 * sum(map(str.isascii, letters)) >= len(letters):
            return None
        what = f"{type(self).__name__} drops most letters of the gold answers: tokenize='words' knows a to z only"
        return what, "write tokenize='characters', or 'jieba' for Chinese words"

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples."""
        return mean_scores(self.metrics, scores)

    @cached_property
    def _scorer(self) -> Any:
        rouge = require("rouge_score.rouge_scorer", extra="metrics", why=type(self).__name__)
        tokenizers: dict[str, Any] = {"characters": _Characters, "jieba": _JiebaWords}
        tokenizer = tokenizers[self.tokenize]() if self.tokenize != "words" else None
        return rouge.RougeScorer(list(self.metrics), use_stemmer=self.use_stemmer, tokenizer=tokenizer)


@EVALUATORS.register_module()
class JiebaRougeEvaluator(RougeEvaluator):
    """ROUGE over the words that jieba finds in Chinese text.

    Source: OpenCompass, ``JiebaRougeEvaluator`` (which cuts both texts at the first comma or full stop, and counts with
    ``rouge-chinese``).
    """

    def __init__(self) -> None:
        super().__init__(tokenize="jieba")


class _Characters:
    def tokenize(self, text: str) -> list[str]:
        return _CHARACTERS.findall(text.lower())


class _JiebaWords:
    def __init__(self) -> None:
        self._jieba = require("jieba", extra="metrics", why="ROUGE of Chinese words")
        self._jieba.setLogLevel("WARNING")

    def tokenize(self, text: str) -> list[str]:
        return [word for word in self._jieba.cut(text.lower()) if _CHARACTERS.search(word)]
