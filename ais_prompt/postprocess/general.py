"""Short answers in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ais_prompt.postprocess.numbers import NUMBER, plain_number
from ais_prompt.postprocess.rule_engine import Candidate, Rank, said, strongest
from ais_prompt.postprocess.stated import marked_spans, statements
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_PHRASE_END: Final = late(
    r"[\n。]|[.,](?!\d)|(?<!\d)[.,]|[!?;](?=[\u4e00-\u9fff])|\((?=不|并非|not\b|[^)\n]{0,40}(?:是|\bis\b))"
    r"|\s+(?:rather\s+than|instead\s+of)\b|而(?:不是|非)|并非"
)
_SHORTENED: Final = late(
    r"\b(?i:Ste?|Mt|Pt|Ft|Fr|Mme|Mlle|Messrs|Mr|Mrs|Ms|Dr|Prof|Rev|Hon|Gen|Col|Maj|Capt|Lt|Sgt|Cpl|Pvt|Adm|Cmdr|Atty|Supt|Gov|Sen|Rep|Pres|Jr|Sr|Esq|vs?|etc|approx|ca|cf|al|Inc|Ltd|Co"
    r"|Corp|Bros|Dept|Univ|Assn|Ave|Blvd|Rd|Hwy|Rte|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Ph|e\.g|i\.e|a\.m|p\.m)\.\Z"
    r"|(?<![^\W\d_'’])[^\W\d_a-z]\.\Z"
)
"""A title, an abbreviation or an initial, with its full stop."""
_LABEL: Final = late(r"\W*[A-E]\.\Z")
_LEAD: Final = late(r"(?:\s|```\w*\n|\$|\\text(?=\{))*")
_DASHES: Final = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_PUNCTUATION: Final = late(r"(?!(?<=\d)[-./:^*+](?=\d)|(?<!\w)-(?=[$€£¥]?\.?\d))[^\w\s]")
"""All but signs before numbers and marks between digits: -5 is not 5, 3/4 not 34, and 7:30 not 730."""
_DENIED: Final = late(r"\s*(?:(?i:not|never|(?:is|was)\s?n['’]t)\b|并?不[是在]|并非)")
_UNKNOWN: Final = late(r"(?i:(?:unknown|not\s+(?:known|clear))\s+to\s+me\b)")
_CONTRAST: Final = late(r"\b(?:but|rather)(?:\s+rather)?\s|而是|(?<!不)是")
_REFUSES: Final = late(
    r"\A\W*(?i:(?:unfortunately|well|hmm),?\s+)?(?i:"
    r"i(?:['’]m|\s+am)\s+(?:sorry|afraid|not\s+(?:sure|certain|able|aware)|unable|(?:just\s+)?an?\s+(?:ai|language))\b"
    r"|i\s+(?:do\s+not|don['’]t)\s+(?:know|have\s+(?:any|enough|access|information)|understand|recall|remember)\b"
    r"|i\s+(?:can(?:not|['’]t|\s+not)|could(?:\s+not|n['’]t))\s+(?:say|tell|help|answer|recall|remember|provide|determine|assist|find)\b"
    r"|i\s+(?:have\s+no\s+(?:idea|information|clue)|apologi[sz]e|would\s+rather\s+not)\b|i['’]d\s+rather\s+not\b"
    r"|(?:so\s+)?sorry(?:\s*[,.!]|\s+(?:but|i)\b|\Z)|my\s+apologies|no\s+idea\b|(?:can|could|would)\s+you\b|i\s+(?:won['’]t|will\s+not)\s+answer\b|there\s+is\s+no\s+answer\b|please\s+(?:provide|clarify|give|tell)\b"
    r"|as\s+an?\s+(?:ai|(?:large\s+)?language\s+model|assistant)\b|the\s+answer\s+is\s+(?:unknown|not\s+known)\s+to\s+me)"
    r"|\A\W*(?:(?:很)?遗憾,?|恐怕)?(?:我(?:也)?(?:毫无|不会回答|看不到|只是|不(?:知道|清楚|确定|能|太?明白|便)|没有?(?:头绪|找到|办法|[^,。]{0,8}信息)|无法|想不起|说不上|记不)|(?:很|非常)?抱歉|对不起"
    r"|作为(?:一[个名])?(?:人工智能|AI|(?:大型?)?语言模型)|不知道|不清楚|很?遗憾[,。]|[文题]中没有|能换个说法|[能可](?:不能|以)?告诉|无法(?:回答|确定)|请(?:您|你)?(?:提供|说明|告诉|给出|明确)|答案我不)"
)
"""Answers that say they are none. A bare "unknown" or "cannot be determined" may be the gold, and is a phrase."""


@POSTPROCESSORS.register_module(name=["general_postprocess", "general"])
def general_postprocess(text: str) -> Extraction | None:
    r"""Return the phrase that an answer announces, else its first one, without punctuation, articles and double blanks.

    A phrase ends at a newline, comma or full stop, but not at that of an initial or abbreviation. What announces one:
    ``\boxed{}``, "the answer is", "答案是" and the like. None if nothing is left, and for "I do not know". The letter A
    is an article only where a word is left beside it.

    >>> general_postprocess("The Eiffel  Tower, in Paris.")
    'Eiffel Tower'
    >>> general_postprocess("It opened in 1889. So the answer is **the Eiffel Tower**.")
    'Eiffel Tower'
    >>> general_postprocess("J. K. Rowling. She wrote it in St. Louis.")
    'J K Rowling'
    >>> general_postprocess("It's 1,234.5 km.")
    'Its 1234.5 km'
    >>> general_postprocess("(A)")
    'A'

    Source: OpenCompass, ``general_postprocess`` (which knows no announcements, and also cuts numbers: "3.14" gives 3).
    """
    everything = said(text)
    source = everything.before_next_question()
    source = source if source.text.strip() else everything
    announced = list(_announced(source.text))
    if found := strongest((one for one in announced if one.text), source.text):
        return found[-1].extraction(source)
    if announced or _REFUSES.match(source.text):
        return None
    start, end, phrase = _phrase(source.text, 0, len(source.text))
    return source.extraction("the first phrase", start, end, phrase)


def first_phrase(text: str) -> str:
    """Return what `general_postprocess` makes of an answer that announces nothing; "A." may be an initial."""
    return _phrase(said(text).text, 0, len(text), label=False)[2]


def phrases_of(text: str) -> list[str]:
    """Return all texts that may be the first phrase of an answer: the first one of "Rte. 5. It" is "Rte" or "Rte 5".

    Each full stop may be the end of a sentence or part of an abbreviation; the last text ends where another mark does.
    """
    source = said(text).text
    start = _start(source, 0, len(source))
    found = []
    for stop in _PHRASE_END.finditer(source, start):
        if stop.group() == "." and source[stop.end() : stop.end() + 1].isalpha():
            continue  # U.S.
        found.append(_plain(source[start : stop.start()]))
        if stop.group() != ".":
            return found
    return [*found, _plain(source[start:])]


def plain_phrase(text: str) -> str:
    """Return the first phrase of a text as it is written: a full-width comma is none of its ends."""
    return _phrase(text, 0, len(text))[2]


def _announced(text: str) -> Iterator[Candidate]:
    """What marks and announcements hold, which may be nothing: "The answer is not Rome."."""
    for rule, start, end in marked_spans(text):
        yield _candidate(Rank.MARKED, rule, text, start, end)
    for statement in statements(text):
        start, end = statement.start, statement.end
        if _DENIED.match(text, start, end):
            contrast = _CONTRAST.search(text, start + 2, statement.line_end)
            start, end = (contrast.end(), statement.line_end) if contrast else (end, end)
        yield _candidate(statement.rule.rank, statement.rule.name, text, start, end)


def _candidate(rank: Rank, rule: str, text: str, start: int, end: int) -> Candidate:
    start, end, phrase = _phrase(text, start, end)
    return Candidate(rank, rule, start, end, "" if _UNKNOWN.match(phrase) else phrase)


def _phrase(text: str, start: int, end: int, *, label: bool = True) -> tuple[int, int, str]:
    """Where the first phrase between two places is, and what is left of it."""
    start = _start(text, start, end)
    stops = _PHRASE_END.finditer(text, start, end)
    end = next((stop.start() for stop in stops if not _is_inside(text, start, stop, label=label)), end)
    return start, end, _plain(text[start:end])


def _start(text: str, start: int, end: int) -> int:
    lead = _LEAD.match(text, start, end)
    return lead.end() if lead else start


def _plain(phrase: str) -> str:
    """Return a phrase without punctuation, articles and double blanks."""
    words = _PUNCTUATION.sub("", phrase.translate(_DASHES))
    without_articles = re.sub(r"\b(?:a|an|the)\b", "", words, flags=re.IGNORECASE)
    return " ".join(without_articles.split()).strip("_") or ("A" if re.search(r"\bA\b", words) else "")


def _is_inside(text: str, start: int, stop: re.Match[str], *, label: bool) -> bool:
    """Return whether a full stop is part of a name or an abbreviation, as in J. K. Rowling, U.S. and St. Louis."""
    if stop.group() != ".":
        return False
    after = text[stop.end() : stop.end() + 3]
    if re.match(r"[^\W\d_]", after):
        return True
    before = text[max(start, stop.end() - 8) : stop.end()]
    if label and _LABEL.fullmatch(text[start : stop.end()]) and not re.match(r"\s+(?:[A-Z]\.|[a-z])", after):
        return False  # "A. Paris" is an option with its text; "A. A. Milne" a name
    numbered = re.search(r"\b(?:[Nn]o|[Vv]ol|[Ff]ig|[Ee]q|[Cc]h|[Ss]ec|[Aa]rt|[Oo]p|pp?|c)\.\Z", before)
    return bool(re.match(r"\s*\d", after) if numbered else _SHORTENED.search(before) and after.strip())


@POSTPROCESSORS.register_module()
def first_number_postprocess(text: str) -> Extraction | None:
    """Return the first number in a text without ``$`` and commas; None if there is none.

    >>> first_number_postprocess("Rating: 8.5 of 10")
    '8.5'

    What counts as a number: `ais_prompt.postprocess.numbers`. Source: OpenCompass, ``first_number_postprocess``.
    """
    source = said(text)
    number = NUMBER.search(source.text)
    return number and source.extraction("the first number", *number.span(), plain_number(number.group()))


@POSTPROCESSORS.register_module()
def last_number_postprocess(text: str) -> Extraction | None:
    """Return the last number in a text without ``$`` and commas, whatever is said of it; None if there is none.

    >>> last_number_postprocess("12, if I am not mistaken; or rather 1,300?")
    '1300'

    What counts as a number: `ais_prompt.postprocess.numbers`.
    """
    source = said(text)
    numbers = [*NUMBER.finditer(source.text)][-1:]
    return next((source.extraction("the last number", *one.span(), plain_number(one.group())) for one in numbers), None)
