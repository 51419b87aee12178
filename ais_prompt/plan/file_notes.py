"""Notes about a file with questions: what was recognised in it, and what else is remarkable."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.config import Note
from ais_prompt.data import ANSWERS, QUESTIONS, plain_name, row_place
from ais_prompt.plan.file_columns import FileColumns
from ais_prompt.plan.gold_kinds import KINDS, Kind, Scoring, has_gold
from ais_prompt.prompts import mark_of
from ais_prompt.utils import counted, listed


def recognised(columns: FileColumns, kind: Kind | None, scoring: Scoring, evaluator: str | None) -> str:
    """Say what was recognised. An evaluator is named if the user names it, or no postprocessor reads the answers."""
    shape = columns.shape
    inputs = [name for name in columns.inputs if name != columns.answer and not (name == "options" and shape.options)]
    made = {"question": shape.question}
    asked = listed(mark_of(column) for name in inputs for column in made.get(name) or (name,))
    if shape.messages is not None:
        asked = f"the chat in {mark_of(shape.messages)}"
    if shape.inside:
        asked += f", columns inside {listed(map(mark_of, shape.inside))}"
    if shape.options:
        options = (shape.options,) if isinstance(shape.options, str) else shape.options
        asked += f", options from {listed(map(mark_of, options))}"
    if kind is None or columns.answer is None:
        return f"{asked} · no column has a known name for the answer, so nothing is scored: --answer COLUMN"
    about = next(one.about for one in KINDS if one.name == kind)
    if kind in ("letter", "letters") and shape.answer is not None and shape.gold.startswith("from"):
        other = "from 1" if shape.gold == "from 0" else "from 0"
        about += f", counted {shape.gold} (otherwise --set datasets.0.shape.gold='{other}')"
    where = shape.right or columns.source or ("the last turn" if shape.messages else "a mark of the options")
    read = [scoring[key]["type"] for key in ("dataset_postprocessor", "pred_postprocessor") if key in scoring]
    scorers = read if read and not evaluator else [*read, scoring["evaluator"]["type"]]
    named = mark_of(where) if where in (shape.right, columns.source) else where
    return f"{asked} → {named}, {about} ({', '.join(dict.fromkeys(scorers))})"


def rows_without_gold(golds: Sequence[Any], answer: str | None, path: str) -> list[Note]:
    """Say how many rows have no gold. The end of a run names them with a command."""
    empty = [number for number, gold in enumerate(golds) if not has_gold(gold)]
    if answer is None or not empty or len(empty) == len(golds):
        return []
    first = row_place([path], empty[0])
    what = f"{counted(len(empty), 'row')} without an answer, the first is {first}: they get no score"
    return [Note(what, level=logging.INFO)]


def answer_in_prompt(prompts: Sequence[str], columns: FileColumns, answer: str | None) -> list[Note]:
    """Say that the right answer is not sent, where prompts of the user have its column."""
    if not prompts or answer is None or answer not in columns.inputs:
        return []
    where = f"{mark_of(answer)} is always empty in the prompt, take it out of --prompt"
    return [Note(f"the right answer is never sent: {where}")]


def unnamed_labels(prompts: Sequence[str], labels: Sequence[str] | None) -> list[Note]:
    """Say which labels a prompt of the user does not name."""
    unnamed = [missing for text in prompts if (missing := [label for label in labels or () if not _names(text, label)])]
    if not unnamed:
        return []
    which = "a" if len(prompts) > 1 else "the"
    return [Note(f"{which} prompt does not name the labels {listed(unnamed[0])}, so the model has to guess them")]


def _names(prompt: str, label: str) -> bool:
    """Return whether a prompt has a label as a word: "know" does not name the label "no"."""
    word = rf"(?<![A-Za-z0-9]){re.escape(label)}(?![A-Za-z0-9])"
    return re.search(word, prompt, re.IGNORECASE) is not None


def other_answers(rows: Sequence[Mapping[str, Any]], columns: FileColumns) -> list[Note]:
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
