"""Show the audit of scorers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ais_prompt.checks import ScorerAudit
from ais_prompt.utils import counted

_SHOWN = 120
"""Characters of an answer that are shown."""


def describe_audits(audits: Iterable[ScorerAudit]) -> Iterator[str]:
    """Yield a line for each audited dataset, and one for each answer that knows nothing and scores above chance."""
    for audit in audits:
        tried = (
            "quoted verdicts" if not audit.samples else f"{counted(audit.samples, 'sample')}, chance {audit.chance:.0%}"
        )
        result = "scores above chance:" if audit.fooled else audit.rejects or "nothing scores above chance"
        yield f"Audit of {audit.dataset} ({audit.scorer}; {tried}): {result}"
        for fooled in audit.fooled:
            text = fooled.text if len(fooled.text) <= _SHOWN else fooled.text[:_SHOWN] + "…"
            yield f"  {fooled.answer}: {fooled.score:.0%}, read by {fooled.rule or 'the evaluator'}: {text!r}"
