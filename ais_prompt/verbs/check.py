"""Check a config, and check a run against its gates.

A check finds faults, warnings, what postprocessors lose, and what claims need. Gates are those of the config and of the
command line, and a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ais_prompt.checks import (
    ExtractionTrial,
    PromptWarning,
    ScorerAudit,
    audit_scorer,
    checked,
    faults_of_gates,
    try_extraction,
)
from ais_prompt.config import Options, parse_gate
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.plan import Plan
from ais_prompt.scoring import Row
from ais_prompt.steps import metrics_of_modes, mode_of_metric
from ais_prompt.store import Baseline
from ais_prompt.types import Gate
from ais_prompt.utils import advice

if TYPE_CHECKING:  # most runs have no gates, and all of them are quick to start
    from ais_prompt.comparison import Verdict


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


class Claim(Struct, frozen=True):
    """A gate with a confidence, for one of the datasets that it concerns.

    Attributes:
        dataset: its ``abbr``.
        samples: questions of the dataset.
    """

    gate: Gate
    dataset: str
    samples: int


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
    conditions = _checked_gates(plan, gates)
    extractions = [found for dataset in plan.datasets if (found := try_extraction(dataset))]
    audits = [*filter(None, map(audit_scorer, plan.datasets))] if audit_scorers else []
    return CheckResult(plan, warnings, extractions, _claims(plan, conditions), audits)


class RunGates(Struct, frozen=True):
    """The conditions of a run: its gates, and a baseline to compare with.

    Attributes:
        gates: the conditions of the config and of the command line.
        baseline: the run that this one is compared with; None for none.
        min_drop: the smallest drop that matters, in the metric's unit.
        level: how often equally good runs may fail.
    """

    gates: Sequence[Gate]
    baseline: Baseline | None
    min_drop: float
    level: float

    def verdicts(self, rows: Sequence[Row], root: Path) -> list[Verdict]:
        """Return the verdict of each gate.

        Args:
            rows: the summary of the run.
            root: its run folder.

        Raises:
            StoreError: results are missing or broken.
        """
        if not self.gates and self.baseline is None:
            return []
        from ais_prompt.comparison import check_claims, check_gates, check_run, read_stored_run

        claims = [gate for gate in self.gates if gate.needs_samples]
        found = check_gates([gate for gate in self.gates if not gate.needs_samples], rows)
        if claims:
            found += check_claims(claims, read_stored_run(str(root)), self.baseline)
        if self.baseline is not None:
            found += check_run(self.baseline, read_stored_run(str(root)), self.min_drop, self.level)
        return found


def open_gates(
    plan: Plan,
    gates: Sequence[str],
    baseline: str | None,
    min_drop: float,
    level: float,
    *,
    mode: str = "all",
) -> RunGates:
    """Read gates and baseline before anything is asked.

    Args:
        plan: the plan of the run, whose config may have gates too.
        gates: conditions as on the command line.
        baseline: path of a baseline file, or a run.
        min_drop, level: as in `RunGates`.
        mode: of the run. Gates of the config about metrics of other modes are left out: one config has both.

    Raises:
        ConfigError: a gate cannot be understood or makes no sense, or there is no such baseline.
    """
    conditions = _checked_gates(plan, gates, mode)
    if baseline is None and (drops := [gate for gate in conditions if gate.limits_drop]):
        what = f"the gate {drops[0].text!r} needs a baseline to measure the drop from"
        raise ConfigError(what, where=drops[0].where, fix="give --baseline RUN|FILE")
    if baseline is None:
        return RunGates(conditions, None, min_drop, level)
    from ais_prompt.comparison import open_baseline

    return RunGates(conditions, open_baseline(baseline, str(plan.spec.work_dir)), min_drop, level)


def _checked_gates(plan: Plan, gates: Sequence[str], mode: str | None = None) -> list[Gate]:
    """Return the gates of a config and of the command line about what a mode measures; None for all.

    Raises:
        ConfigError: a gate cannot be understood.
        ConfigFaults: gates make no sense for the plan.
    """

    def fits(gate: Gate) -> bool:
        if gate.counts_answers or mode is None:
            return True
        own = metrics_of_modes().get(mode)
        return gate.name in own if own else mode_of_metric(gate.name) is None

    given = [parse_gate(text, "--gate") for text in gates]
    if wrong := next((gate for gate in given if not fits(gate)), None):
        own = metrics_of_modes().get(str(mode))
        fix = advice(wrong.name, sorted(own)) if own else f"add -m {mode_of_metric(wrong.name)}"
        raise ConfigError(f"this mode does not measure {wrong.name}", where=f"--gate {wrong.text!r}", fix=fix)
    conditions = [*filter(fits, plan.spec.gates), *given]
    if faults := faults_of_gates(conditions, plan):
        raise ConfigFaults(faults)
    return conditions


def _claims(plan: Plan, gates: Sequence[Gate]) -> list[Claim]:
    models = [model.spec.abbr for model in plan.models]
    return [
        Claim(gate, dataset.spec.abbr, len(dataset.data.test))
        for gate in gates
        if gate.confidence
        for dataset in plan.datasets
        if any(gate.concerns(model, dataset.spec.abbr) for model in models)
    ]
