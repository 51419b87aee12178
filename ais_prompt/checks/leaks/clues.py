"""Search for golds that another column, or the form of the choices, gives away.

The choices of a dataset are found first: their columns, and the position of the gold among them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.checks.leaks.chance import (
    NOTICEABLE,
    NOTICEABLE_LOOK,
    Clue,
    drawn,
    p_of_hits,
    p_of_matches,
    p_of_positions,
    value_text,
)
from ais_prompt.checks.leaks.words import spaced
from ais_prompt.types import Sample

MAX_ROWS: Final = 2_000
"""Questions that are looked at, drawn with a seed if there are more."""

MAX_COUNTED: Final = 26
"""Different golds that are counted in texts: those of labels, which all texts may have."""

_IN_COLUMN: Final = "nothing, if answers are to be read or chosen there; else take the gold out of the column"
_IN_CHOICES: Final = "shuffle the choices of each question, and make the wrong ones look like the right one"


def find_clues(
    samples: Sequence[Sample], columns: Sequence[str], golds_of: Callable[[Sample], Sequence[str]]
) -> list[Clue]:
    """Return the result of every test, alarming or not.

    Args:
        samples: all questions.
        columns: the columns that their prompts show.
        golds_of: the texts that count as the gold of a sample; none if it has no text.
    """
    chosen = drawn(samples, range(len(samples)), MAX_ROWS, columns)
    asked = [(sample, gold) for sample in chosen if (gold := tuple(golds_of(sample)))]
    if not asked:
        return []
    rows = [sample.index for sample, _ in asked]
    fields = [sample.fields for sample, _ in asked]
    golds = [gold for _, gold in asked]
    layout = _layout(columns, fields, golds)
    others = [column for column in columns if layout is None or column not in layout.columns]
    texts = {column: [spaced(value_text(row.get(column))) for row in fields] for column in others}
    clues = list(_in_columns(texts, rows, golds))
    if layout is not None:
        clues += _in_choices(layout, rows, texts)
    return clues


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


def _layout(
    columns: Sequence[str], fields: Sequence[Mapping[str, Any]], golds: Sequence[tuple[str, ...]]
) -> ChoiceLayout | None:
    """Return how the choices are stored; None if there are none, or a question has several golds."""
    if any(len(gold) > 1 for gold in golds):
        return None
    return find_choices(columns, fields, [gold[0] for gold in golds])


def _in_columns(
    texts: Mapping[str, Sequence[str]], rows: Sequence[int], golds: Sequence[tuple[str, ...]]
) -> Iterator[Clue]:
    numbers = {gold: number for number, gold in enumerate(dict.fromkeys(golds))}
    own = np.array([numbers[gold] for gold in golds])
    phrases = [[phrase for text in gold if (phrase := spaced(text)).strip()] for gold in numbers]
    labels = [number for number, gold in enumerate(phrases) if len(gold) == 1 and gold[0].strip() in ascii_uppercase]
    for column, column_texts in texts.items():
        matches = _matches(column_texts, phrases)
        # All labels match where a text lists the choices, A and B at least: it may list fewer than others do.
        lists = [index for index, text in enumerate(column_texts) if " A " in text and " B " in text]
        matches[np.ix_(lists, labels)] = True
        what = f"the gold occurs in the column {column!r}, which the prompt shows,"
        occurs = _match_clue(what, matches, own, rows, NOTICEABLE)
        yield occurs
        if len(numbers) <= MAX_COUNTED and occurs.share - occurs.chance < NOTICEABLE:
            what = f"of all golds, the right one occurs most often in the column {column!r}, which the prompt shows,"
            yield _match_clue(what, _most_frequent(column_texts, phrases), own, rows, NOTICEABLE_LOOK)


def _match_clue(
    what: str, matches: NDArray[np.bool_], own: NDArray[np.intp], rows: Sequence[int], noticeable: float
) -> Clue:
    """Return how often the own gold is among those that match a text."""
    hits = [index for index, gold in enumerate(own) if matches[index, gold]]
    p = p_of_matches(matches, own) if hits else 1.0
    chance = float(matches[:, own].mean())
    return Clue(what, [rows[index] for index in hits], len(rows), chance, p, _IN_COLUMN, noticeable)


def _most_frequent(texts: Sequence[str], golds: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Return which gold occurs more often in a text than all others, shape (texts, golds)."""
    counts = np.array([[sum(text.count(phrase) for phrase in own) for own in golds] for text in texts])
    most: NDArray[np.bool_] = counts == counts.max(axis=1, keepdims=True)
    most[most.sum(axis=1) > 1] = False
    return most


