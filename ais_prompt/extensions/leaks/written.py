"""Search for test questions in the text that a template writes itself, such as examples in its turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from ais_prompt.checks import NEUTRAL_SHOT, filled_texts, neutral_sample
from ais_prompt.extensions.leaks.proof import prompt_maker
from ais_prompt.extensions.leaks.words import spaced, value_text, words_of
from ais_prompt.inferencers import Inferencer
from ais_prompt.prompts import PromptBuilder
from ais_prompt.types import Sample

LEAST_WORDS: Final = 8
"""Words of a question, at least: a template may have the words of a shorter one by chance."""

LEAST_NUMBERS: Final = 2
"""Numbers of a shorter question, at least. It counts if its gold follows, as in "2.9-0.11 equals 2.79"."""

REACH: Final = 200
"""Characters behind such a question in which its gold is looked for."""

LEAST_OF_COLUMN: Final = 3
"""Words of a column that are part of the question; fewer are a name or a label, which many texts have."""


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
