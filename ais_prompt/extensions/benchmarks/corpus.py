"""Translation and speech: chrF and TER by sacrebleu, word error rate by jiwer, each over all answers together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ais_prompt.evaluators import SummedEvaluator, golds_of
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import require


class _CorpusEvaluator(SummedEvaluator):
    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the score of the answer alone.

        Raises:
            DataError: there is no gold.
            MissingExtra: the package is not installed.
        """
        return {self.metrics[0]: self.statistic(self.counts(extracted, gold))}


class SacrebleuEvaluator(_CorpusEvaluator):
    """The base of metrics of sacrebleu; several golds are several references."""

    def counts(self, extracted: Any, gold: Any) -> NDArray[np.float64]:
        """As `SummedEvaluator.counts`."""
        answer = "" if extracted is None else str(extracted)
        references = [[reference] for reference in golds_of(gold)]
        [found] = self.metric._extract_corpus_statistics([answer], references)  # what its corpus score adds up
        return np.array(found, dtype=np.float64)

    def statistic(self, sums: NDArray[np.float64]) -> float:
        """As `SummedEvaluator.statistic`."""
        return float(self.metric._compute_score_from_stats([*sums]).score)

    @property
    def metric(self) -> Any:
        """The metric of sacrebleu."""
        raise NotImplementedError


@EVALUATORS.register_module()
class ChrfEvaluator(SacrebleuEvaluator):
    """chrF, in points from 0 to 100, by sacrebleu: n-grams of characters, and of words in chrF++.

    Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation"; 2017, "chrF++: words helping
    character n-grams". Signature with ``word_order=2``: ``nrefs:*|case:mixed|eff:yes|nc:6|nw:2|space:no``.

    Args:
        word_order: n-grams of words up to this length count too: 2 is chrF++, 0 chrF.
    """

    metrics = ("chrf",)

    def __init__(self, word_order: int = 2) -> None:
        self.word_order = word_order

    @cached_property
    def metric(self) -> Any:
        """As `SacrebleuEvaluator.metric`."""
        return require("sacrebleu.metrics", extra="metrics", why="ChrfEvaluator").CHRF(word_order=self.word_order)


@EVALUATORS.register_module()
class TerEvaluator(SacrebleuEvaluator):
    """Translation edit rate by sacrebleu: edits for a hundred words of the reference, shifts included; less is better.

    Source: Snover et al. 2006, "A Study of Translation Edit Rate with Targeted Human Annotation". Signature:
    ``nrefs:*|case:lc|tok:tercom|norm:no|punct:yes|asian:no``.

    Args:
        asian: whether Chinese, Japanese and Korean are split into characters; they have no words otherwise.
    """

    metrics = ("ter",)

    def __init__(self, asian: bool = False) -> None:
        self.asian = asian

    @cached_property
    def metric(self) -> Any:
        """As `SacrebleuEvaluator.metric`."""
        metrics = require("sacrebleu.metrics", extra="metrics", why="TerEvaluator")
        return metrics.TER(normalized=self.asian, asian_support=self.asian)


@EVALUATORS.register_module()
class WerEvaluator(_CorpusEvaluator):
    """Word error rate by jiwer: edits for a hundred words of the gold; less is better. It may be above 100.

    Of several golds, that with the fewest edits for its length counts. Case and punctuation count; a postprocessor can
    remove them.

    Args:
        characters: whether characters count in place of words (CER), as for Chinese.
    """

    metrics = ("wer",)

    def __init__(self, characters: bool = False) -> None:
        self.characters = characters
        self.metrics = ("cer",) if characters else ("wer",)

    def counts(self, extracted: Any, gold: Any) -> NDArray[np.float64]:
        """Return the edits, and the words of the gold; shape (2,)."""
        answer = "" if extracted is None else str(extracted)
        found = [self._edits(reference, answer) for reference in golds_of(gold)]
        return np.array(min(found, key=self.statistic), dtype=np.float64)

    def statistic(self, sums: NDArray[np.float64] | tuple[int, int]) -> float:
        """As `SummedEvaluator.statistic`."""
        edits, words = sums
        return float(100 * edits / words)

    def _edits(self, reference: str, answer: str) -> tuple[int, int]:
        process = self._jiwer.process_characters if self.characters else self._jiwer.process_words
        found = process(reference, answer)
        edits = found.substitutions + found.deletions + found.insertions
        return edits, found.hits + found.substitutions + found.deletions

    @cached_property
    def _jiwer(self) -> Any:
        return require("jiwer", extra="metrics", why="WerEvaluator")
