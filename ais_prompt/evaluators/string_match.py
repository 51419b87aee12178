"""Share of the golds that an answer has somewhere: how RULER scores."""

from __future__ import annotations

from typing import Any, Literal

from ais_prompt.evaluators.base import MeanEvaluator, golds_of
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils.text import contains


@EVALUATORS.register_module()
class StringMatchEvaluator(MeanEvaluator):
    """Share of the golds that are in the answer, upper and lower case alike.

    A gold inside of a longer word or number is not there: 5 in 15.

    Source: RULER (arXiv:2404.06654), ``string_match_all`` and ``string_match_part`` in
    ``scripts/eval/synthetic/constants.py`` (there parts of words count).

    Args:
        match: ``all``: the share of the golds; ``part``: 1 if any of them is there, for golds that mean the same.
    """

    metrics = ("string_match",)

    def __init__(self, match: Literal["all", "part"] = "all") -> None:
        self.match = match

    def value(self, answer: str, gold: Any) -> float:
        """Return the share, from 0 to 1.

        Raises:
            DataError: there is no gold.
        """
        text = answer.casefold()
        found = [contains(text, one.casefold()) for one in golds_of(gold)]
        return float(any(found)) if self.match == "part" else sum(found) / len(found)
