"""Check that the media of a dataset can be sent, before any request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ais_prompt.errors import AisPromptError, DataError, PromptError
from ais_prompt.models import MediaModel, Model
from ais_prompt.prompts import PromptBuilder, check_taken
from ais_prompt.types import Sample
from ais_prompt.utils import check_part


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
        raise _counted(first, 1 + more) if more else first


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


def _counted(first: AisPromptError, broken: int) -> AisPromptError:
    what = f"{broken} samples have media that cannot be sent; the first: {first.what}"
    return DataError(what, where=first.where, fix=first.fix)
