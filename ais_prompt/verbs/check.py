"""Check a config: its faults, warnings, what postprocessors lose, and what claims need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from ais_prompt.checks import (
    PHRASINGS,
    ExtractionTrial,
    PromptWarning,
    ScorerAudit,
    audit_scorer,
    checked,
    try_extraction,
)
from ais_prompt.config import Options
from ais_prompt.gates import Claim, checked_gates, claims_of
from ais_prompt.plan import Plan
from ais_prompt.types import Document
from ais_prompt.verbs.run_document import TaskEstimate


class CheckResult(Struct, frozen=True):
    """The findings of a check in a config without faults.

    Attributes:
        plan: the built parts of the config; internal, and not part of the public API.
        warnings: of prompts and data.
        extractions: how well each postprocessor finds the golds of its dataset.
        claims: of the gates.
        audits: of scorers, if they were asked for.
    """

    plan: Plan
    warnings: Sequence[PromptWarning]
    extractions: Sequence[ExtractionTrial]
    claims: Sequence[Claim]
    audits: Sequence[ScorerAudit] = ()


def check_source(options: Options, gates: Sequence[str] = (), *, audit_scorers: bool = False) -> CheckResult:
    """Check a config without loading weights or asking a model.

    Args:
        options: where the config comes from.
        gates: further conditions, as on the command line.
        audit_scorers: whether answers that know nothing go through each scorer.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    plan, warnings = checked(options, thorough=True)
    conditions = checked_gates(plan, gates)
    extractions = [found for dataset in plan.scorings if (found := try_extraction(dataset))]
    audits = [*filter(None, map(audit_scorer, plan.scorings))] if audit_scorers else []
    return CheckResult(plan, warnings, extractions, claims_of(plan, conditions), audits)


class Remark(Struct, frozen=True):
    """A warning about prompts, or a note about a translated config (``label``)."""

    label: str
    what: str
    where: str = ""
    fix: str = ""


class ExtractionEntry(Struct, frozen=True):
    """How well a postprocessor finds golds in ordinary phrasings; ``lost`` names those that lose one."""

    dataset: str
    postprocessor: str
    golds: int
    phrasings: int
    lost: list[str]


class FooledEntry(Struct, frozen=True):
    """An answer that knows nothing and scores above chance: its name, text and score (0 to 1), and who read it."""

    answer: str
    text: str
    score: float
    rule: str


class AuditEntry(Struct, frozen=True):
    """The audit of the scorer of a dataset.

    Attributes:
        dataset, scorer: the dataset, and its postprocessor and evaluator.
        samples: samples that were tried; 0 for a judge.
        chance: score of the best answer that reads nothing, 0 to 1.
        fooled: the answers that score above chance.
        rejects: why the golds themselves are no right answers; empty if they are.
    """

    dataset: str
    scorer: str
    samples: int
    chance: float
    fooled: list[FooledEntry]
    rejects: str = ""


class CheckDocument(Document, kw_only=True):
    """What ``check`` prints.

    Attributes:
        models, datasets: numbers of each; 0 if the config has faults.
        warnings: what you may not expect of the prompts.
        extractions: how well each postprocessor finds golds.
        claims: what gates with a confidence need, in words.
        estimates: what each task of a served model would ask.
        audits: what scorers give to answers that know nothing, with ``--audit``.
    """

    kind: Literal["check"]
    models: int = 0
    datasets: int = 0
    warnings: list[Remark] = field(default_factory=list)
    extractions: list[ExtractionEntry] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    estimates: list[TaskEstimate] = field(default_factory=list)
    audits: list[AuditEntry] = field(default_factory=list)


def remarks(warnings: Sequence[PromptWarning]) -> list[Remark]:
    """Return warnings and notes."""
    return [Remark(one.label, one.what, one.where, one.fix) for one in warnings]


def trials(found: Sequence[ExtractionTrial]) -> list[ExtractionEntry]:
    """Return the trials of postprocessors."""
    return [
        ExtractionEntry(one.dataset, one.postprocessor, one.golds, len(PHRASINGS), [lost.phrasing for lost in one.lost])
        for one in found
    ]


def audit_entries(found: Sequence[ScorerAudit]) -> list[AuditEntry]:
    """Return the audits of scorers."""
    return [
        AuditEntry(
            audit.dataset,
            audit.scorer,
            audit.samples,
            audit.chance,
            [FooledEntry(one.answer, one.text, one.score, one.rule) for one in audit.fooled],
            audit.rejects,
        )
        for audit in found
    ]
