"""Search for golds that another column gives away; columns with the choices of a question do not.

Each test compares what is seen with chance. A finding counts if it is significant after the correction of Bonferroni
for all tests, and large enough to matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.leaks.words import SEED, and_so_on, drawn, spaced, value_text
from ais_prompt.types import Sample

MAX_ROWS: Final = 2_000
"""Questions that are looked at, drawn with a seed if there are more."""

MAX_COUNTED: Final = 26
"""Different golds that are counted in texts: those of labels, which all texts may have."""

_IN_COLUMN: Final = "nothing, if answers are to be read or chosen there; else take the gold out of the column"

DRAWS: Final = 9_999
"""Random draws of a test; the smallest p-value is one over one more of them."""

ALPHA: Final = 0.01
"""The share of datasets without a leak that raise an alarm, at most; divided by the number of tests (Bonferroni)."""

NOTICEABLE: Final = 0.05
"""An excess over chance, as a share of the questions, below which there is no alarm however significant it is."""

NOTICEABLE_MOST: Final = 0.1
"""The same for what a question about a text may well say: the gold most often, or the right choice alone."""


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
    choices = find_choices(columns, fields, [gold[0] for gold in golds]) if {*map(len, golds)} == {1} else None
    others = [column for column in columns if choices is None or column not in choices.columns]
    texts = {column: [spaced(value_text(row.get(column))) for row in fields] for column in others}
    clues = list(_in_columns(texts, rows, golds))
    return [*clues, _choice_elsewhere(choices, texts, rows)] if choices and texts else clues


class Choices(Struct, frozen=True):
    """The choices of all questions.

    Attributes:
        columns: those that hold them.
        texts: of each question, the choices in their order.
        golds: of each question, the place of the right one, from 0.
    """

    columns: tuple[str, ...]
    texts: list[Sequence[str]]
    golds: list[int]


def find_choices(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], golds: Sequence[str]) -> Choices | None:
    """Return the choices of each question; None if the golds are no choices.

    They are in a column with lists, one with ``label`` and ``text`` lists, or columns named by label; the gold is a
    label, a place, or the text of a choice, by the same rule in every row.

    Args:
        columns: the columns that prompts show.
        rows: the columns of each question.
        golds: the gold of each question.
    """
    for used, options, places in _placed(columns, rows, golds):
        if None not in places:
            return Choices(used, [own[1] for own in options if own], [place for place in places if place is not None])
    return None


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
    placed = [places for _, _, places in _placed(columns, rows, golds)]
    misses = min(([index for index, place in enumerate(own) if place is None] for own in placed), key=len, default=None)
    return misses if misses is not None and len(misses) <= max(1, few * len(golds)) else None


def _placed(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], golds: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], list[_Options | None], list[int | None]]]:
    """Yield columns that may hold choices, the choices, and by each rule the places of the golds among them."""
    for used, options_of in _layouts(columns, rows):
        options = [options_of(row) for row in rows]
        for rule in _RULES:
            yield used, options, [_place(rule, gold, own) for gold, own in zip(golds, options, strict=True)]


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
            yield _match_clue(what, _most_frequent(column_texts, phrases), own, rows, NOTICEABLE_MOST)


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


def _choice_elsewhere(choices: Choices, texts: Mapping[str, Sequence[str]], rows: Sequence[int]) -> Clue:
    """Return how often the right choice is the only choice whose text occurs elsewhere in the prompt."""
    rest = [" ".join(row) for row in zip(*texts.values(), strict=True)]
    phrases = [[spaced(_LABEL.sub("", one)) for one in own] for own in choices.texts]
    found = [[one.strip() != "" and one in text for one in own] for own, text in zip(phrases, rest, strict=True)]
    tried = [index for index, own in enumerate(found) if own.count(True) == 1]
    hits = [rows[index] for index in tried if found[index][choices.golds[index]]]
    options = [len(found[index]) for index in tried]
    return Clue(
        "the right choice is the only one that occurs elsewhere in the prompt",
        hits,
        len(rows),
        sum(1 / n for n in options) / len(rows),
        p_of_hits(len(hits), options) if hits else 1.0,
        _IN_COLUMN,
        NOTICEABLE_MOST,
    )


_LABEL: Final = re.compile(r"^\s*\(?[A-Z][).:、]")
"""The label before the text of a choice, as in ``(A) Oslo``."""

_LABELLED: Final = re.compile(r"(.*?)[_\-. ]?([A-Za-z]|\d)")
"""A column such as ``A``, ``option_b`` or ``sol1``: the stem and the label."""

_ORDERS: Final = (ascii_lowercase, "0123456789", "123456789")

_Options = tuple[Sequence[str], Sequence[str]]
"""The labels and the texts of the choices of one question."""


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


_RULES: Final[Sequence[Callable[[str, Sequence[str], Sequence[str]], int]]] = (
    lambda gold, labels, _: labels.index(gold.lower()),
    lambda gold, _, texts: [text.strip() for text in texts].index(gold),
    lambda gold, _, texts: list(ascii_lowercase[: len(texts)]).index(gold.lower()),
    lambda gold, _, texts: range(len(texts)).index(int(gold)),
    lambda gold, _, texts: range(1, len(texts) + 1).index(int(gold)),
)
"""The place of a gold, which is a label, the text of a choice, a letter or a number, by the labels and texts."""


def _place(rule: Callable[[str, Sequence[str], Sequence[str]], int], gold: str, options: _Options | None) -> int | None:
    """Return the place of a gold among the choices by a rule; None if it is none of them."""
    if options is None or len(options[1]) < 2:
        return None
    try:
        return rule(gold.strip(), *options)
    except ValueError:
        return None


class Clue(Struct, frozen=True):
    """The result of one test.

    Attributes:
        what: what is so of some questions.
        hits: the samples' rows of which it is so.
        questions: how many were looked at.
        chance: the share of them of which it would be so by chance.
        p: how likely chance alone gives as many.
        fix: what the user can do about it.
        noticeable: the excess over chance, as a share of the questions, below which there is no alarm.
    """

    what: str
    hits: Sequence[int]
    questions: int
    chance: float
    p: float
    fix: str
    noticeable: float = NOTICEABLE

    @property
    def share(self) -> float:
        """The share of questions that the clue applies to."""
        return len(self.hits) / self.questions

    def __str__(self) -> str:
        p = f"p = {self.p:.4f}" if self.p > 2 / (DRAWS + 1) else f"p < {2 / (DRAWS + 1):.4f}"
        return (
            f"{self.what} in {self.share:.1%} of {self.questions} questions, and by chance in {self.chance:.1%} "
            f"({p}): test row{'s' * (len(self.hits) > 1)} {and_so_on(self.hits)}"
        )


def alarming(clues: Sequence[Clue]) -> list[Clue]:
    """Return the clues that are significant after correction, and large enough to matter."""
    return [clue for clue in clues if clue.p <= ALPHA / len(clues) and clue.share - clue.chance >= clue.noticeable]


def p_of_matches(matches: NDArray[np.bool_], own: NDArray[np.intp]) -> float:
    """Permutation test of golds that occur in texts: how often shuffled golds occur as often.

    Args:
        matches: whether a gold occurs in a text, shape (texts, different golds).
        own: the gold of each text, shape (texts,).
    """
    rng = np.random.default_rng(SEED)
    rows = np.arange(len(own))
    observed = matches[rows, own].sum()
    as_many = 0
    at_once = 1 + 500_000 // len(own)  # a few megabytes
    for start in range(0, DRAWS, at_once):
        shuffled = rng.permuted(np.tile(own, (min(at_once, DRAWS - start), 1)), axis=1)
        as_many += int((matches[rows, shuffled].sum(axis=1) >= observed).sum())
    return (1 + as_many) / (1 + DRAWS)


def p_of_hits(hits: int, options: Sequence[int]) -> float:
    """One-sided binomial test: how often a random choice is right as often.

    Args:
        hits: how often it was right.
        options: how many choices each question has; questions may differ.
    """
    rng = np.random.default_rng(SEED)
    drawn = np.zeros(DRAWS)
    for n, questions in Counter(options).items():
        drawn += rng.binomial(questions, 1 / n, DRAWS)
    return (1 + int((drawn >= hits).sum())) / (1 + DRAWS)
