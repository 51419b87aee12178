"""BLEU by sacrebleu."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ais_prompt.evaluators.base import golds_of, letters_of
from ais_prompt.metrics.aggregate import AnswerCounts
from ais_prompt.metrics.bootstrap import bootstrap
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils.packages import require

_ORDERS = 4
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters of Thai, Lao, Tibetan, Burmese, Khmer, Chinese and Japanese."""
_QUANTITIES = 2 * _ORDERS + 2


@EVALUATORS.register_module()
class BleuEvaluator:
    """BLEU in points from 0 to 100, by sacrebleu; several golds are several references.

    The score of the dataset is corpus BLEU, not a mean: n-grams and lengths are counted over all answers. One that
    could not be read counts as an empty text; one that failed is left out. Standard error and interval come from
    bootstrap resampling of the samples, or of their clusters.

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

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return corpus BLEU over the answered samples."""
        answers = AnswerCounts()
        found = array("d")
        clusters: list[str] = []
        for score in scores:
            answers.add(score)
            if score.status != "failed":
                found.extend(self.sums(score))
                if score.cluster is not None:
                    clusters.append(score.cluster)
        rows = np.frombuffer(found).reshape(-1, _QUANTITIES)
        spread = bootstrap(rows, self.statistic, clusters=clusters or None)
        whole = Score(
            metric="bleu",
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
        """Return matching n-grams, n-grams, and lengths of answer and reference; shape (10,)."""
        answered = [self._counts(answer) for answer in score.repeats or (score,) if answer.status != "failed"]
        total: NDArray[np.float64] = np.sum(answered, axis=0)
        return total

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

    def _counts(self, score: SampleScore) -> NDArray[np.float64]:
        found = self._sentence(score.extracted, score.gold)
        return np.array([*found.counts, *found.totals, found.sys_len, found.ref_len], dtype=np.float64)
