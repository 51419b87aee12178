"""Overlap of answers with reference texts: BLEU by sacrebleu, ROUGE by rouge-score."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ais_prompt.evaluators.base import AveragingEvaluator, golds_of, letters_of
from ais_prompt.metrics import AnswerCounts, bootstrap_interval
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils import require

_ORDERS = 4
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters of Thai, Lao, Tibetan, Burmese, Khmer, Chinese and Japanese."""


class SummedEvaluator:
    """The base of metrics that are no means: a statistic of sums over all answers, such as corpus BLEU.

    One that could not be read counts as an empty text; one that failed is left out. Standard error and interval come
    from bootstrap resampling of the samples, or of their clusters.
    """

    metrics: tuple[str, ...]

    def counts(self, extracted: Any, gold: Any) -> NDArray[np.float64]:
        """Return what an answer adds to the sums; an extracted None is an empty text.

        Raises:
            DataError: there is no gold.
            MissingExtra: a package is not installed.
        """
        raise NotImplementedError

    def statistic(self, sums: NDArray[np.float64]) -> float:
        """Return the score of all answers from the sums over them."""
        raise NotImplementedError

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the score over the answered samples."""
        answers = AnswerCounts()
        found = array("d")
        clusters: list[str] = []
        for score in scores:
            answers.add(score)
            if score.status != "failed":
                found.extend(self.sums(score))
                if score.cluster is not None:
                    clusters.append(score.cluster)
        answered = sum(score.status != "failed" for score in scores)
        rows = np.frombuffer(found).reshape(answered, -1) if answered else np.zeros((0, 1))
        spread = bootstrap_interval(rows, self.statistic, clusters=clusters or None)
        whole = Score(
            metric=self.metrics[0],
            value=self.statistic(rows.sum(axis=0)) if len(rows) else None,
            stderr=spread[0] if spread else None,
            counts=answers.statuses,
            n=answers.n,
            interval=spread[1] if spread else None,
            repeats=answers.repeats,
            fraction=False,
        )
        return [whole]

    def sums(self, score: SampleScore) -> NDArray[np.float64]:
        """Return the counts of the answers to one sample together."""
        repeats = (answer for answer in score.repeats or (score,) if answer.status != "failed")
        answered = [self.counts(answer.extracted, answer.gold) for answer in repeats]
        total: NDArray[np.float64] = np.sum(answered, axis=0)
        return total


@EVALUATORS.register_module()
class BleuEvaluator(SummedEvaluator):
    """BLEU in points from 0 to 100, by sacrebleu; several golds are several references.

    The score of the dataset is corpus BLEU, not a mean: n-grams and lengths are counted over all answers, see
    `SummedEvaluator`.

    Source: Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation"; Post 2018, "A Call
    for Clarity in Reporting BLEU Scores". Signature: ``nrefs:*|case:mixed|eff:no|tok:13a|smooth:exp``, the default.

    Args:
        tokenize: the tokenizer of sacrebleu; ``zh`` for Chinese, ``char`` for other writing without blanks.
        lowercase: whether case is ignored.
    """

    metrics: tuple[str, ...] = ("bleu",)

    def __init__(self, tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a", lowercase: bool = False) -> None:
        self.tokenize = tokenize
        self.lowercase = lowercase

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``bleu`` of the answer alone, 0 to 100, over as many orders of n-grams as it has.

        Raises:
            DataError: there is no gold.
            MissingExtra: sacrebleu is not installed.
        """
        return {"bleu": self._sentence(extracted, gold).score}

    def doubt(self, golds: Sequence[Any]) -> tuple[str, str] | None:
        """Return that whole sentences are taken for words, if most letters are of a writing without blanks."""
        letters = letters_of(golds) if self.tokenize in ("13a", "intl", "none") else []
        if 2 * len(_WITHOUT_BLANKS.findall("".join(letters))) <= len(letters):
            return None
        what = f"BLEU takes whole phrases of the gold answers for words: tokenize={self.tokenize!r} looks for blanks"
        return what, "write tokenize='zh' for Chinese, or 'char' for other writing without blanks"

    def statistic(self, sums: NDArray[np.float64]) -> float:
        """Return corpus BLEU, 0 to 100."""
        whole = [round(count) for count in sums]
        right, total, lengths = whole[:_ORDERS], whole[_ORDERS : 2 * _ORDERS], whole[2 * _ORDERS :]
        found = self._bleu.compute_bleu(right, total, *lengths, smooth_method="exp", effective_order=False)
        return float(found.score)

    @cached_property
    def _bleu(self) -> Any:
        metrics = require("sacrebleu.metrics", extra="metrics", why="BleuEvaluator")
        # Leave out the orders for which a single answer is too short; for a corpus see `statistic`.
        return metrics.BLEU(tokenize=self.tokenize, lowercase=self.lowercase, effective_order=True)

    def _sentence(self, extracted: Any, gold: Any) -> Any:
        return self._bleu.sentence_score("" if extracted is None else str(extracted), golds_of(gold))

    def counts(self, extracted: Any, gold: Any) -> NDArray[np.float64]:
        """Return matching n-grams, n-grams, and lengths of answer and reference; shape (10,)."""
        found = self._sentence(extracted, gold)
        return np.array([*found.counts, *found.totals, found.sys_len, found.ref_len], dtype=np.float64)


Rouge: TypeAlias = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

_CJK = r"\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTERS = re.compile(rf"(?=\w)[{_CJK}]|[^\W{_CJK}]+")


@EVALUATORS.register_module()
class RougeEvaluator(AveragingEvaluator):
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
