"""Gates about the best variant: ``gsm8k: best >= 80%``, by the main metric.

With a confidence, the end of the interval must meet the limit. The best of several is chosen by its score, so the
interval of each variant is widened for all of them (Bonferroni), unless other questions chose it (``--holdout``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ais_prompt.comparison import StoredRun, read_stored_run
from ais_prompt.extensions.variants.compared_variants import variant_groups
from ais_prompt.extensions.variants.variant_group import VariantGroup
from ais_prompt.gates import interval_end
from ais_prompt.metrics import exact
from ais_prompt.scoring import value
from ais_prompt.types import Gate, RunSpec, Verdict


def fault_of_best(spec: RunSpec) -> tuple[str, str] | None:
    """Return why a run can have no gate about its best variant, and the fix; None if it can."""
    if any(task.variant for task in spec.tasks):
        return None
    fix = "give several --prompt, or --sweep; without variants write the metric: 'accuracy >= 80%'"
    return "the run has no variants, so there is no best of them", fix


def check_best(gates: Sequence[Gate], root: Path, options: Mapping[str, Any]) -> list[Verdict]:
    """Check the best variant of each model and dataset against gates.

    Args:
        gates: about the best variant.
        root: folder of a run that is scored.
        options: with ``holdout`` as for `variant_groups`, the score on the questions that had no part in the choice
            counts.

    Raises:
        StoreError, DataError: results are missing or broken.
    """
    run = read_stored_run(str(root))
    groups = variant_groups(run, options.get("holdout"))
    return [verdict for gate in gates for verdict in _verdicts(gate, groups, run)]


def _verdicts(gate: Gate, groups: Sequence[VariantGroup], run: StoredRun) -> Iterator[Verdict]:
    concerned = [
        group
        for group in groups
        if any(gate.concerns(one.model, one.dataset, group.model, group.dataset) for one in group.variants)
    ]
    yield from (_verdict(gate, group, run) for group in concerned)
    if not concerned:
        yield Verdict(gate.text, "", False, "there is no such score")


def _verdict(gate: Gate, group: VariantGroup, run: StoredRun) -> Verdict:
    subject = f"{group.model}/{group.dataset}"
    if group.best is None:
        return Verdict(gate.text, subject, False, group.note)
    if run.status != "finished":
        return Verdict(gate.text, subject, False, f"inconclusive: the run is {run.status}", inconclusive=True)
    held = group.holdout
    best = group.variants[group.best if held is None else held.chosen]
    score = best.score if held is None else held.score
    assert score is not None  # else it would not be the best
    found = f"{value(score, fraction=group.fraction)}, {best.title}"
    found += (
        f", best of {len(group.variants)}" if held is None else f", chosen on {held.on} other questions, n {held.n}"
    )
    if gate.confidence is None:
        return Verdict(gate.text, subject, gate.holds_score(exact(score), fraction=group.fraction), found)
    questions = group.questions if held is None else held.questions
    tail = (1 - float(gate.confidence)) / (len(group.variants) if held is None else 1)
    end = interval_end(gate, questions, 1 - tail) if group.fraction else None
    if end is None:
        words = f"inconclusive: {group.metric} is no mean of values from 0 to 1, or one question shows nothing"
        return Verdict(gate.text, subject, False, words, inconclusive=True)
    side = "at least" if gate.comparator[0] == ">" else "at most"
    holds = gate.holds_score(exact(end), fraction=True)
    return Verdict(
        gate.text,
        subject,
        holds,
        f"{found}, with {100 * float(gate.confidence):g} % confidence {side} {100 * end:.1f} %",
    )
