"""Check a config: its faults, warnings, what postprocessors lose, and what claims need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from ais_prompt.checks import PHRASINGS, ExtractionTrial, PromptWarning, checked, try_extraction
from ais_prompt.config import Options
from ais_prompt.gates import Claim, checked_gates, claims_of
from ais_prompt.plan import Plan
from ais_prompt.steps import required
from ais_prompt.types import Document
from ais_prompt.verbs.run_document import TaskEstimate


class Audit(Protocol):
    """What an audit finds: a msgspec Struct, which ``check --audit --json`` shows as it is."""

    def lines(self) -> Iterable[str]:
        """Return the finding in words."""
        ...


class CheckResult(Struct, frozen=True):
    """The findings of a check in a config without faults.

    Attributes:
        plan: the built parts of the config; internal, and not part of the public API.
        warnings: of prompts and data.
        extractions: how well each postprocessor finds the golds of its dataset.
        claims: of the gates.
        audits: what extensions find by auditing scorers, if that was asked for; each an `ais_prompt.verbs.Audit`.
    """

    plan: Plan
    warnings: Sequence[PromptWarning]
    extractions: Sequence[ExtractionTrial]
    claims: Sequence[Claim]
    audits: Sequence[Any] = ()


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
    audits = required("audit", "audits scorers", "--audit") if audit_scorers else []
    audited = [found for audit in audits for found in audit(plan)]
    return CheckResult(plan, warnings, extractions, claims_of(plan, conditions), audited)


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


class CheckDocument(Document, kw_only=True):
    """What ``check`` prints.

    Attributes:
        models, datasets: numbers of each; 0 if the config has faults.
        warnings: what you may not expect of the prompts.
        extractions: how well each postprocessor finds golds.
        claims: what gates with a confidence need, in words.
        estimates: what each task of a served model would ask.
    """

    kind: Literal["check"]
    models: int = 0
    datasets: int = 0
    warnings: list[Remark] = field(default_factory=list)
    extractions: list[ExtractionEntry] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    estimates: list[TaskEstimate] = field(default_factory=list)


def remarks(warnings: Sequence[PromptWarning]) -> list[Remark]:
    """Return warnings and notes."""
    return [Remark(one.label, one.what, one.where, one.fix) for one in warnings]


def trials(found: Sequence[ExtractionTrial]) -> list[ExtractionEntry]:
    """Return the trials of postprocessors."""
    return [
        ExtractionEntry(one.dataset, one.postprocessor, one.golds, len(PHRASINGS), [lost.phrasing for lost in one.lost])
        for one in found
    ]
