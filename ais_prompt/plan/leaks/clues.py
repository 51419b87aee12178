"""Search for golds that another column, or the form of the choices, gives away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.plan.leaks.chance import Clue, p_of_hits, p_of_matches, p_of_positions
from ais_prompt.plan.leaks.choices import ChoiceLayout, Choices, find_choices
from ais_prompt.plan.leaks.texts import drawn, value_text
from ais_prompt.types import Sample
from ais_prompt.utils.words import words_of

MAX_ROWS: Final = 2_000
"""Questions that are looked at, drawn with a seed if there are more."""

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
    texts = {column: _words_in(column, fields) for column in others}
    clues = list(_in_columns(texts, rows, golds))
    if layout is not None:
        clues += _in_choices(layout, rows, texts)
    return clues


def _layout(
    columns: Sequence[str], fields: Sequence[Mapping[str, Any]], golds: Sequence[tuple[str, ...]]
) -> ChoiceLayout | None:
    """Return how the choices are stored; None if there are none, or a question has several golds."""
    if any(len(gold) > 1 for gold in golds):
        return None
    return find_choices(columns, fields, [gold[0] for gold in golds])


def _words_in(column: str, fields: Sequence[Mapping[str, Any]]) -> list[str]:
    return [_spaced(value_text(row.get(column))) for row in fields]


def _spaced(text: str) -> str:
    """Return the words of a text with a space on both sides of each."""
    return f" {' '.join(words_of(text))} "


def _in_columns(
    texts: Mapping[str, Sequence[str]], rows: Sequence[int], golds: Sequence[tuple[str, ...]]
) -> Iterator[Clue]:
    numbers = {gold: number for number, gold in enumerate(dict.fromkeys(golds))}
    own = np.array([numbers[gold] for gold in golds])
    phrases = [[phrase for text in gold if (phrase := _spaced(text)).strip()] for gold in numbers]
    for column, column_texts in texts.items():
        matches = _matches(column_texts, phrases)
        hits = [index for index, gold in enumerate(own) if matches[index, gold]]
        yield Clue(
            f"the gold occurs in the column {column!r}, which the prompt shows,",
            [rows[index] for index in hits],
            len(rows),
            float(matches[:, own].mean()),
            p_of_matches(matches, own) if len(hits) else 1.0,
            _IN_COLUMN,
        )


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
    return Clue(what, [rows[index] for index in hits], len(rows), sum(1 / n for n in options) / len(rows), p, fix)


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
    phrases = map(_spaced, choices)
    return [phrase.strip() != "" and phrase in text for phrase in phrases]


_Pick = Callable[[Sequence[str], str], int | None]
_PICKS: Final[Mapping[str, tuple[_Pick, str]]] = {
    "the longest": (lambda choices, _: _only_one([len(one) for one in choices], max), _IN_CHOICES),
    "the shortest": (lambda choices, _: _only_one([len(one) for one in choices], min), _IN_CHOICES),
    "the only one that begins as it does": (lambda choices, _: _odd_one([one[:1] for one in choices]), _IN_CHOICES),
    "the only one that ends as it does": (lambda choices, _: _odd_one([one[-1:] for one in choices]), _IN_CHOICES),
    "the only one that occurs elsewhere in the prompt": (
        lambda choices, text: _only_one(_elsewhere(choices, text), max),
        _IN_COLUMN,
    ),
}
"""What tells a choice apart → which choice of a question it is, from the choices and the rest of the prompt; and the
fix."""
