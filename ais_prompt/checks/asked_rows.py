"""Check rows on their way into requests: missing values, media that cannot be sent, and equal prompts.

- A prompt that shows a missing value would read "Question: None". Its sample fails instead.
- Media that cannot be sent are found before any request.
- Samples with identical prompts are numbered, so that each keeps its own answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, DataError, PromptError
from ais_prompt.inferencers import Conversation, InferenceContext, Inferencer
from ais_prompt.models import MediaModel, Model
from ais_prompt.prompts import PromptBuilder, check_taken
from ais_prompt.types import ChatMessage, Failure, LikelihoodQuery, Prompt, Request, Sample, prompt_to_json
from ais_prompt.utils import Occurrences, canonical, check_part, texts

NO_VALUE: Final = "no_value"
"""Kind of the failure."""
_MARK: Final = "\ue003"


def shown_gap(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> Failure | None:
    """Return why a sample is not asked: its row, or that of an example, lacks a value that the prompt shows; else None.

    A prompt is only made for rows with gaps, with a mark in each gap: a column is shown if its mark comes out.
    """
    shown = _first_shown(inferencer, [sample, *shots], context)
    if shown is None:
        return None
    number, name = shown
    row = f"row {sample.index}"
    if number > 0:
        row = f"train row {shots[number - 1].index}, an example of {row},"
    return Failure(NO_VALUE, f"{row} has no value in the column {name!r}, which the prompt shows")


def numbered(conversation: Conversation, openings: Occurrences) -> Conversation:
    """Set `Request.duplicate` in all requests of a conversation.

    The number counts earlier conversations that opened with the same prompts, in the order in which they are started:
    that of the dataset, whatever is answered first. Later requests of a conversation have its number as well.

    Args:
        conversation: a conversation that was not started yet.
        openings: of the conversations that were started before it.
    """
    number = None
    answers = None
    while True:
        try:
            asked = next(conversation) if answers is None else conversation.send(answers)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if number is None:
            number = openings.earlier(_opening(asked))
        answers = yield [replace(request, duplicate=number) for request in asked] if number else asked


def taken_kinds(model: Model, prompts: PromptBuilder, *, offline: bool = False) -> Collection[str] | None:
    """Return the media that a model takes; None if only its server knows, or no prompt has media.

    Raises:
        ModelError, MissingExtra: as `MediaModel.media_kinds`.
    """
    if not prompts.may_hold_media or not isinstance(model, MediaModel):
        return None
    return model.media_kinds(offline=offline)


def check_media(
    prompts: PromptBuilder,
    samples: Iterable[Sample],
    shown: Iterable[Sample] = (),
    kinds: Collection[str] | None = None,
) -> None:
    """Check that every image, audio and video can be sent. Nothing is downloaded.

    Args:
        prompts: makes the prompts of the samples.
        samples: the questions.
        shown: the rows that are shown as examples.
        kinds: what the model takes; None leaves that to the model.

    Raises:
        DataError: some cannot: how many, and what is wrong with the first.
        PromptError: the model does not take what a sample shows.
    """
    if not prompts.may_hold_media:
        return
    faults = chain(
        _faults(samples, prompts.media, "sample", kinds), _faults(shown, prompts.example_media, "example", kinds)
    )
    first = next(faults, None)
    if first is not None:
        more = sum(1 for _ in faults)
        if not more:
            raise first
        what = f"{1 + more} samples have media that cannot be sent; the first: {first.what}"
        raise DataError(what, where=first.where, fix=first.fix)


def _first_shown(inferencer: Inferencer, rows: Sequence[Sample], context: InferenceContext) -> tuple[int, str] | None:
    """Return the number of a row, the question being 0, and its column without a value that the prompt shows."""
    gaps = [(number, name) for number, row in enumerate(rows) for name, value in row.fields.items() if value is None]
    if not gaps:
        return None
    marks = {gap: f"{_MARK}{number}{_MARK}" for number, gap in enumerate(gaps)}
    question, *shots = (_filled(number, row, marks) for number, row in enumerate(rows))
    try:
        views = inferencer.preview(question, shots, context)
    except AisPromptError:  # the column does not hold plain text; the prompt itself says what is wrong
        return None
    text = "".join(piece for view in views for piece in _texts(view.prompt))
    return next((gap for gap in gaps if marks[gap] in text), None)


def _filled(number: int, row: Sample, marks: Mapping[tuple[int, str], str]) -> Sample:
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
    prompts = tuple(
        (request.prompt, request.decoding) if isinstance(request.decoding, LikelihoodQuery) else request.prompt
        for request in asked
    )
    try:
        hash(prompts)
    except TypeError:  # messages with images have dicts in them
        return canonical([prompt_to_json(request.prompt) for request in asked])
    return prompts


def _faults(
    samples: Iterable[Sample],
    media: Callable[[Sample], Sequence[Mapping[str, Any]]],
    name: str,
    kinds: Collection[str] | None,
) -> Iterator[AisPromptError]:
    """Yield at most one fault of the media of each sample."""
    for sample in samples:
        try:
            parts = media(sample)
        except (DataError, PromptError):  # no prompt can be made of this row, which fails
            continue
        try:
            for part in parts:
                check_part(part)
                if kinds is not None:
                    check_taken(part, kinds)
        except AisPromptError as error:
            error.where = error.where or f"{name} {sample.id}, row {sample.index}"
            yield error
