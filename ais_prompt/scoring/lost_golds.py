"""Find wrong answers that contain the gold answer: nothing has extracted it from the text of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from ais_prompt.checks import LONGEST
from ais_prompt.postprocess import to_decimal
from ais_prompt.scoring.rows import value
from ais_prompt.scoring.sensitivity import NUMBERS, OPTIONS, BestReading
from ais_prompt.types import PartSpec, SampleScore

LEAST_SHARE: Final = 0.5
LEAST: Final = 3
"""Share and number of wrong answers with the gold in them from which on it is said. Some have it by chance."""
_LETTER: Final = re.compile(r"[A-Z]")


class LostGolds(Struct, frozen=True):
    """Wrong answers that contain their gold answer.

    Attributes:
        wrong: number of wrong answers.
        lost: number of wrong answers that contain their gold answer.
        extractors: the shipped postprocessors of such golds, the most likely first; none for free text.
    """

    wrong: int
    lost: int
    extractors: tuple[PartSpec, ...] = ()

    def warning(self, best: BestReading | None, score: float, *, fraction: bool) -> str:
        """Say how many there are, and what extracts them.

        Args:
            best: the best of ``extractors``; None if the answers cannot be read again.
            score: without a postprocessor.
            fraction: whether scores are fractions, to be shown in percent.
        """
        found = f"{self.lost} of {self.wrong} wrong answers contain the gold answer: "
        if not self.extractors:
            return f"{found}try evaluator=dict(type='ContainsEvaluator')"
        if best is None:
            return f"{found}is a pred_postprocessor missing? Try pred_postprocessor={_dict(self.extractors[0])}"
        if best.score <= score:
            return f"{found}the shipped postprocessors do not extract it; write a pred_postprocessor of your own"
        about = "" if best.samples == best.of else "about "
        return f"{found}pred_postprocessor={_dict(best.spec)} would give {about}{value(best.score, fraction=fraction)}"


def find_lost_golds(samples: Iterable[SampleScore], metric: str) -> LostGolds | None:
    """Count the wrong answers that contain their gold answer; None if they are few.

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
    return LostGolds(wrong, len(golds), _extractors(set(golds)))


def _contains(answer: str, gold: str) -> bool:
    """Return whether an answer has the gold as a word; a letter counts as a capital only."""
    flags = 0 if _LETTER.fullmatch(gold) else re.IGNORECASE
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(gold)}(?![A-Za-z0-9])", answer, flags) is not None


def _extractors(golds: set[str]) -> tuple[PartSpec, ...]:
    if all(map(_LETTER.fullmatch, golds)):
        letters = "".join(map(chr, range(ord("A"), ord(max(golds)) + 1)))
        return tuple(PartSpec(name, {} if max(golds) <= "D" else {"options": letters}, "") for name in OPTIONS)
    if all(to_decimal(gold) is not None for gold in golds):
        return tuple(PartSpec(name, {}, "") for name in NUMBERS)
    return ()


def _dict(spec: PartSpec) -> str:
    """Return a part as it is written in a config."""
    return f"dict({', '.join(f'{key}={value!r}' for key, value in {'type': spec.type, **spec.args}.items())})"
