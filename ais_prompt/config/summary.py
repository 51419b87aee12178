"""Parse the ``summarizer``: the datasets that the summary shows, and groups with their averages."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ais_prompt.config.keys import Entries, GroupKeys, SummarizerKeys
from ais_prompt.config.section import Faults, shown
from ais_prompt.types import GroupKind, SummaryEntry, SummaryGroup, SummarySpec
from ais_prompt.utils import advice, listed, near_miss

BY_SIZE = "n"
"""In place of weights: the number of questions."""

KINDS: Final[Mapping[str, GroupKind]] = {"std": "standard_deviation", "sum": "sum", "harmonic_mean": "harmonic_mean"}
"""Key of a group that is True → what is computed in place of the average."""


def parse_summary(summarizer: SummarizerKeys, abbrs: Sequence[str], faults: Faults) -> SummarySpec:
    """Return the rows and averages of the summary; note faults.

    A group none of whose datasets is in the run is left out, as configs of OpenCompass list all groups that there are.

    Args:
        summarizer: its keys.
        abbrs: of the datasets.
        faults: of the config.
    """
    known = list(abbrs)
    shows = summarizer.missing == "show"
    groups = []
    for keys in summarizer.summary_groups:
        group = _group(keys, known, faults, shows_missing=shows)
        if group is not None:
            groups.append(group)
            known.append(group.name)
    entries = _entries(
        summarizer.dataset_abbrs, f"{summarizer.where}.dataset_abbrs", known, faults, shows_missing=shows
    )
    return SummarySpec(entries, tuple(groups), shows)


def _group(keys: GroupKeys, known: Sequence[str], faults: Faults, *, shows_missing: bool) -> SummaryGroup | None:
    """Return a group; None if no dataset of it is in this run."""
    names = [_name_in(item) for item in keys.subsets]
    foreign = [name for name in names if name not in known]
    if foreign == names and (shows_missing or not any(near_miss(name, known) for name in foreign)):
        return None
    entries = _entries(keys.subsets, f"{keys.where}.subsets", known, faults, shows_missing=shows_missing)
    weights = _weights(keys, entries, faults)
    # Groups for any run may give a dataset, or another group, one more metric.
    if keys.name in known and not shows_missing:
        what = f"two rows of the summary are called {keys.name!r}"
        faults.add(what, f"{keys.where}.name", "give the group a name of its own")
    kinds = [kind for key, kind in KINDS.items() if getattr(keys, key)]
    if len(kinds) > 1:
        faults.add(f"{keys.where} asks for {' and '.join(kinds)}", f"{keys.where}.name", "make a group for each")
    kinds = kinds or [kind for kind in KINDS.values() if kind == keys.metric]  # the name of its score may say that too
    kind: GroupKind = next(iter(kinds), "average")
    return SummaryGroup(keys.name, entries, weights, keys.where, kind, keys.metric, _transforms(keys, faults))


def _transforms(keys: GroupKeys, faults: Faults) -> Mapping[str, str]:
    """Return dataset → expression of ``x``."""
    transforms = keys.transforms or {}
    for name, expression in transforms.items():
        try:
            evaluate(expression if isinstance(expression, str) else "", 0.5)
        except ValueError as error:
            fix = "write numbers, x, + - * /, min, max and abs: '(2 - x) / 2 * 100'"
            faults.add(f"the transform of {name!r} cannot be used: {error}", f"{keys.where}.transforms", fix)
    return transforms


def _entries(
    items: Entries, where: str, known: Sequence[str], faults: Faults, *, shows_missing: bool
) -> tuple[SummaryEntry, ...]:
    """Return the entries of names. Lines such as ``'--- exams ---'``, titles in OpenCompass, are skipped."""
    entries = []
    for index, item in enumerate(items):
        name = _name_in(item)
        if name in known or (shows_missing and name and not name.startswith("--")):
            entries.append(SummaryEntry(name, None if isinstance(item, str) else item[1]))
        elif name and not name.startswith("--"):
            faults.add(f"there is no dataset or group {name!r}", f"{where}[{index}]", advice(name, known))
    return tuple(entries)


def _name_in(item: str | tuple[str, str]) -> str:
    return item if isinstance(item, str) else item[0]


def _weights(keys: GroupKeys, entries: Sequence[SummaryEntry], faults: Faults) -> Mapping[str, float] | str | None:
    """Return dataset → weight, `BY_SIZE`, or ``@METRIC``."""
    weights = keys.weights
    if weights is None or weights == BY_SIZE or (isinstance(weights, str) and re.fullmatch("@.+", weights)):
        return weights
    if isinstance(weights, str) or not _weighs_each(weights, entries):
        fix = f"give one number from 0 for each of {listed([entry.name for entry in entries])}; not all can be 0"
        faults.add(f"{keys.where}.weights is {shown(weights)}", f"{keys.where}.weights", fix)
        return None
    return {name: float(weight) for name, weight in weights.items()}


def _weighs_each(weights: Mapping[Any, Any], entries: Sequence[SummaryEntry]) -> bool:
    """Return whether every entry has a weight, by its name or key, nothing else has one, and not all are 0."""
    if not all(map(_is_weight, weights.values())) or not any(weights.values()):
        return False
    named = [{entry.name, entry.key} for entry in entries]
    return all(not names.isdisjoint(weights) for names in named) and set(weights) <= set().union(*named)


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


_OPERATORS: Final[dict[type, Callable[..., float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Final[dict[str, Callable[..., float]]] = {"min": min, "max": max, "abs": abs}


def evaluate(expression: str, x: float) -> float:
    """Return the value of an expression of numbers, ``x``, ``+ - * /``, ``min``, ``max`` and ``abs``.

    Raises:
        ValueError: it is anything else, or divides by zero.
    """
    try:
        return float(_value(ast.parse(expression.strip(), mode="eval").body, x))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is not an expression of x") from error
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(f"{expression!r} has no value for x = {x}: {error}") from error


def _value(node: ast.expr, x: float) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="x"):
            return x
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, x), _value(right, x))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, x))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_value(argument, x) for argument in args))
    raise ValueError(f"{ast.unparse(node)!r} cannot be in an expression of x")
