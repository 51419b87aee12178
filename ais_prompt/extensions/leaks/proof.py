"""Prove that no template writes the gold into its prompt, and search its own text for test questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.checks import NEUTRAL_SHOT, filled_texts, neutral_sample
from ais_prompt.errors import DataError, PromptError
from ais_prompt.extensions.leaks.words import spaced, value_text, words_of
from ais_prompt.inferencers import InferenceContext, Inferencer
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import Filled, Mode, PromptBuilder
from ais_prompt.terminal import tracked
from ais_prompt.types import Prompt, Sample

OTHER_GOLD: Final = "\ue000another gold\ue000"
"""Replaces a gold or another value. Private characters, which occur in no data."""

LEAST_WORDS: Final = 8
"""Words of a question, at least: a template may have the words of a shorter one by chance."""

LEAST_NUMBERS: Final = 2
"""Numbers of a shorter question, at least. It counts if its gold follows, as in "2.9-0.11 equals 2.79"."""

REACH: Final = 200
"""Characters behind such a question in which its gold is looked for."""

LEAST_OF_COLUMN: Final = 3
"""Words of a column that are part of the question; fewer are a name or a label, which many texts have."""


def check_gold_is_hidden(
    inferencer: Inferencer,
    builder: PromptBuilder,
    samples: Sequence[Sample],
    shots: Sequence[Sample],
    gold_columns: Sequence[str] = (),
) -> None:
    """Build the prompts of every sample again with another gold: they must be the same.

    Inferencers that write labels into their prompts do not hide the output column, so it is not looked at there.

    Args:
        inferencer, builder: make the prompts.
        samples: all questions.
        shots: examples for each of them; which ones does not matter here.
        gold_columns: further columns that hold the gold, and are no part of the question.

    Raises:
        DataError: a prompt changes; it names the first sample and the column.
        PromptError: a prompt cannot be built.
    """
    output = builder.output_column
    # The columns with the gold that no prompt may show.
    hidden = [output] if output is not None and inferencer.mask is not None else []
    columns = [*hidden, *(column for column in gold_columns if column != output)]
    if not columns:
        return
    prompts = prompt_maker(inferencer, builder, samples, shots)
    leaking: dict[str, list[Sample]] = {column: [] for column in columns}
    for sample in tracked(samples, "looking for golds in prompts"):
        expected = prompts(sample)
        for column in columns:
            # The inferencer may read the column, as that of its turns, and refuse another value.
            with suppress(PromptError):
                if prompts(with_other_value(sample, column)) != expected:
                    leaking[column].append(sample)
    for column, shown in leaking.items():
        if shown:
            other = "set output_column to the column with the gold"
            if column != output:
                other = "add it to input_columns if it is part of the question"
            raise DataError(
                f"the prompt tells the answer: it changes with the gold in column {column!r}",
                where=f"sample {shown[0].id}, row {shown[0].index}; {len(shown)} of {len(samples)} samples",
                fix=f"take {{{column}}} out of the template, or {other}",
            )


def shown_columns(
    inferencer: Inferencer, builder: PromptBuilder, samples: Sequence[Sample], shots: Sequence[Sample]
) -> list[str]:
    """Return the columns that the prompt of some of these samples changes with; the output column is never one.

    Args:
        inferencer, builder, shots: as in `check_gold_is_hidden`.
        samples: a few questions.
    """
    prompts = prompt_maker(inferencer, builder, samples, shots)

    def changes(sample: Sample, column: str) -> bool:
        try:
            return prompts(with_other_value(sample, column)) != prompts(sample)
        except Exception:  # a template of the user's own cannot work with the other value: it reads the column
            return True

    columns = dict.fromkeys(column for sample in samples for column in sample.fields)
    shown = [column for column in columns if column != builder.output_column]
    return [column for column in shown if any(changes(sample, column) for sample in samples)]


def prompt_maker(
    inferencer: Inferencer, builder: PromptBuilder, samples: Sequence[Sample], shots: Sequence[Sample]
) -> Callable[[Sample], list[Filled]]:
    """Return what makes the prompts of a sample, as the dataset's templates write them."""
    context = InferenceContext(builder, _Unformatted(), ScriptedModel(), samples)
    return lambda sample: [view.filled for view in inferencer.preview(sample, shots, context)]


