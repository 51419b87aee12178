"""The gates of one run: read before anything is asked, decided when it is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ais_prompt.checks import faults_of_gates
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.extension import import_object
from ais_prompt.plan import Plan
from ais_prompt.scoring import Row
from ais_prompt.steps import brought_gate, metrics_of_modes, mode_of_metric
from ais_prompt.types import Gate, Verdict, parse_gate
from ais_prompt.utils import advice

if TYPE_CHECKING:  # most runs have no gates, and all of them are quick to start
    from ais_prompt.gates.baseline import Baseline


class RunGates(Struct, frozen=True):
    """The conditions of a run: its gates, and a baseline to compare with.

    Attributes:
        gates: the conditions of the config and of the command line.
        baseline: the run that this one is compared with; None for none.
        min_drop: the smallest drop that matters, in the metric's unit.
        level: how often equally good runs may fail.
        options: those of extensions, for gates that extensions decide.
    """

    gates: Sequence[Gate]
    baseline: Baseline | None
    min_drop: float
    level: float
    options: Mapping[str, Any] = {}

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
        from ais_prompt.comparison import read_stored_run
        from ais_prompt.gates.decision import check_claims, check_gates
        from ais_prompt.gates.drop import check_run

        brought = {gate.name: entry for gate in self.gates if (entry := brought_gate(gate.name))}
        own = [gate for gate in self.gates if gate.name not in brought]
        found = check_gates([gate for gate in own if not gate.needs_samples], rows)
        if claims := [gate for gate in own if gate.needs_samples]:
            found += check_claims(claims, read_stored_run(str(root)), self.baseline)
        for name, entry in brought.items():
            found += import_object(entry.decide)([one for one in self.gates if one.name == name], root, self.options)
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
    conditions = checked_gates(plan, gates, mode)
    if baseline is None and (drops := [gate for gate in conditions if gate.limits_drop]):
        what = f"the gate {drops[0].text!r} needs a baseline to measure the drop from"
        raise ConfigError(what, where=drops[0].where, fix="give --baseline RUN|FILE")
    if baseline is None:
        return RunGates(conditions, None, min_drop, level)
    from ais_prompt.gates.baseline import open_baseline

    return RunGates(conditions, open_baseline(baseline, str(plan.spec.work_dir)), min_drop, level)


def checked_gates(plan: Plan, gates: Sequence[str], mode: str | None = None) -> list[Gate]:
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


class Claim(Struct, frozen=True):
    """A gate with a confidence, for one of the datasets that it concerns.

    Attributes:
        dataset: its ``abbr``.
        samples: questions of the dataset.
    """

    gate: Gate
    dataset: str
    samples: int


def claims_of(plan: Plan, gates: Sequence[Gate]) -> list[Claim]:
    models = [(model.spec.abbr, model.spec.base) for model in plan.models]
    return [
        Claim(gate, dataset.spec.abbr, len(dataset.data.test))
        for gate in gates
        if gate.confidence
        for dataset in plan.datasets
        if any(gate.concerns(model, dataset.spec.abbr, base, dataset.spec.base) for model, base in models)
    ]
