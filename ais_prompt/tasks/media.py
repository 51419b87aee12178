"""Media of a data set, looked at before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable

from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.prompts import PromptBuilder
from ais_prompt.types import Sample
from ais_prompt.utils.media import check_part


def check_media(prompts: PromptBuilder, samples: Iterable[Sample]) -> None:
    """See that every image, sound and film of the samples can be sent. Nothing is fetched from elsewhere.

    Raises:
        DataError: some cannot: how many, and what is wrong with the first.
        PromptError: the template does not fit a sample.
    """
    if not prompts.may_hold_media:
        return
    first: AisPromptError | None = None
    broken = 0
    for sample in samples:
        try:
            for part in prompts.media(sample):
                check_part(part)
        except AisPromptError as error:
            broken += 1
            if first is None:
                error.where = error.where or f"sample {sample.id}, row {sample.index}"
                first = error
    if first is not None:
        raise first if broken == 1 else _counted(first, broken)


def _counted(first: AisPromptError, broken: int) -> AisPromptError:
    what = f"{broken} samples have media that cannot be sent; the first: {first.what}"
    return DataError(what, where=first.where, fix=first.fix)
