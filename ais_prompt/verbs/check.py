"""Check a config: its faults, its warnings, what its postprocessors lose, and what its claims need."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ais_prompt.checks.extraction import ExtractionTrial, try_extraction
from ais_prompt.checks.gates import gate_faults
from ais_prompt.checks.source import Source, checked
from ais_prompt.checks.warning import PromptWarning
from ais_prompt.config.parse.gates import parse_gate
from ais_prompt.errors import ConfigFaults
from ais_prompt.plan.plan import Plan
from ais_prompt.types import Gate


class Claim(Struct, frozen=True):
    """A gate with a confidence, for one of the datasets that it concerns.

    Attributes:
        dataset: its ``abbr``.
        samples: questions of the dataset.
    """

    gate: Gate
    dataset: str
    samples: int


class CheckResult(Struct, frozen=True):
    """What a check found in a config without faults.

    Attributes:
        plan: the built parts of the config; internal, and not part of the public API.
        warnings: of prompts, data and leaks.
        extractions: how well each postprocessor finds the golds of its dataset.
        claims: of the gates.
    """

    plan: Plan
    warnings: Sequence[PromptWarning]
    extractions: Sequence[ExtractionTrial]
    claims: Sequence[Claim]


def check(source: Source, gates: Sequence[str] = ()) -> CheckResult:
    """Check a config without loading weights or asking a model.

    Args:
        source: where the config comes from.
        gates: further conditions, as on the command line.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    plan, warnings = checked(source, thorough=True)
    conditions = [*plan.spec.gates, *(parse_gate(text, "--gate") for text in gates)]
    if faults := gate_faults(conditions, plan):
        raise ConfigFaults(faults)
    extractions = [found for dataset in plan.datasets if (found := try_extraction(dataset))]
    return CheckResult(plan, warnings, extractions, _claims(plan, conditions))


def _claims(plan: Plan, gates: Sequence[Gate]) -> list[Claim]:
    models = [model.spec.abbr for model in plan.models]
    return [
        Claim(gate, dataset.spec.abbr, len(dataset.data.test))
        for gate in gates
        if gate.confidence
        for dataset in plan.datasets
        if any(gate.concerns(model, dataset.spec.abbr) for model in models)
    ]
