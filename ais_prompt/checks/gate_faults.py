"""Check that gates make sense, before any request."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations
from typing import Final, NamedTuple, TypeAlias

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators import AsksInParts, BatchEvaluator
from ais_prompt.extension import REINSTALL, import_object, missing_extension
from ais_prompt.plan import Plan, PlannedDataset
from ais_prompt.registry import EVALUATORS, is_shipped
from ais_prompt.steps import brought_gate, known_metrics, mode_of_metric
from ais_prompt.types import AVERAGES, COUNTS, Gate, RunSpec
from ais_prompt.utils import is_missing, nearest

_OF_REPEATS: Final = re.compile(r"(?:.+\.)?cons@\d+")
_Fault: TypeAlias = tuple[str, str]
"""What is wrong with a gate, and what to do."""


def faults_of_gates(gates: Sequence[Gate], plan: Plan) -> list[ConfigError]:
    """Return the faults of gates: they match no dataset or metric, or no result can satisfy them.

    Args:
        gates: those of the config and of the command line.
        plan: the plan of the config.
    """
    alone = ((gate, fault) for gate in gates for fault in _faults_alone(gate, plan))
    pairs = ((other, _contradiction(one, other, plan.spec)) for one, other in combinations(gates, 2))
    return [
        ConfigError(f"the gate {gate.text!r}: {fault[0]}", where=gate.where, fix=fault[1])
        for gate, fault in chain(alone, pairs)
        if fault
    ]


def _faults_alone(gate: Gate, plan: Plan) -> Iterator[_Fault | None]:
    names = {name for _, name in _concerned(gate, plan.spec)}
    if not names:
        known = ", ".join(dict.fromkeys(name for _, name in _subjects(plan.spec)))
        yield f"{gate.pattern!r} matches no dataset", f"datasets are {known}; or write model/dataset"
        return
    yield _fault_of_claim(gate, names, plan.spec)
    yield _fault_of_evaluator(gate, names, plan.spec)
    if gate.limits_drop or mode_of_metric(gate.name):
        return
    if (brought := brought_gate(gate.name)) is not None:
        yield import_object(brought.fault)(plan.spec)
    elif gate.holds_each:
        yield _fault_of_each(gate)
    elif gate.counts_answers:
        yield _fault_of_count(gate)
    else:
        yield _fault_of_metric(gate, names, plan)


def _fault_of_claim(gate: Gate, names: Collection[str], spec: RunSpec) -> _Fault | None:
    if gate.confidence is None:
        return None
    least, best = gate.comparator[0] == ">", _best(gate)
    if not 0.5 <= gate.confidence < 1:
        return "a confidence is at least 50 % and less than 100 %", "write @95%"
    if gate.counts_answers or gate.holds_each:
        fix = "write 'each >= 4 of 5'" if gate.holds_each else f"write '{gate.name} <= 1%'"
        return f"a claim is about a metric or the drop, not {gate.name}", fix
    if gate.limits_drop and (least or not 0 < gate.limit < best):
        return "a claim about the drop says that it is less than some points", "write 'drop < 1pt @95%'"
    if not gate.limits_drop and gate.limit == (best if least else 0):
        return "no number of samples shows it", "lower the limit" if least else "raise the limit"
    if all(dataset.abbr not in names for dataset in spec.datasets):
        return "a claim is about a dataset, not an average of several", "leave out the confidence"
    return None


def _fault_of_evaluator(gate: Gate, names: Collection[str], spec: RunSpec) -> _Fault | None:
    further = dict.fromkeys(one.name for each in spec.datasets if each.abbr in names for one in each.eval.further)
    if not gate.evaluator or gate.evaluator in further:
        return None
    own = gate.name.rpartition(".")[2]
    fix = f"further evaluators are {', '.join(further)}" if further else f"write '{own}': there is one evaluator"
    return f"no dataset that it concerns has a further evaluator {gate.evaluator!r}", fix


def _fault_of_each(gate: Gate) -> _Fault | None:
    if gate.limit > _best(gate):
        return "no sample has more than all of its answers right", "write 'each >= 4 of 5' or 80%"
    return ("no sample can keep to it", "write >= or <=") if _allows_nothing(gate) else None


def _fault_of_count(gate: Gate) -> _Fault | None:
    if not gate.percent and gate.limit.denominator != 1:
        return "a number of answers is whole", f"for a share of them write '{gate.name} <= 1%'"
    if gate.percent and gate.limit > 100:
        return "there are no more than 100 % of the answers", "lower the limit"
    if _allows_nothing(gate) and (gate.percent or gate.limit == 0):
        return "no number of answers can keep to it", f"write '{gate.name} <= 0' to allow none"
    return None


def _fault_of_metric(gate: Gate, names: Collection[str], plan: Plan) -> _Fault | None:
    known = [_Metrics.of(dataset) for dataset in plan.scorings if dataset.spec.abbr in names]
    if gate.name in known_metrics():
        # Extensions may score a dataset that has no evaluator, or no golds.
        known += [
            _Metrics((gate.name,), are_fractions=True)
            for one in plan.datasets
            if one.spec.abbr in names
            and (one.spec.eval.evaluator is None or all(is_missing(sample.gold) for sample in one.data.test))
        ]
    known += [_Metrics((*AVERAGES, *group.metrics)) for group in plan.spec.summary.groups if group.name in names]
    having = [metrics for metrics in known if metrics.may_have(gate.name)]
    if not having and (owner := missing_extension(f"--gate {gate.name}")):
        return f"the extension {owner!r} measures {gate.name!r}, and is not here", REINSTALL
    if not having:
        offered = list(dict.fromkeys(name for metrics in known for name in metrics.names))
        near = nearest(gate.name, [*offered, *COUNTS])
        fix = f"did you mean {near!r}?" if near else f"metrics are {', '.join(offered) or 'none: no evaluator'}"
        return f"no dataset that it concerns has the metric {gate.name!r}", fix
    if not all(metrics.are_fractions for metrics in having):
        return None
    if gate.limit > _best(gate):
        fix = "lower the limit" if gate.percent else f"write '{gate.name} {gate.comparator} {float(gate.limit):g}%'"
        return f"{gate.name} is never more than {'100 %' if gate.percent else '1'}", fix
    return (f"no {gate.name} can keep to it", "write >= or <=") if _allows_nothing(gate) else None


def _contradiction(one: Gate, other: Gate, spec: RunSpec) -> _Fault | None:
    if (one.name, one.percent) != (other.name, other.percent) or one.comparator[0] == other.comparator[0]:
        return None
    low, high = (one, other) if one.comparator[0] == ">" else (other, one)
    strict = "=" not in low.comparator or "=" not in high.comparator
    if low.limit < high.limit or (low.limit == high.limit and not strict):
        return None
    covered = set(_concerned(other, spec))
    both = [name for model, name in _concerned(one, spec) if (model, name) in covered]
    return (f"{both[0]} cannot keep to both {one.text!r} and {other.text!r}", "take one of them out") if both else None


def _best(gate: Gate) -> int:
    """Return the highest value of a share, in the unit of the gate."""
    return 100 if gate.percent else 1


def _allows_nothing(gate: Gate) -> bool:
    """Return whether no share keeps to a gate: it would be less than 0, or more than the best."""
    return (gate.comparator == "<" and gate.limit == 0) or (gate.comparator == ">" and gate.limit == _best(gate))


def _concerned(gate: Gate, spec: RunSpec) -> list[tuple[str, str]]:
    bases = {model.abbr: model.base for model in spec.models} | {one.abbr: one.base for one in spec.datasets}
    return [
        (model, name)
        for model, name in _subjects(spec)
        if gate.concerns(model, name, bases.get(model, ""), bases.get(name, ""))
    ]


def _subjects(spec: RunSpec) -> list[tuple[str, str]]:
    """Return each model with each dataset and each group."""
    names = [*(dataset.abbr for dataset in spec.datasets), *(group.name for group in spec.summary.groups)]
    return [(model.abbr, name) for model in spec.models for name in names]


class _Metrics(NamedTuple):
    """The metrics of a dataset or group.

    Attributes:
        names: those that are known.
        are_fractions: whether all of them are surely parts of 1.
        are_all: whether there are no others.
    """

    names: Sequence[str]
    are_fractions: bool = False
    are_all: bool = True

    def may_have(self, name: str) -> bool:
        """Return whether a metric of this name may exist."""
        return not self.are_all or name in self.names or (bool(self.names) and bool(_OF_REPEATS.fullmatch(name)))

    @classmethod
    def of(cls, dataset: PlannedDataset) -> _Metrics:
        """Return what is known about the metrics of a dataset. A user-defined evaluator may give more than it names."""
        from ais_prompt.judges import ALPHA

        part = dataset.spec.eval.evaluator
        evaluator = dataset.evaluator
        if part is None or evaluator is None:
            return cls(())
        metrics = tuple(evaluator.metrics)
        if dataset.has_turns:
            metrics += tuple(f"dialogue_{metric}" for metric in metrics)
        metrics += tuple(f"pass@{k}" for k in dataset.spec.eval.k)
        several_judges = len(dataset.judges) > 1
        metrics += (ALPHA,) if several_judges else ()
        if evaluator_name := dataset.spec.eval.name:
            metrics += tuple(f"{evaluator_name}.{metric}" for metric in metrics)
        shipped = is_shipped(EVALUATORS.get(part.type)) and not isinstance(evaluator, BatchEvaluator | AsksInParts)
        fractions = shipped and not several_judges and all(score.fraction for score in evaluator.aggregate(()))
        return cls(metrics, are_fractions=fractions, are_all=shipped)
