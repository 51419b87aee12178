"""What a person should know of a file that is described as a dataset: what is left out, odd, or not compared."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from ais_prompt.config import Note
from ais_prompt.data import ANSWERS, NO_CONTENT, OPTION_LISTS, QUESTIONS, flat, plain_name, row_place
from ais_prompt.plan.file_columns import FileColumns
from ais_prompt.plan.gold_kinds import KINDS, Golds, Kind, Scoring, has_gold, labels_of, odd_golds, unread_golds
from ais_prompt.prompts import mark_of
from ais_prompt.utils import counted, late, listed

_HAN: Final = late(r"[\u4e00-\u9fff]")
_WORD: Final = late(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{1,2}|\b[^\W\d_]+\b")
_SOME_WORDS: Final = 5
"""Words of a column that a question may be about; two Chinese characters count as one."""
_CODE: Final = late(
    r"\A\s*(?:```|def\s+\w+\(|class\s+\w+[:(]|import\s+\w|#include\b|public\s+\w|(?i:select)\s[^;]{1,1000}\s(?i:from)\s"
    r"|(?i:insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\b)"
)
_MOST_REPEATED: Final = 12
"""Words of a text that a model may repeat as it is; a Chinese character counts as half a word."""
_OF_THE_ANSWER: Final = late(
    r"explan|rationale|reasoning|solution|cot(?:_|$)|thought|answer|^title$|predict|generat|^exp$|sparql|^gold"
    r"|^tests?(?:_|$)|canonical|equation|解析|分析|思路|解答|答案"
)
"""In names of columns that no prompt should send: they tell the answer."""
_IDS: Final = ("id", "index", "idx", "no", "", "uid", "uuid", "qid", "question_id", "task_id", "sample_id")


class DescribedFile(NamedTuple):
    """A file, and what was found in it.

    Attributes:
        path: of the file.
        prompts: those of the user; empty if one is guessed.
        columns: what its columns mean.
        rows: as the file has them.
        made: the same with the columns of the prompt.
        golds: the gold of each row; empty if no column has them.
        known: those that are not missing.
        kind: what they are; None without any.
        scoring: the ``eval_cfg``.
        is_guessed: whether no part of it is named by the user.
    """

    path: str
    prompts: Sequence[str]
    columns: FileColumns
    rows: Sequence[Mapping[str, Any]]
    made: Sequence[Mapping[str, Any]]
    golds: Sequence[Any]
    known: Golds
    kind: Kind | None
    scoring: Scoring
    is_guessed: bool


def notes_on(file: DescribedFile) -> Iterator[Note]:
    """Yield what a person should know."""
    yield from _remarks(file)
    if file.kind is not None and file.is_guessed:
        yield from _gold_notes(file, file.kind)
    yield from _other_answers(file.rows, file.columns)
    if file.columns.shape.messages is None:
        yield from _alike(file)
        if not file.prompts:
            yield from _left_out(file.rows, file.columns)


def _remarks(file: DescribedFile) -> Iterator[Note]:
    """Say what else is remarkable about the golds and the prompts of the user."""
    columns, golds = file.columns, file.golds
    labels = labels_of(file.known) if file.kind == "label" else None
    empty = [number for number, gold in enumerate(golds) if not has_gold(gold)]
    if 0 < len(empty) < len(golds):  # the end of a run names them with a command
        first = row_place([file.path], empty[0])
        what = f"{counted(len(empty), 'row')} without an answer, the first is {first}: they get no score"
        yield Note(what, level=logging.INFO)
    if file.prompts and golds and columns.answer is not None and columns.answer in columns.inputs:
        where = f"{mark_of(columns.answer)} is always empty in the prompt, take it out of --prompt"
        yield Note(f"the right answer is never sent: {where}")
    unnamed = ([label for label in labels or () if not _names(text, label)] for text in file.prompts)
    if missing := next(filter(None, unnamed), None):
        which = "a" if len(file.prompts) > 1 else "the"
        yield Note(f"{which} prompt does not name the labels {listed(missing)}, so the model has to guess them")


def _gold_notes(file: DescribedFile, kind: Kind) -> Iterator[Note]:
    """Say which golds are unlike the others, or cannot be right, and what a guessed scorer does not compare."""
    known, scoring = file.known, file.scoring
    rows = [number for number, gold in enumerate(file.golds) if has_gold(gold)]

    def first(places: Sequence[int]) -> str:
        return f"the first is {row_place([file.path], rows[places[0]])} ({str(known.values[places[0]])!r:.40})"

    unread = unread_golds(next(one for one in KINDS if one.name == kind), scoring, known)
    if odd := [place for place in odd_golds(kind, known) if place not in set(unread)]:
        are = f"{'is' if len(odd) == 1 else 'are'} no {kind}"
        right = f"{'it is' if len(odd) == 1 else 'they are'} right where the model says the same"
        yield Note(f"{len(odd)} of {counted(len(rows), 'answer')} {are}, {first(odd)}: {right}")
    if unread:
        what = f"{len(unread)} of {counted(len(rows), 'answer')} cannot be read by the scorer, {first(unread)}"
        yield Note(f"{what}: {'it gets' if len(unread) == 1 else 'they get'} no right marks; --evaluator names another")
    if scoring.get("dataset_postprocessor", {}).get("type") == "number_dataset_postprocess":
        yield Note(f"units are not compared: of answers such as {str(known.values[0])!r:.40} the number counts")
    if kind == "text":
        yield from _long_texts([one[0] for one in known.texts if one])


def _long_texts(texts: Sequence[str]) -> Iterator[Note]:
    """Say that a model seldom repeats sentences or programs word for word, and what else scores them."""
    if sum(_CODE.search(text) is not None for text in texts) * 2 > len(texts):
        what, other = "programs or queries", "other evaluators are in docs/evaluators.md"
    elif (length := median(map(_words, texts))) > _MOST_REPEATED:
        rouge = "JiebaRougeEvaluator" if _HAN.search(texts[0]) else "RougeEvaluator"
        what, other = f"texts of about {length:.0f} words", f"--evaluator {rouge} or BleuEvaluator compares words"
    else:
        return
    yield Note(f"answers are {what}, and only one that repeats them is right: {other}, and a judge reads meaning")


def _names(prompt: str, label: str) -> bool:
    """Return whether a prompt has a label as a word: "know" does not name the label "no"."""
    word = rf"(?<![A-Za-z0-9]){re.escape(label)}(?![A-Za-z0-9])"
    return re.search(word, prompt, re.IGNORECASE) is not None


def _other_answers(rows: Sequence[Mapping[str, Any]], columns: FileColumns) -> list[Note]:
    """Name the other columns that may be the answer."""
    source, shape = columns.source, columns.shape
    if source is None or shape.options:
        return []
    taken = {source, columns.answer, shape.right, shape.messages, *shape.inside, *columns.inputs}
    names = [
        name
        for name in rows[0]
        if name not in taken and plain_name(name) in ANSWERS and plain_name(name) not in QUESTIONS
    ]
    # A solution that holds the answer is no other answer.
    others = [name for name in names if any(str(row.get(source)) not in str(row.get(name)) for row in rows)]
    return [Note(f"the answer is not {listed(map(mark_of, others))}: --answer COLUMN changes it")] if others else []


def _alike(file: DescribedFile) -> list[Note]:
    """Name the columns that tell questions apart which are asked in the same words and have different answers."""
    rows, made, columns = file.rows, file.made, file.columns
    if columns.answer is None:
        return []
    same: defaultdict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(made):
        same[repr([row.get(name) for name in columns.inputs if name != columns.answer])].append(number)
    alike = [some for some in same.values() if len({repr(made[number].get(columns.answer)) for number in some}) > 1]
    count = sum(map(len, alike))
    if 10 * count < len(made):
        return []
    names = [
        name
        for name in rows[0]
        if name not in (columns.source, columns.answer, *columns.inputs)
        and plain_name(name) not in (*_IDS, *ANSWERS)
        and not _OF_THE_ANSWER.search(plain_name(name))
        and any(len({repr(rows[number].get(name)) for number in some}) > 1 for some in alike)
    ]
    apart = f": --prompt with {listed(map(mark_of, names))} may tell them apart" if names else ""
    return [Note(f"{counted(count, 'row')} are asked in the same words and have different answers{apart}")]


def _left_out(rows: Sequence[Mapping[str, Any]], columns: FileColumns) -> list[Note]:
    """Name the columns with many words that a guessed prompt leaves out: a question may be about them."""
    shape = columns.shape
    options = (shape.options,) if isinstance(shape.options, str) else shape.options
    taken = {columns.source, columns.answer, shape.answer, shape.right, *shape.question, *options, *columns.inputs}
    plain_rows = [flat(row, shape.inside) for row in rows[:100]]  # enough to tell

    def is_left_out(name: str) -> bool:
        if plain_name(name) in (*ANSWERS, *NO_CONTENT, *OPTION_LISTS) or _OF_THE_ANSWER.search(plain_name(name)):
            return False
        values = [(row.get(name), [str(row.get(sent)) for sent in taken if sent]) for row in plain_rows]
        return sum(
            _words(value) >= _SOME_WORDS and not _is_form_of(str(value), sent) for value, sent in values
        ) * 2 > len(values)

    names = [name for name in plain_rows[0] if name not in taken and is_left_out(name)]
    what = f"the prompt leaves out {listed(map(mark_of, names))}: if the question is about it, write it with --prompt"
    return [Note(what)] if names else []


def _is_form_of(text: str, sent: Iterable[str]) -> bool:
    """Return whether a text is in one that is sent, or holds one with some words, as a written-out prompt does."""
    return any(text.strip() in other or (_words(other) >= _SOME_WORDS and other.strip() in text) for other in sent)


def _words(value: Any) -> int:
    """Return how many words a value has, in all its texts."""
    if isinstance(value, Mapping):
        return sum(map(_words, value.values()))
    return sum(map(_words, value)) if isinstance(value, list) else len(_WORD.findall(str(value)[:1000]))
