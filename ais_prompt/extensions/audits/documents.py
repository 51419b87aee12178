"""What an audit finds, as values, in JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from ais_prompt.utils import counted

_LONGEST: Final = 120
"""Characters of an answer that are shown."""


class FooledScorer(Struct, frozen=True):
    """An answer that knows nothing and scores above chance.

    Attributes:
        answer: its name, or the planted verdict.
        text: the answer to the first sample on which it scored.
        score: mean over the samples, 0 to 1.
        rule: name of the rule that read it; empty if the whole text was scored.
    """

    answer: str
    text: str
    score: float
    rule: str


class ScorerAudit(Struct, frozen=True):
    """The audit of one dataset.

    Attributes:
        dataset: its ``abbr``.
        scorer: types of postprocessor and evaluator.
        samples: how many samples were tried; 0 for a judge, whose reader of verdicts is tried alone.
        chance: score of the best answer without reading: the gold of another sample, or always the same gold.
        fooled: the answers that score above chance.
        rejects: why the golds themselves are no right answers; empty if they are.
    """

    dataset: str
    scorer: str
    samples: int
    chance: float
    fooled: tuple[FooledScorer, ...]
    rejects: str = ""

    def lines(self) -> Iterator[str]:
        """Yield a line for the dataset, and one for each answer that scores above chance."""
        tried = f"{counted(self.samples, 'sample')}, chance {self.chance:.0%}" if self.samples else "quoted verdicts"
        result = "scores above chance:" if self.fooled else self.rejects or "nothing scores above chance"
        yield f"Audit of {self.dataset} ({self.scorer}; {tried}): {result}"
        for one in self.fooled:
            text = one.text if len(one.text) <= _LONGEST else one.text[:_LONGEST] + "…"
            yield f"  {one.answer}: {one.score:.0%}, read by {one.rule or 'the evaluator'}: {text!r}"


class CheckFields(Struct, frozen=True):
    """What audits add to the document of ``check``.

    Attributes:
        audits: what scorers give to answers that know nothing, with ``--audit``.
    """

    audits: list[ScorerAudit] = field(default_factory=list)
