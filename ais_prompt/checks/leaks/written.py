"""Search for test questions in the text that a template writes itself, such as examples in its turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from ais_prompt.checks.leaks.chance import value_text
from ais_prompt.checks.leaks.proof import prompt_maker
from ais_prompt.checks.leaks.words import spaced, words_of
from ais_prompt.checks.prompt_warning import NEUTRAL_SHOT, filled_texts, neutral_sample
from ais_prompt.inferencers import Inferencer
from ais_prompt.prompts import PromptBuilder
from ais_prompt.types import Sample

LEAST_WORDS: Final = 8
"""Words of a question that is looked for, at least: a template may have the words of a shorter one by chance."""

LEAST_OF_COLUMN: Final = 3
"""Words of a column that are part of the question; fewer are a name or a label, which many texts have."""


def written_questions(
    inferencer: Inferencer,
    builder: PromptBuilder,
    samples: Sequence[Sample],
    probes: Sequence[Sample],
    shots: Sequence[Sample],
    columns: Sequence[str],
) -> list[int]:
    """Return the rows whose question is in the text that the templates write, whatever the row.

    That is the text of prompts with neutral data. Case, punctuation and white space do not count.

    Args:
        inferencer, builder, shots: as in `ais_prompt.checks.leaks.proof.check_gold_is_hidden`.
        samples: all questions.
        probes: a few of them, whose prompts are made. Parts of a prompt may depend on the row, such as a label.
        columns: the columns that prompts show.
    """
    texts = _own_texts(inferencer, builder, probes, shots)
    longest = max(map(len, texts), default=0)
    found = []
    for sample in samples:
        values = [value_text(sample.fields.get(column)) for column in columns]
        if sum(map(len, values)) > 2 * longest:  # sooner found out than its words
            continue
        phrases = [words for value in values if len(words := words_of(value)) >= LEAST_OF_COLUMN]
        others = [text for text, rows in texts.items() if rows != {sample.index}]
        if sum(map(len, phrases)) >= LEAST_WORDS and _all_in(phrases, others):
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


def _all_in(phrases: Sequence[Sequence[str]], texts: Sequence[str]) -> bool:
    return any(all(f" {' '.join(phrase)} " in text for phrase in phrases) for text in texts)
