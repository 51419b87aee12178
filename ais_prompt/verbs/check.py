"""Check a config: its faults, warnings, what postprocessors lose, and what claims need."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ais_prompt.checks import ExtractionTrial, PromptWarning, ScorerAudit, Source, audit_scorer, checked, try_extraction
from ais_prompt.gates import Claim, checked_gates, claims_of
from ais_prompt.plan import Plan


class CheckResult(Struct, frozen=True):
    """The findings of a check in a config without faults.

    Attributes:
        plan: the built parts of the config; internal, and not part of the public API.
        warnings: of prompts, data and leaks.
        extractions: how well each postprocessor finds the golds of its dataset.
        claims: of the gates.
        audits: of scorers, if they were asked for.
    """

    plan: Plan
    warnings: Sequence[PromptWarning]
    extractions: Sequence[ExtractionTrial]
    claims: Sequence[Claim]
    audits: Sequence[ScorerAudit] = ()


def check_source(source: Source, gates: Sequence[str] = (), *, audit_scorers: bool = False) -> CheckResult:
    """Check a config without loading weights or asking a model.

    Args:
        source: where the config comes from.
        gates: further conditions, as on the command line.
        audit_scorers: whether answers that know nothing go through each scorer.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    plan, warnings = checked(source, thorough=True)
    conditions = checked_gates(plan, gates)
    extractions = [found for dataset in plan.datasets if (found := try_extraction(dataset))]
    audits = [*filter(None, map(audit_scorer, plan.datasets))] if audit_scorers else []
    return CheckResult(plan, warnings, extractions, claims_of(plan, conditions), audits)
