"""Describe how a postprocessor reads ordinary phrasings."""

from __future__ import annotations

from ais_prompt.checks.extraction import PHRASINGS, ExtractionTrial, LostAnswer
from ais_prompt.utils.text import counted


def describe(found: ExtractionTrial) -> str:
    """Return a line with the number of phrasings that give back every gold, and one for each that does not."""
    whole = len(PHRASINGS)
    tried = counted(found.golds, "gold")
    first = (
        f"Extraction of {found.dataset}: {whole - len(found.lost)} of {whole} ordinary phrasings give back the answer "
        f"({found.postprocessor}, {tried})"
    )
    return "\n".join((first, *map(_line, found.lost)))


def _line(lost: LostAnswer) -> str:
    result = "nothing" if lost.extracted is None else repr(lost.extracted)
    return f"  lost, {lost.phrasing}: {lost.text!r} gives {result}"
