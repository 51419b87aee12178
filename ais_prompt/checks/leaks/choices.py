"""Find the choices of a dataset: their columns, and the position of the gold among them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from string import ascii_lowercase
from typing import Any, Final

from msgspec import Struct

_LABELLED: Final = re.compile(r"(.*?)[_\-. ]?([A-Za-z]|\d)")
"""A column such as ``A``, ``option_b`` or ``sol1``: the stem and the label."""

_ORDERS: Final = (ascii_lowercase, "0123456789", "123456789")


class Choices(Struct, frozen=True):
    """The choices of one question.

    Attributes:
        texts: the choices in their order; empty if only the label of the right one is known.
        options: how many there are.
        gold: the place of the right one, from 0.
    """

    texts: tuple[str, ...]
    options: int
    gold: int


class ChoiceLayout(Struct, frozen=True):
    """The choices of all questions, and the columns that hold them."""

    columns: tuple[str, ...]
    questions: list[Choices]


_Options = tuple[Sequence[str], Sequence[str]]
"""The labels and the texts of the choices of one question."""


def find_choices(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], golds: Sequence[str]
) -> ChoiceLayout | None:
    """Return how a dataset stores its choices; None if it seems to have none.

    They are a column with lists, one with ``label`` and ``text`` lists, or columns named by label; the gold is a label,
    a place, or the text of a choice, by the same rule in every row. Otherwise golds that are all letters are labels.

    Args:
        columns: the columns that prompts show.
        rows: the columns of each question.
        golds: the gold of each question.
    """
    for used, options_of in _layouts(columns, rows):
        if questions := _choices([options_of(row) for row in rows], golds):
            return ChoiceLayout(used, questions)
    letters = [ascii_lowercase.find(gold.lower()) if len(gold) == 1 else -1 for gold in golds]
    if not letters or min(letters) < 0 or not 2 <= max(letters) + 1 <= 10:
        return None
    return ChoiceLayout((), [Choices((), max(letters) + 1, place) for place in letters])


def strange_golds(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], golds: Sequence[str], few: float
) -> list[int] | None:
    """Return the places of the golds that are none of the choices, by the rule that fits the most rows.

    Args:
        columns, rows, golds: as in `find_choices`.
        few: share of the rows that may not fit the rule.

    Returns:
        None if no rule fits, as where there are no choices.
    """
    fitting = [
        [place for place, gold in enumerate(golds) if _place(rule, gold, options[place]) is None]
        for _, options_of in _layouts(columns, rows)
        for options in [[options_of(row) for row in rows]]
        for rule in _RULES
    ]
    misses = min(fitting, key=len, default=None)
    return misses if misses is not None and len(misses) <= max(1, few * len(golds)) else None


def _choices(options: Sequence[_Options | None], golds: Sequence[str]) -> list[Choices] | None:
    """Return the choices of each question; None if one has fewer than two, or no rule says which is the right one."""
    known = [found for found in options if found is not None and len(found[1]) >= 2]
    if len(known) < len(options):
        return None
    places = next(filter(None, (_places(rule, golds, known) for rule in _RULES)), None)
    if places is None:
        return None
    return [Choices(tuple(texts), len(texts), place) for (_, texts), place in zip(known, places, strict=True)]


def _layouts(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, ...], Callable[[Mapping[str, Any]], _Options | None]]]:
    for column in columns:
        if rows and isinstance(rows[0].get(column), list | tuple | Mapping):
            yield (column,), partial(_listed, column)
    stems: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        if match := _LABELLED.fullmatch(column):
            stems[match[1]][match[2].lower()] = column
    for named in stems.values():
        labels = max(("".join(takewhile(named.__contains__, order)) for order in _ORDERS), key=len)
        if len(labels) >= 2:
            used = tuple(named[label] for label in labels)
            yield used, partial(_named, used, labels)


def _listed(column: str, row: Mapping[str, Any]) -> _Options | None:
    labels: Any = ()
    value = row.get(column)
    if isinstance(value, Mapping):
        labels, value = value.get("label", ()), value.get("text")
    if not isinstance(value, list | tuple) or not all(isinstance(text, str | int | float) for text in value):
        return None
    if not isinstance(labels, list | tuple) or len(labels) not in (0, len(value)):
        return None
    return [str(label).lower() for label in labels], [str(text) for text in value]


def _named(columns: Sequence[str], labels: str, row: Mapping[str, Any]) -> _Options:
    """Return choices stored in columns; the last may be empty if questions have different numbers of choices."""
    texts = [row.get(column) for column in columns]
    there = list(takewhile(lambda text: text not in (None, ""), texts))
    return list(labels[: len(there)]), [str(text) for text in there]


def _by_label(gold: str, labels: Sequence[str], texts: Sequence[str]) -> int:  # noqa: ARG001
    return labels.index(gold.lower())


def _by_text(gold: str, labels: Sequence[str], texts: Sequence[str]) -> int:  # noqa: ARG001
    return [text.strip() for text in texts].index(gold)


def _by_letter(gold: str, labels: Sequence[str], texts: Sequence[str]) -> int:  # noqa: ARG001
    return range(len(texts)).index(list(ascii_lowercase).index(gold.lower()))


def _from_0(gold: str, labels: Sequence[str], texts: Sequence[str]) -> int:  # noqa: ARG001
    return range(len(texts)).index(int(gold))


def _from_1(gold: str, labels: Sequence[str], texts: Sequence[str]) -> int:  # noqa: ARG001
    return range(1, len(texts) + 1).index(int(gold))


_RULES: Final = (_by_label, _by_text, _by_letter, _from_0, _from_1)


def _place(rule: Callable[[str, Sequence[str], Sequence[str]], int], gold: str, options: _Options | None) -> int | None:
    """Return the place of a gold among the choices by a rule; None if it is none of them."""
    if options is None or len(options[1]) < 2:
        return None
    try:
        return rule(gold.strip(), *options)
    except (ValueError, IndexError):
        return None


def _places(
    rule: Callable[[str, Sequence[str], Sequence[str]], int], golds: Sequence[str], options: Sequence[_Options]
) -> list[int] | None:
    places = [_place(rule, gold, own) for gold, own in zip(golds, options, strict=True)]
    known = [place for place in places if place is not None]
    return known if len(known) == len(places) else None
