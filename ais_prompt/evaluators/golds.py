"""Gold answers of which there may be several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import DataError


def golds_of(gold: Any) -> list[str]:
    """All right answers, as texts.

    Args:
        gold: one answer, a list of them, or a mapping with such a list as ``text`` (SQuAD's column ``answers``).

    Raises:
        DataError: there is none.
    """
    if isinstance(gold, Mapping) and "text" in gold:
        gold = gold["text"]
    several = gold if isinstance(gold, Sequence) and not isinstance(gold, str) else [gold]
    golds = [str(one) for one in several if one is not None]
    if not golds:
        raise DataError("there is no gold answer", fix="name the column that holds it as output_column")
    return golds
