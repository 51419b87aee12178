"""Check rows on their way into requests: missing values, and equal prompts.

- A prompt that shows a missing value would read "Question: None". Its sample fails instead.
- Samples with identical prompts are numbered, so that each keeps its own answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError
from ais_prompt.inferencers import InferenceContext, Inferencer
from ais_prompt.types import ChatMessage, Content, Failure, LikelihoodQuery, Prompt, Request, Sample, prompt_to_json
from ais_prompt.utils import Occurrences, canonical, texts

NO_VALUE: Final = "no_value"
"""Kind of the failure."""
_MARK: Final = "\ue003"
_Gap: TypeAlias = tuple[int, str]
"""The number of a row, the question being 0, and its column without a value."""


def shown_gap(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> Failure | None:
    """Return why a sample is not asked: its row, or that of an example, lacks a value that the prompt shows; else None.

    A prompt is only made for rows with gaps, with a mark in each gap: a column is shown if its mark comes out.
    """
    rows = [sample, *shots]
    gaps = [(number, name) for number, row in enumerate(rows) for name, value in row.fields.items() if value is None]
    if not gaps or (shown := _first_shown(inferencer, rows, gaps, context)) is None:
        return None
    number, name = shown
    row = f"row {sample.index}"
    if number > 0:
        row = f"train row {shots[number - 1].index}, an example of {row},"
    return Failure(NO_VALUE, f"{row} has no value in the column {name!r}, which the prompt shows")


class Numbering:
    """Numbers conversations that open with the same prompts, each with how many of them were started before it.

    That is in the order of the dataset, whatever is answered first. A conversation that is started again keeps its
    number.

    Args:
        samples: number of samples.
    """

    def __init__(self, samples: int) -> None:
        self._openings = Occurrences(samples)
        self._is_numbered = bytearray(samples)
        self._numbers: dict[int, int] = {}  # index of a sample → its number, unless that is 0

    def knows(self, index: int) -> bool:
        """Return whether the conversation about a sample has a number."""
        return bool(self._is_numbered[index])

    def number(self, index: int, asked: Sequence[Request]) -> int:
        """Return the number of a sample's conversation, which opens with these requests."""
        if not self._is_numbered[index]:
            self._is_numbered[index] = 1
            if number := self._openings.earlier(_opening(asked)):
                self._numbers[index] = number
        return self._numbers.get(index, 0)


def _first_shown(
    inferencer: Inferencer, rows: Sequence[Sample], gaps: Sequence[_Gap], context: InferenceContext
) -> _Gap | None:
    """Return the first gap that the prompt shows."""
    marks = {gap: f"{_MARK}{number}{_MARK}" for number, gap in enumerate(gaps)}
    question, *shots = (_filled(number, row, marks) for number, row in enumerate(rows))
    try:
        views = inferencer.preview(question, shots, context)
    except AisPromptError:  # the column does not hold plain text; the prompt itself says what is wrong
        return None
    text = "".join(piece for view in views for piece in _texts(view.prompt))
    return next((gap for gap in gaps if marks[gap] in text), None)


def _filled(number: int, row: Sample, marks: Mapping[_Gap, str]) -> Sample:
    """Return the row of a number with its marks in the gaps."""
    own = {name: mark for (place, name), mark in marks.items() if place == number}
    return replace(row, fields={**row.fields, **own}) if own else row


def _texts(prompt: Prompt) -> Iterator[str]:
    if isinstance(prompt, str):
        yield prompt
        return
    for message in prompt:
        yield from texts(message.content if isinstance(message, ChatMessage) else message)


def _opening(asked: Sequence[Request]) -> Hashable:
    """Return the prompts of the first requests, and the texts whose log-likelihood they ask for."""
    if messages := _plain_messages(asked):
        return messages
    prompts = tuple(
        (request.prompt, request.decoding) if isinstance(request.decoding, LikelihoodQuery) else request.prompt
        for request in asked
    )
    try:
        hash(prompts)
    except TypeError:  # messages have dicts in them
        return canonical([prompt_to_json(request.prompt) for request in asked])
    return prompts


def _plain_messages(asked: Sequence[Request]) -> tuple[tuple[tuple[str, Content], ...], ...]:
    """Return the prompts of requests if all of them are messages of role and text; empty if not."""
    opening = []
    for request in asked:
        if isinstance(request.prompt, str):
            return ()
        messages = []
        for message in request.prompt:
            if message.extra or not isinstance(message.content, str):
                return ()
            messages.append((message.role, message.content))
        opening.append(tuple(messages))
    return tuple(opening)
