"""Check that gates make sense, before any request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators import AsksInParts, BatchEvaluator
from ais_prompt.extension import REINSTALL, import_object, missing_extension
from ais_prompt.plan import Plan, PlannedDataset
from ais_prompt.registry import EVALUATORS, is_shipped
from ais_prompt.steps import brought_gate, known_metrics, mode_of_metric
from ais_prompt.types import AVERAGES, COUNTS, Gate, RunSpec
from ais_prompt.utils import is_missing, nearest

_OF_REPEATS: Final = re.compile(r"(?:.+\.)?cons@\d+")


def faults_of_gates(gates: Sequence[Gate], plan: Plan) -> list[ConfigError]:
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
    if not _concerned(gate, spec):
        known = ", ".join(dict.fromkeys(name for _, name in _subjects(spec)))
        yield _fault(gate, f"{gate.pattern!r} matches no dataset", f"datasets are {known}; or write model/dataset")
        return
    if gate.confidence is not None:
        yield from _faults_of_claim(gate, spec)
    if gate.evaluator:
        yield from _faults_of_evaluator(gate, spec)
    if gate.limits_drop or mode_of_metric(gate.name):
        return
    if (brought := brought_gate(gate.name)) is not None:
        if (fault := import_object(brought.fault)(spec)) is not None:
            yield _fault(gate, *fault)
        return
    if gate.holds_each:
        yield from _faults_of_each(gate)
        return
    if gate.counts_answers:
        yield from _faults_of_count(gate)
    else:
        yield from _faults_of_metric(gate, plan)


def _faults_of_claim(gate: Gate, spec: RunSpec) -> Iterator[ConfigError]:
    assert gate.confidence is not None
    least, best = gate.comparator[0] == ">", _best(gate)
    datasets = {dataset.abbr for dataset in spec.datasets}
    rules = (
        (not 0.5 <= gate.confidence < 1, "a confidence is at least 50 % and less than 100 %", "write @95%"),
        (
            gate.counts_answers or gate.holds_each,
            f"a claim is about a metric or the drop, not {gate.name}",
            "write 'each >= 4 of 5'" if gate.holds_each else f"write '{gate.name} <= 1%'",
        ),
        (
            gate.limits_drop and (least or not 0 < gate.limit < best),
            "a claim about the drop says that it is less than some points",
            "write 'drop < 1pt @95%'",
        ),
        (
            not gate.limits_drop and gate.limit == (best if least else 0),
            "no number of samples shows it",
            "lower the limit" if least else "raise the limit",
        ),
        (
            datasets.isdisjoint(name for _, name in _concerned(gate, spec)),
            "a claim is about a dataset, not an average of several",
            "leave out the confidence",
        ),
    )
    yield from _first_fault(gate, rules)


def _faults_of_count(gate: Gate) -> Iterator[ConfigError]:
    is_whole = gate.limit.denominator == 1
    rules = (
        (
            not (gate.percent or is_whole),
            "a number of answers is whole",
            f"for a share of them write '{gate.name} <= 1%'",
        ),
        (gate.percent and gate.limit > 100, "there are no more than 100 % of the answers", "lower the limit"),
        (
            _is_below_zero(gate) or (gate.percent and _is_above_best(gate)),
            "no number of answers can keep to it",
            f"write '{gate.name} <= 0' to allow none",
        ),
    )
    yield from _first_fault(gate, rules)


def _faults_of_each(gate: Gate) -> Iterator[ConfigError]:
    rules = (
        (gate.limit > _best(gate), "no sample has more than all of its answers right", "write 'each >= 4 of 5' or 80%"),
        (_is_below_zero(gate) or _is_above_best(gate), "no sample can keep to it", "write >= or <="),
    )
    yield from _first_fault(gate, rules)


def _faults_of_evaluator(gate: Gate, spec: RunSpec) -> Iterator[ConfigError]:
    names = {name for _, name in _concerned(gate, spec)}
    further = dict.fromkeys(one.name for each in spec.datasets if each.abbr in names for one in each.eval.further)
    if gate.evaluator not in further:
        own = gate.name.rpartition(".")[2]
        fix = f"further evaluators are {', '.join(further)}" if further else f"write '{own}': there is one evaluator"
        yield _fault(gate, f"no dataset that it concerns has a further evaluator {gate.evaluator!r}", fix)


def _faults_of_metric(gate: Gate, plan: Plan) -> Iterator[ConfigError]:
    names = {name for _, name in _concerned(gate, plan.spec)}
    known = [_Metrics.of(dataset) for dataset in plan.scorings if dataset.spec.abbr in names]
    if gate.name in known_metrics():
        datasets = [dataset for dataset in plan.datasets if dataset.spec.abbr in names]
        known += [_Metrics((gate.name,), are_fractions=True) for dataset in datasets if _may_be_known(dataset)]
    known += [_Metrics((*AVERAGES, *group.metrics)) for group in plan.spec.summary.groups if group.name in names]
    having = [metrics for metrics in known if metrics.may_have(gate.name)]
    if not having and (owner := missing_extension(f"--gate {gate.name}")):
        yield _fault(gate, f"the extension {owner!r} measures {gate.name!r}, and is not here", REINSTALL)
    elif not having:
        yield _fault(gate, f"no dataset that it concerns has the metric {gate.name!r}", _offered_metrics(gate, known))
    elif all(metrics.are_fractions for metrics in having):
        yield from _faults_of_fraction(gate)


def _may_be_known(dataset: PlannedDataset) -> bool:
    """Return whether extensions may score a dataset: it has no evaluator, or no golds."""
    return dataset.spec.eval.evaluator is None or all(is_missing(sample.gold) for sample in dataset.data.test)


def _offered_metrics(gate: Gate, known: Sequence[_Metrics]) -> str:
    """Return the metric with the nearest name as a question, or all metrics."""
    names = list(dict.fromkeys(name for metrics in known for name in metrics.names))
    near = nearest(gate.name, [*names, *COUNTS])
    return f"did you mean {near!r}?" if near else f"metrics are {', '.join(names) or 'none: no evaluator'}"


def _faults_of_fraction(gate: Gate) -> Iterator[ConfigError]:
    rules = (
        (
            gate.limit > _best(gate),
            f"{gate.name} is never more than {'100 %' if gate.percent else '1'}",
            "lower the limit" if gate.percent else f"write '{gate.name} {gate.comparator} {float(gate.limit):g}%'",
        ),
        (_is_below_zero(gate) or _is_above_best(gate), f"no {gate.name} can keep to it", "write >= or <="),
    )
    yield from _first_fault(gate, rules)


def _first_fault(gate: Gate, rules: Iterable[tuple[bool, str, str]]) -> Iterator[ConfigError]:
    """Yield the fault of the first rule that a gate breaks.

    Args:
        gate: the gate.
        rules: whether it is broken, what is wrong then, and what to do.
    """
    for is_broken, what, fix in rules:
        if is_broken:
            yield _fault(gate, what, fix)
            return


def _contradiction(one: Gate, other: Gate, spec: RunSpec) -> Iterator[ConfigError]:
    if (one.name, one.percent) != (other.name, other.percent) or one.comparator[0] == other.comparator[0]:
        return
    low, high = (one, other) if one.comparator[0] == ">" else (other, one)
    strict = "=" not in low.comparator or "=" not in high.comparator
    if low.limit < high.limit or (low.limit == high.limit and not strict):
        return
    covered = set(_concerned(other, spec))
    both = [name for model, name in _concerned(one, spec) if (model, name) in covered]
    if both:
        yield _fault(other, f"{both[0]} cannot keep to both {one.text!r} and {other.text!r}", "take one of them out")


def _best(gate: Gate) -> int:
    """Return the highest value of a share, in the unit of the gate."""
    return 100 if gate.percent else 1


def _is_below_zero(gate: Gate) -> bool:
    return gate.comparator == "<" and gate.limit == 0


def _is_above_best(gate: Gate) -> bool:
    return gate.comparator == ">" and gate.limit == _best(gate)


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