class _Unformatted:
    """Stand-in for a model's format: only what the dataset's templates write is compared."""

    def render(self, prompt: Filled, mode: Mode) -> Prompt:  # noqa: ARG002
        return ""


def with_other_value(sample: Sample, column: str) -> Sample:
    """Return the sample with a value that occurs in no data: in a list the last entry or assistant's message."""
    other = _with_other_end(sample.fields.get(column))
    several = isinstance(sample.gold, Mapping) and column in sample.gold
    gold = {**sample.gold, column: other} if several else other
    return replace(sample, fields={**sample.fields, column: other}, gold=gold)


def _with_other_end(value: Any) -> Any:
    # Of a dialogue only the last answer is asked for in every mode; the earlier ones may be part of the question.
    if not isinstance(value, list) or not value:
        return OTHER_GOLD
    if not all(isinstance(entry, Mapping) and "content" in entry for entry in value):
        return [*value[:-1], OTHER_GOLD]
    last = max((place for place, entry in enumerate(value) if entry.get("role") == "assistant"), default=-1)
    return [{**entry, "content": OTHER_GOLD} if place == last else entry for place, entry in enumerate(value)]


def written_questions(
    inferencer: Inferencer,
    builder: PromptBuilder,
    samples: Sequence[Sample],
    probes: Sequence[Sample],
    shots: Sequence[Sample],
    columns: Sequence[str],
    golds_of: Callable[[Sample], Sequence[str]],
) -> list[int]:
    """Return the rows whose question is in the text that the templates write, whatever the row.

    That is the text of prompts with neutral data. Case, punctuation and white space do not count.

    Args:
        inferencer, builder, shots: as in `check_gold_is_hidden`.
        samples: all questions.
        probes: a few of them, whose prompts are made. Parts of a prompt may depend on the row, such as a label.
        columns: the columns that prompts show.
        golds_of: the texts that count as the gold of a sample.
    """
    texts = _own_texts(inferencer, builder, probes, shots)
    longest = max(map(len, texts), default=0)
    found = []
    for sample in samples:
        values = [value_text(sample.fields.get(column)) for column in columns]
        if sum(map(len, values)) > 2 * longest:  # sooner found out than its words
            continue
        found_words = map(words_of, values)
        phrases = [words for words in found_words if len(words) >= LEAST_OF_COLUMN or _numbers(words) >= LEAST_NUMBERS]
        others = [text for text, rows in texts.items() if rows != {sample.index}]
        if phrases and any(_is_in(text, phrases, golds_of(sample)) for text in others):
            found.append(sample.index)
    return found


def _own_texts(
    inferencer: Inferencer, builder: PromptBuilder, probes: Sequence[Sample], shots: Sequence[Sample]
) -> dict[str, set[int]]:
    """Return the words of each prompt without data, and its rows; none if a part needs real data.

    Chat messages and media stay in such a prompt, so a row is not compared with its own prompt alone.
    """
    prompts = prompt_maker(inferencer, builder, probes, [neutral_sample(shot, NEUTRAL_SHOT) for shot in shots])
    try:
        filled = [(probe.index, prompt) for probe in probes for prompt in prompts(neutral_sample(probe))]
    except Exception:  # templates may be the user's own, and expect whatever they like of a value
        return {}
    texts: defaultdict[str, set[int]] = defaultdict(set)
    for row, prompt in filled:
        texts[spaced("\n".join(filled_texts(prompt)))].add(row)
    return texts


def _is_in(text: str, phrases: Sequence[Sequence[str]], golds: Sequence[str]) -> bool:
    """Return whether a text has a question; of a few words, it needs numbers and must be followed by its gold."""
    spaced_phrases = [f" {' '.join(phrase)} " for phrase in phrases]
    if not all(phrase in text for phrase in spaced_phrases):
        return False
    if sum(map(len, phrases)) >= LEAST_WORDS:
        return True
    behind = text.partition(spaced_phrases[-1])[2]
    followed = any(spaced(gold) in f" {behind[:REACH]}" for gold in golds)
    return followed and sum(map(_numbers, phrases)) >= LEAST_NUMBERS


def _numbers(words: Sequence[str]) -> int:
    return sum(word[0].isdigit() for word in words)
