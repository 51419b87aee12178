"""Search the data for leaks, which no proof can rule out, and for broken rows. The search finds much, but not all.

A broken row has empty cells, garbled texts, or a gold that no answer meets. A few rows that differ from all others are
suspect; many are the form of the data. docs/leaks.md says what is proved, what is searched for, and what is missed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, TypeAlias

from ais_prompt.checks.leaks.chance import alarming, drawn, value_text
from ais_prompt.checks.leaks.clues import find_clues, strange_golds
from ais_prompt.checks.leaks.near_copies import copies_beyond_form, find_near_copies, likeliest
from ais_prompt.checks.leaks.proof import question_key, shown_columns, with_other_value
from ais_prompt.checks.leaks.words import spaced
from ais_prompt.checks.leaks.written import written_questions
from ais_prompt.checks.prompt_warning import PromptWarning
from ais_prompt.data import ComparesTexts, Dataset, Retriever
from ais_prompt.inferencers import DialogueInferencer
from ais_prompt.plan import PlannedDataset
from ais_prompt.types import DatasetSpec, Sample

MAX_ROWS: Final = 10_000
"""Rows of a split among which near copies are looked for, drawn with a seed if there are more."""

FEW_COPIES: Final = 0.05
"""Share of the questions up to which near copies among the examples are no form of the task, whatever their golds."""

MOST_REPEATS: Final = 0.2
"""Share of the questions up to which repeats with words changed are no form of the task."""

GoldsOf: TypeAlias = Callable[[Sample], tuple[str, ...]]

PROBES: Final = 5
"""Questions whose prompts show which columns the template uses."""

FEW: Final = 0.05
"""Share of the rows up to which rows that differ from the others are suspect; one row always is."""

FEW_FORMS: Final = 0.01
"""The same for golds of another form, such as a word among numbers."""

FEWEST_ROWS: Final = 10
"""Rows without which nothing is said: of fewer, none differs from the others."""

FEWEST_SAME: Final = 20
"""Rows whose golds are all the same only by a fault."""

MOST_LABELS: Final = 30
"""Different golds of a dataset whose golds are labels."""

_FORMS: Final = (re.compile(r".*\d.*", re.DOTALL), re.compile(r"\(?[A-Za-z][).]?"))
"""Golds with a number, and letters of choices."""
_HALF: Final = "[\u0080-\u00ff\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
_HALF_READ: Final = re.compile(rf"(?<!{_HALF})(?!\w[‘’“”›»–—…](?!\w|{_HALF})){_HALF}{{2,}}")
"""A run of characters that bytes from 128 on become if UTF-8 is read as Latin-1 or Windows-1252; not the end of a word
with the mark behind it, as in „Strauß“, whose bytes happen to be UTF-8."""
_FOREIGN: Final = re.compile("[^\u0000-\u02ff]{4,}")
_READ_AS_CHINESE: Final = 0.8
"""Share of the bytes of a text that are Chinese characters in UTF-8 if it was read as GBK."""
_LOST: Final = ("\ufffd", "锟斤拷")

Finding = tuple[str, str]
"""What was seen, and the fix."""


def search_leaks(dataset: PlannedDataset, shots: Sequence[Sample]) -> list[PromptWarning]:
    """Search the data of a dataset for whatever may give its golds away.

    Args:
        dataset: the dataset.
        shots: examples for any question.
    """
    spec, data, retriever, inferencer = dataset.spec, dataset.data, dataset.retriever, dataset.inferencer
    probes = [data.test[row] for row in range(0, len(data.test), max(1, len(data.test) // PROBES))][:PROBES]
    golds = set(spec.reader.gold_columns) - set(spec.reader.input_columns)
    columns = [column for column in shown_columns(inferencer, dataset.prompts, probes, shots) if column not in golds]
    golds_of = _golds_of(dataset)
    clues = find_clues(data.test, columns, golds_of)
    template = spec.infer.prompt_template or spec.infer.ice_template
    where = template.where if template else spec.infer.where
    found = [PromptWarning(str(clue), where, clue.fix) for clue in alarming(clues)]
    written = written_questions(inferencer, dataset.prompts, data.test, probes, shots, columns, golds_of)
    if written:
        rows = _listed([*map(str, written[:5])], len(written))
        what = f"the template itself has the text of {len(written)} of {len(data.test)} test questions: test row {rows}"
        fix = "write other examples, or let a retriever choose them from a train split"
        found.append(PromptWarning(what, where, fix))
    found += _retrieval_by_gold(spec, retriever, probes)
    if not isinstance(inferencer, DialogueInferencer):
        found += _changed_questions(spec, data, retriever, golds_of)
    found += _repeated_questions(spec, data, golds_of)
    looked_at = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    broken = broken_rows(looked_at, columns, golds_of, spec.reader.output_column)
    return found + [PromptWarning(what, spec.reader.where, fix) for what, fix in broken]


def broken_rows(
    samples: Sequence[Sample], columns: Sequence[str], golds_of: Callable[[Sample], Sequence[str]], gold: str | None
) -> Iterator[Finding]:
    """Yield what seems broken.

    Args:
        samples: all questions.
        columns: the columns that their prompts show.
        golds_of: the texts that count as the gold of a sample; none if it has no text.
        gold: the output column; None if there is none.
    """
    if len(samples) < FEWEST_ROWS:
        return
    for column in dict.fromkeys([*columns, *([gold] if gold else [])]):
        values = ((sample.index, sample.fields.get(column)) for sample in samples)
        empty = [index for index, value in values if value is None or (isinstance(value, str) and not value.strip())]
        if 0 < len(empty) <= max(1, FEW * len(samples)):
            yield f"the column {column!r} is empty in {_rows(empty, samples)}", "fill these cells, or remove the rows"
    for column in columns:
        garbled = [sample.index for sample in samples if is_garbled(value_text(sample.fields.get(column)))]
        if garbled:
            yield (
                f"the column {column!r} has text that was read with the wrong encoding in {_rows(garbled, samples)}",
                "save the file as UTF-8 again from the original",
            )
    asked = [(sample, golds[0]) for sample in samples if len(golds := golds_of(sample)) == 1]
    if len(asked) < FEWEST_ROWS:
        return
    if len(asked) == len(samples) >= FEWEST_SAME and len({text for _, text in asked}) == 1:
        what = f"all {len(samples)} golds are the same: a model that always answers {asked[0][1]!r} is always right"
        yield what, "check output_column, and how the file was made"
    if strange := _strange(asked, columns):
        first = golds_of(next(sample for sample, _ in asked if sample.index == strange[0]))[0]
        what = (
            f"the gold is no possible answer, unlike those of all other rows, in {_rows(strange, samples)}: {first!r}"
        )
        yield what, "correct the golds of these rows, or remove the rows"


def is_garbled(text: str) -> bool:
    """Return whether UTF-8 was read as Latin-1, Windows-1252 or GBK, or bytes were lost."""
    if any(mark in text for mark in _LOST):
        return True
    western = any(_is_utf8(run, read_as) for run in _HALF_READ.findall(text) for read_as in ("cp1252", "latin-1"))
    return western or any(map(_is_chinese_twice, _FOREIGN.findall(text)))


def _golds_of(dataset: PlannedDataset) -> GoldsOf:
    spec, gold_of = dataset.spec, dataset.gold_of
    column = spec.reader.output_column

    def golds(sample: Sample) -> tuple[str, ...]:
        try:
            gold = sample.fields[column] if spec.reader.gold_columns and column else gold_of(sample.gold)
        except Exception:  # the check of the postprocessor says so
            return ()
        return tuple(_texts(gold))

    return golds


def _texts(gold: Any) -> list[str]:
    if isinstance(gold, list | tuple):
        return [text for entry in gold for text in _texts(entry)]
    return [str(gold)] if isinstance(gold, str | int | float) and str(gold).strip() else []


def _retrieval_by_gold(spec: DatasetSpec, retriever: Retriever, probes: Sequence[Sample]) -> list[PromptWarning]:
    column = spec.reader.output_column
    if not isinstance(retriever, ComparesTexts) or column is None:
        return []
    text = retriever.text
    if text.of(probes) == text.of(with_other_value(sample, column) for sample in probes):
        return []
    what = f"the retriever compares rows by their gold, column {column!r}: which examples are shown tells the answer"
    return [PromptWarning(what, spec.infer.retriever.where, f"take {column!r} out of what the retriever compares")]


def _changed_questions(
    spec: DatasetSpec, data: Dataset, retriever: Retriever, golds_of: GoldsOf
) -> list[PromptWarning]:
    if not retriever.gives_shots:
        return []
    columns = spec.reader.input_columns
    candidates = retriever.candidates(data.train, data.test)
    questions = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    rows = drawn(data.train, _shown_rows(candidates, len(data.train)), MAX_ROWS, columns)

    asked, shown = ([question_key(sample, columns) for sample in samples] for samples in (questions, rows))

    def allowed(question: int, row: int) -> bool:  # equal questions were found before, or are left out
        return asked[question] != shown[row] and rows[row].index in candidates[questions[question].index]

    near = find_near_copies(questions, rows, columns, allowed)
    found = likeliest(near)
    if len(found) > FEW_COPIES * len(questions):
        found = copies_beyond_form(near, [*map(golds_of, questions)], [*map(golds_of, rows)])
    if not found:
        return []
    pairs = [f"test row {questions[one.question].index} is train row {rows[one.row].index}" for one in found[:3]]
    return [
        PromptWarning(
            f"{len(found)} of {_of(questions, data.test)} questions are, with words or punctuation changed, among the "
            f"rows that they may be shown as examples: {_listed(pairs, len(found))}",
            spec.infer.retriever.where,
            "compare these rows; if they ask the same, choose other examples or another train_range",
        )
    ]


def _repeated_questions(spec: DatasetSpec, data: Dataset, golds_of: GoldsOf) -> list[PromptWarning]:
    columns = spec.reader.input_columns
    questions = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    golds = [*map(golds_of, questions)]
    near = find_near_copies(questions, None, columns, lambda question, row: row < question)
    found = copies_beyond_form(near, golds, golds)
    if sum(not one.same_words for one in found) > MOST_REPEATS * len(questions):
        found = [one for one in found if one.same_words]
    if not found:
        return []
    fields = [[sample.fields.get(column) for column in columns] for sample in questions]
    exact = sum(fields[one.question] == fields[one.row] for one in found)
    kinds = f"{exact} exactly, {len(found) - exact} with words or punctuation changed"
    if others := sum(golds[one.question] != golds[one.row] for one in found):
        kinds += f"; {others} with another gold"
    pairs = [f"row {questions[one.question].index} repeats row {questions[one.row].index}" for one in found[:3]]
    return [
        PromptWarning(
            f"{len(found)} of {_of(questions, data.test)} questions repeat an earlier one of the test split ({kinds}): "
            f"{_listed(pairs, len(found))}",
            spec.reader.where,
            "compare these rows; repeats count twice, and the standard error takes them for independent",
        )
    ]


def _shown_rows(candidates: Sequence[Collection[int]], rows: int) -> Sequence[int]:
    """Return the train rows that may be an example of some question."""
    shown: set[int] = set()
    for own in candidates:
        if len(own) == rows or len(shown) == rows:
            return range(rows)
        shown.update(own)
    return sorted(shown)


def _of(looked_at: Sequence[Sample], samples: Sequence[Sample]) -> str:
    return str(len(samples)) if len(looked_at) == len(samples) else f"{len(looked_at)} drawn from {len(samples)}"


def _listed(pairs: Sequence[str], count: int) -> str:
    return ", ".join(pairs) + (", and so on" if count > len(pairs) else "")


def _is_utf8(text: str, read_as: str) -> bool:
    try:
        text.encode(read_as).decode("utf-8")
    except UnicodeError:
        return False
    return True


def _is_chinese_twice(text: str) -> bool:
    """Return whether the bytes of a text in GBK are Chinese in UTF-8."""
    written = text.encode("gb18030", "ignore")
    chinese = sum("\u3000" <= character <= "\uffef" for character in written.decode("utf-8", "ignore"))
    return 3 * chinese >= _READ_AS_CHINESE * len(written) > 0


def _strange(asked: Sequence[tuple[Sample, str]], columns: Sequence[str]) -> list[int]:
    """Return the rows of the few golds that are none of the choices, or have another form than all others."""
    golds = [gold for _, gold in asked]
    places = strange_golds(columns, [sample.fields for sample, _ in asked], golds, FEW)
    if places is None and len(set(golds)) <= MOST_LABELS:
        # The choices may be in the text of the question.
        texts = [" ".join(value_text(sample.fields.get(column)) for column in columns) for sample, _ in asked]
        places = [
            place for place, gold in enumerate(golds) if texts[place] and spaced(gold) not in spaced(texts[place])
        ]
    if places is None or len(places) > max(1, FEW * len(golds)):
        forms = ([place for place, gold in enumerate(golds) if not form.fullmatch(gold.strip())] for form in _FORMS)
        places = next((places for places in forms if len(places) <= max(1, FEW_FORMS * len(golds))), [])
    return [asked[place][0].index for place in places]


def _rows(rows: Sequence[int], samples: Sequence[Sample]) -> str:
    named = ", ".join(map(str, rows[:3])) + (", and so on" if len(rows) > 3 else "")
    return f"{len(rows)} of {len(samples)} rows (row {named})"
