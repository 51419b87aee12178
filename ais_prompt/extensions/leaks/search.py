"""Prove that no prompt tells its answer, and search the data for leaks and broken rows, which no proof can rule out.

The search finds much, but not all: docs/leaks.md says what is proved, what is searched for, and what is missed. Broken
rows have empty cells, garbled texts, or golds that no answer meets. A few rows that differ from all others are suspect;
many are the form of the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ais_prompt.checks import FaultList, PromptWarning
from ais_prompt.data import ComparesTexts
from ais_prompt.extensions.leaks.clues import alarming, find_clues, strange_golds
from ais_prompt.extensions.leaks.copies import MAX_ROWS, GoldsOf, copied_questions
from ais_prompt.extensions.leaks.proof import check_gold_is_hidden, shown_columns, with_other_value, written_questions
from ais_prompt.extensions.leaks.words import and_so_on, drawn, spaced, value_text
from ais_prompt.plan import PlannedDataset
from ais_prompt.types import Sample

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


def search_leaks(dataset: PlannedDataset, shots: Sequence[Sample], faults: FaultList) -> list[PromptWarning]:
    """Search for prompts that contain their answer: a fault if a template causes it, a warning if the data do.

    Args:
        dataset: the dataset.
        shots: examples for any question.
        faults: where a fault is noted.
    """
    spec, data, retriever, inferencer = dataset.spec, dataset.data, dataset.retriever, dataset.inferencer
    reader = spec.reader
    golds = [column for column in reader.gold_columns if column not in reader.input_columns]
    template = spec.infer.prompt_template or spec.infer.ice_template
    where = template.where if template else spec.infer.where
    faults.attempt(lambda: check_gold_is_hidden(inferencer, dataset.prompts, data.test, shots, golds), where)
    probes = [data.test[row] for row in range(0, len(data.test), max(1, len(data.test) // PROBES))][:PROBES]
    columns = [column for column in shown_columns(inferencer, dataset.prompts, probes, shots) if column not in golds]
    golds_of = _golds_of(dataset)
    found = [PromptWarning(str(clue), where, clue.fix) for clue in alarming(find_clues(data.test, columns, golds_of))]
    written = written_questions(inferencer, dataset.prompts, data.test, probes, shots, columns, golds_of)
    if written:
        rows = and_so_on(written, 5)
        what = f"the template itself has the text of {len(written)} of {len(data.test)} test questions: test row {rows}"
        fix = "write other examples, or let a retriever choose them from a train split"
        found.append(PromptWarning(what, where, fix))
    if isinstance(retriever, ComparesTexts) and (column := reader.output_column) is not None:
        text = retriever.text
        if text.of(probes) != text.of(with_other_value(sample, column) for sample in probes):
            what = f"the retriever compares rows by their gold, column {column!r}: which examples are shown tells the"
            fix = f"take {column!r} out of what the retriever compares"
            found.append(PromptWarning(f"{what} answer", spec.infer.retriever.where, fix))
    found += copied_questions(dataset, golds_of)
    looked_at = drawn(data.test, range(len(data.test)), MAX_ROWS, columns)
    broken = broken_rows(looked_at, columns, golds_of, reader.output_column)
    return found + [PromptWarning(what, reader.where, fix) for what, fix in broken]


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


def _texts(gold: Any) -> Iterator[str]:
    if isinstance(gold, list | tuple):
        for entry in gold:
            yield from _texts(entry)
    elif isinstance(gold, str | int | float) and str(gold).strip():
        yield str(gold)


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
    return f"{len(rows)} of {len(samples)} rows (row {and_so_on(rows)})"
