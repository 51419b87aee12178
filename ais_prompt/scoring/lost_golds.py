"""Find wrong answers that contain the gold answer: nothing has extracted it from the text of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ais_prompt.checks.extraction import LONGEST
from ais_prompt.postprocess.numbers import to_decimal
from ais_prompt.types import SampleScore

LEAST_SHARE: Final = 0.5
LEAST: Final = 3
"""Share and number of wrong answers with the gold in them from which on it is said. Some have it by chance."""
_LETTER: Final = re.compile(r"[A-Z]")


def lost_golds(samples: Iterable[SampleScore], metric: str) -> str | None:
    """Say how many wrong answers contain their gold answer, and what extracts it; None if they are few.

    Args:
        samples: of a task without a postprocessor, whose answers are whole texts. Long golds are left out.
        metric: the main metric; a value of 0 is a wrong answer.
    """
    wrong = 0
    golds: list[str] = []
    for sample in samples:
        gold = "" if isinstance(sample.gold, bool | None) else str(sample.gold).strip()
        if isinstance(sample.extracted, str) and 0 < len(gold) <= LONGEST and sample.values.get(metric) == 0:
            wrong += 1
            if _contains(sample.extracted, gold):
                golds.append(gold)
    if len(golds) < max(LEAST, LEAST_SHARE * wrong):
        return None
    return f"{len(golds)} of {wrong} wrong answers contain the gold answer: {_advice(golds)}"


def _contains(answer: str, gold: str) -> bool:
    """Return whether an answer has the gold as a word; a letter counts as a capital only."""
    flags = 0 if _LETTER.fullmatch(gold) else re.IGNORECASE
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(gold)}(?![A-Za-z0-9])", answer, flags) is not None


def _advice(golds: Iterable[str]) -> str:
    kinds = set(golds)
    if all(map(_LETTER.fullmatch, kinds)):
        options = "" if max(kinds) <= "D" else f", options='{''.join(map(chr, range(ord('A'), ord(max(kinds)) + 1)))}'"
        found = f"dict(type='first_option_postprocess'{options})"
    elif all(to_decimal(gold) is not None for gold in kinds):
        found = "dict(type='gsm8k_postprocess')"
    else:
        return "try evaluator=dict(type='ContainedAnswerEvaluator', first_line=False)"
    return f"is a pred_postprocessor missing? Try pred_postprocessor={found}"
