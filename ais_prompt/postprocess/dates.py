"""Dates in texts, as ISO 8601 writes them: ``2024-05-01``, "May 1, 2024", "1 May 2024", "1.5.2024", "2024年5月1日".

Names of months are read in English, German, French and Spanish: "1. Mai 2024".

Two numbers that may both be the month, ``03/04/2024``, are no date here: the United States write the month first, most
others the day. ``13/04/2024`` and ``04/13/2024`` can be read, and so can ``03.04.2024``, in which the day comes first
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final

from ais_prompt.postprocess.label_words import stated_word
from ais_prompt.postprocess.rule_engine import Candidate, Rank, doubts, is_reported, said, strongest
from ais_prompt.postprocess.stated import marked_spans, statements
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_NAMES: Final = (
    "january jan januar janvier enero",
    "february feb februar février fevrier febrero",
    "march mar märz mrz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août aout agosto",
    "september sept sep septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre",
)
"""Names of the months in English, German, French and Spanish."""
_MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_MONTH: Final = rf"(?P<name{{0}}>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_DATE: Final = late(
    r"(?<![\d./-])(?:(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})(?![\d/-])(?:T[\d:.]+Z?|\s00:00(?::00)?)?"
    r"|(?P<y2>\d{4})\s?年\s?(?P<m2>\d{1,2})\s?月\s?(?P<d2>\d{1,2})\s?[日号]"
    r"|(?P<a3>\d{1,2})(?P<s3>[./-])(?P<b3>\d{1,2})(?P=s3)(?P<y3>\d{4})(?!\.?\d)"
    rf"|(?P<d4>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:(?:of|de)\s+)?{_MONTH.format(4)},?\s+(?:del?\s+)?(?P<y4>\d{{4}})(?!\d)"
    rf"|(?<![A-Za-z]){_MONTH.format(5)}\s+(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y5>\d{{4}})(?!\d))",
    re.IGNORECASE,
)
_NOT_ON: Final = late(r"(?:\bnot|n['’]t|\bnever)\s+(?:on|in|until|before|after)\s+(?:the\s+)?\Z", re.IGNORECASE)
_DOUBTS: Final = doubts(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|[A-Za-z]+\s\d{1,2},?\s\d{4}")


@POSTPROCESSORS.register_module()
def date_postprocess(text: str, words: Sequence[str] = ()) -> Extraction | None:
    """Return the date that an answer gives, as ``2024-05-01``; None if it gives none, or several without a mark.

    >>> date_postprocess("It was signed on May 1st, 2024.")
    '2024-05-01'
    >>> date_postprocess("Either 1 May 2024 or 2 May 2024.")
    >>> date_postprocess("It was in May 2024.", words=["May 2024"])
    'May 2024'

    Args:
        text: the answer.
        words: right answers that are no dates. One of them counts in an answer that gives no date.
    """
    source = said(text).before_next_question()
    found = strongest(_candidates(source.text), source.text)
    if not found:
        return stated_word(text, words)
    if found[0].rank == Rank.ALONE and len({one.text for one in found}) > 1:
        return None
    return found[-1].extraction(source)


def to_date(value: Any) -> str | None:
    """Return a text that is nothing but a date in ISO form; None for all else."""
    found = _DATE.fullmatch(str(value).strip().rstrip("."))
    return None if found is None else _iso(found)


def _candidates(text: str) -> Iterator[Candidate]:
    for rule, start, end in marked_spans(text):
        yield from _dates(text, start, end, Rank.MARKED, rule)
    for statement in statements(text):
        yield from _dates(text, statement.start, statement.line_end, statement.rule.rank, statement.rule.name)
    yield from _dates(text, 0, len(text), Rank.ALONE, "the only date")


def _dates(text: str, start: int, end: int, rank: Rank, rule: str) -> Iterator[Candidate]:
    for found in _DATE.finditer(text, start, end):
        iso = _iso(found)
        before = text[max(0, found.start() - 20) : found.start()]
        denied = _NOT_ON.search(before) or _DOUBTS.denies_before(text, found.start())
        if iso is not None and not (denied or is_reported(text, found.start())):
            yield Candidate(rank, rule, found.start(), found.end(), iso)


def _iso(found: re.Match[str]) -> str | None:
    """Return the date that was found; None if there is no such day, or it is not clear which number is the month."""
    part = found.groupdict()
    if part["y3"]:
        first, second = int(part["a3"]), int(part["b3"])
        if part["s3"] != "." and first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if part["s3"] == "." or first > 12 else (second, first)
        return _day(part["y3"], month, day)
    number = next(one for one in "1245" if part[f"y{one}"])
    name = part.get(f"name{number}")
    month = _MONTHS[name.lower()] if name else int(part[f"m{number}"])
    return _day(part[f"y{number}"], month, int(part[f"d{number}"]))


def _day(year: str, month: int, day: int) -> str | None:
    try:
        return date(int(year), month, day).isoformat()
    except ValueError:
        return None
