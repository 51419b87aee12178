"""Check that gates make sense, before any request."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators.batch import BatchEvaluator
from ais_prompt.plan.plan import Plan, PlannedDataset
from ais_prompt.registry import EVALUATORS, is_shipped
from ais_prompt.types import AVERAGES, Gate, RunSpec
from ais_prompt.types.gate import COUNTS

_OF_REPEATS: Final = re.compile(r"cons@\d+")


def gate_faults(gates: Sequence[Gate], plan: Plan) -> list[ConfigError]:
    """Return the faults of gates: they match no dataset or metric, or no result can satisfy them.

    Args:
        gates: those of the config and of the command line.
        plan: the plan of the config.
    """
    return [
        *(fault for gate in gates for fault in _faults_alone(gate, plan)),
        *(fault for one, other in combinations(gates, 2) for fault in _contradiction(one, other, plan.spec)),
    ]


def _faults_alone(gate: Gate, plan: Plan) -> Iterator[ConfigError]:
    spec = plan.spec
    names = _subjects(spec)
    if not any(gate.concerns(model, name) for model, name in names):
        known = ", ".join(dict.fromkeys(name for _, name in names))
        yield _fault(gate, f"{gate.pattern!r} matches no dataset", f"datasets are {known}; or write model/dataset")
        return
    if gate.confidence is not None:
        yield from _faults_of_claim(gate, spec)
    if gate.limits_drop:
        return
    if gate.counts_answers:
        yield from _faults_of_count(gate)
    else:
        yield from _faults_of_metric(gate, plan)


def _faults_of_claim(gate: Gate, spec: RunSpec) -> Iterator[ConfigError]:
    assert gate.confidence is not None
    least, best = gate.comparator[0] == ">", 100 if gate.percent else 1
    if not 0.5 <= gate.confidence < 1:
        yield _fault(gate, "a confidence is at least 50 % and less than 100 %", "write @95%")
    elif gate.counts_answers:
        yield _fault(gate, f"a claim is about a metric or the drop, not {gate.name}", f"write '{gate.name} <= 1%'")
    elif gate.limits_drop and (least or not 0 < gate.limit < best):
        yield _fault(gate, "a claim about the drop says that it is less than some points", "write 'drop < 1pt @95%'")
    elif not gate.limits_drop and gate.limit == (best if least else 0):
        yield _fault(gate, "no number of samples shows it", "lower the limit" if least else "raise the limit")
    elif not any(gate.concerns(model.abbr, dataset.abbr) for model in spec.models for dataset in spec.datasets):
        yield _fault(gate, "a claim is about a dataset, not an average of several", "leave out the confidence")


def _faults_of_count(gate: Gate) -> Iterator[ConfigError]:
    if not gate.percent and gate.limit.denominator != 1:
        yield _fault(gate, "a number of answers is whole", f"for a share of them write '{gate.name} <= 1%'")
    elif gate.percent and gate.limit > 100:
        yield _fault(gate, "there are no more than 100 % of the answers", "lower the limit")
    elif _is_below_zero(gate) or (gate.percent and gate.comparator == ">" and gate.limit == 100):
        yield _fault(gate, "no number of answers can keep to it", f"write '{gate.name} <= 0' to allow none")


def _faults_of_metric(gate: Gate, plan: Plan) -> Iterator[ConfigError]:
    spec = plan.spec
    meant = [one for one in plan.datasets if any(gate.concerns(model.abbr, one.spec.abbr) for model in spec.models)]
    known = [_Metrics.of(dataset) for dataset in meant]
    groups = [one for one in spec.summary.groups if any(gate.concerns(model.abbr, one.name) for model in spec.models)]
    known += [_Metrics((*AVERAGES, *group.metrics)) for group in groups]
    having = [metrics for metrics in known if metrics.may_have(gate.name)]
    if not having:
        names = list(dict.fromkeys(name for metrics in known for name in metrics.names))
        near = difflib.get_close_matches(gate.name, [*names, *COUNTS], n=1)
        offer = f"did you mean {near[0]!r}?" if near else f"metrics are {', '.join(names) or 'none: no evaluator'}"
        yield _fault(gate, f"no dataset that it concerns has the metric {gate.name!r}", offer)
    elif having and all(metrics.are_fractions for metrics in having):
        best = 100 if gate.percent else 1
        if gate.limit > best:
            fix = "lower the limit" if gate.percent else f"write '{gate.name} {gate.comparator} {float(gate.limit):g}%'"
            yield _fault(gate, f"{gate.name} is never more than {'100 %' if gate.percent else '1'}", fix)
        elif _is_below_zero(gate) or (gate.comparator == ">" and gate.limit == best):
            yield _fault(gate, f"no {gate.name} can keep to it", "write >= or <=")


def _contradiction(one: Gate, other: Gate, spec: RunSpec) -> Iterator[ConfigError]:
    if (one.name, one.percent) != (other.name, other.percent) or one.comparator[0] == other.comparator[0]:
        return
    low, high = (one, other) if one.comparator[0] == ">" else (other, one)
    strict = "=" not in low.comparator or "=" not in high.comparator
    if low.limit < high.limit or (low.limit == high.limit and not strict):
        return
    both = [name for model, name in _subjects(spec) if one.concerns(model, name) and other.concerns(model, name)]
    if both:
        yield _fault(other, f"{both[0]} cannot keep to both {one.text!r} and {other.text!r}", "take one of them out")


def _is_below_zero(gate: Gate) -> bool:
    return gate.comparator == "<" and gate.limit == 0


def _subjects(spec: RunSpec) -> list[tuple[str, str]]:
    """Return each model with each dataset and each group."""
    names = [*(dataset.abbr for dataset in spec.datasets), *(group.name for group in spec.summary.groups)]
    return [(model.abbr, name) for model in spec.models for name in names]


def _fault(gate: Gate, what: str, fix: str) -> ConfigError:
    return ConfigError(f"the gate {gate.text!r}: {what}", where=gate.where, fix=fix)


class _Metrics:
    """The metrics of a dataset or group.

    Attributes:
        names: those that are known.
        are_fractions: whether all of them are surely parts of 1.
    """

    def __init__(self, names: Sequence[str], *, are_fractions: bool = False, are_all: bool = True) -> None:
        self.names = names
        self.are_fractions = are_fractions
        self._are_all = are_all

    def may_have(self, name: str) -> bool:
        """Return whether a metric of this name may exist."""
        return not self._are_all or name in self.names or (bool(self.names) and bool(_OF_REPEATS.fullmatch(name)))

    @classmethod
    def of(cls, dataset: PlannedDataset) -> _Metrics:
        """Return what is known about the metrics of a dataset. A user-defined evaluator may give more than it names."""
        part = dataset.spec.eval.evaluator
        evaluator = dataset.evaluator
        if part is None or evaluator is None:
            return cls(())
        metrics = tuple(evaluator.metrics)
        if dataset.has_turns:
            metrics += tuple(f"dialogue_{metric}" for metric in metrics)
        metrics += tuple(f"pass@{k}" for k in dataset.spec.eval.k)
        shipped = is_shipped(EVALUATORS.get(part.type)) and not isinstance(evaluator, BatchEvaluator)
        fractions = shipped and all(score.fraction for score in evaluator.aggregate(()))
        return cls(metrics, are_fractions=fractions, are_all=shipped)