def _matches(texts: Sequence[str], golds: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Return whether a phrase of a gold occurs in a text, shape (texts, golds); looked up by its rarest word."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        for word in set(text.split()):
            places[word].append(row)
    found = np.zeros((len(texts), len(golds)), dtype=np.bool_)
    for number, phrases in enumerate(golds):
        for phrase in phrases:
            rarest = min((places.get(word, []) for word in phrase.split()), key=len)
            found[[row for row in rarest if phrase in texts[row]], number] = True
    return found


def _in_choices(layout: ChoiceLayout, rows: Sequence[int], texts: Mapping[str, Sequence[str]]) -> Iterator[Clue]:
    questions = layout.questions
    yield _position_clue(questions, rows)
    if not layout.columns:
        return
    rest = [" ".join(row) for row in zip(*texts.values(), strict=True)] or [""] * len(rows)
    for name, (pick, fix) in _PICKS.items():
        picked = [pick(question.texts, text) for question, text in zip(questions, rest, strict=True)]
        yield _pick_clue(f"the right choice is {name}", picked, questions, rows, fix)


def _pick_clue(
    what: str, picked: Sequence[int | None], questions: Sequence[Choices], rows: Sequence[int], fix: str
) -> Clue:
    """Return how often the choice that was picked without the question, None for no choice, is the right one."""
    tried = [index for index, place in enumerate(picked) if place is not None]
    hits = [index for index in tried if picked[index] == questions[index].gold]
    options = [questions[index].options for index in tried]
    p = p_of_hits(len(hits), options) if hits else 1.0
    chance = sum(1 / n for n in options) / len(rows)
    return Clue(what, [rows[index] for index in hits], len(rows), chance, p, fix, NOTICEABLE_LOOK)


def _position_clue(questions: Sequence[Choices], rows: Sequence[int]) -> Clue:
    options = [question.options for question in questions]
    counts = np.bincount([question.gold for question in questions], minlength=max(options))
    chances = np.array([sum(1 / n for n in options if n > place) for place in range(len(counts))])
    place = int(np.argmax(counts - chances))
    return Clue(
        f"the right choice is number {place + 1}",
        [row for row, question in zip(rows, questions, strict=True) if question.gold == place],
        len(rows),
        float(chances[place]) / len(rows),
        p_of_positions(counts.tolist(), options),
        "shuffle the choices of each question",
    )


def _only_one(values: Sequence[Any], best: Callable[[Sequence[Any]], Any]) -> int | None:
    """Return the position of the best value; None if several share it."""
    return values.index(best(values)) if values.count(best(values)) == 1 else None


def _odd_one(characters: Sequence[str]) -> int | None:
    """Return the position of the only choice with another kind of characters; letters and digits are one kind."""
    kinds = ["" if character.isalnum() else character for character in characters]
    odd = [place for place, kind in enumerate(kinds) if kinds.count(kind) == 1]
    return odd[0] if len(kinds) > 2 and len(odd) == 1 and len(set(kinds)) == 2 else None


def _elsewhere(choices: Sequence[str], text: str) -> list[bool]:
    """Return which choices occur in a text."""
    phrases = map(spaced, choices)
    return [phrase.strip() != "" and phrase in text for phrase in phrases]


def _case(choice: str) -> str:
    """Return how a choice begins: "upper" or "lower"; an empty text if not with a letter, or one without case."""
    first = choice.lstrip()[:1]
    return "upper" if first.isupper() else "lower" if first.islower() else ""


_Pick = Callable[[Sequence[str], str], int | None]
_PICKS: Final[Mapping[str, tuple[_Pick, str]]] = {
    "the longest": (lambda choices, _: _only_one([len(one) for one in choices], max), _IN_CHOICES),
    "the shortest": (lambda choices, _: _only_one([len(one) for one in choices], min), _IN_CHOICES),
    "the only one that begins with a capital": (
        lambda choices, _: _only_one([_case(one) == "upper" for one in choices], max),
        _IN_CHOICES,
    ),
    "the only one that begins with a small letter": (
        lambda choices, _: _only_one([_case(one) == "lower" for one in choices], max),
        _IN_CHOICES,
    ),
    "the only one in capitals": (lambda choices, _: _only_one([one.isupper() for one in choices], max), _IN_CHOICES),
    "the only one that begins as it does": (lambda choices, _: _odd_one([one[:1] for one in choices]), _IN_CHOICES),
    "the only one that ends as it does": (lambda choices, _: _odd_one([one[-1:] for one in choices]), _IN_CHOICES),
    "the only one that ends with a full stop": (
        lambda choices, _: _only_one([one.rstrip().endswith((".", "。")) for one in choices], max),
        _IN_CHOICES,
    ),
    "the only one that occurs elsewhere in the prompt": (
        lambda choices, text: _only_one(_elsewhere(choices, text), max),
        _IN_COLUMN,
    ),
}
"""What tells a choice apart → which choice of a question it is, from the choices and the rest of the prompt; and the
fix."""

_LABELLED: Final = re.compile(r"(.*?)[_\-. ]?([A-Za-z]|\d)")
"""A column such as ``A``, ``option_b`` or ``sol1``: the stem and the label."""

_ORDERS: Final = (ascii_lowercase, "0123456789", "123456789")

_Options = tuple[Sequence[str], Sequence[str]]
"""The labels and the texts of the choices of one question."""


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
