"""The evaluator of OpenAI's MRCR.

Source: the page of the data, ``grade``: 0 unless the answer begins with the random text that was asked for; else the
ratio of `difflib.SequenceMatcher` between the rest of the answer and the rest of the gold.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from ais_prompt.evaluators import MeanEvaluator, golds_of
from ais_prompt.registry import EVALUATORS


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
        return SequenceMatcher(None, answer.removeprefix(prefix), right.removeprefix(prefix)).ratio()
