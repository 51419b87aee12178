"""Answers made easy to read: thoughts cut out, full-width characters made ASCII, each place still known."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import Final

from ais_prompt.types import Extraction
from ais_prompt.utils import late

THINK_START: Final = "<think>"
THINK_END: Final = "</think>"

_BETWEEN_NUMBERS: Final = late(r"(?<=[0-9])，(?=[0-9])")
_STRUCK_OUT: Final = late(r"~~[^~\n]{1,200}~~")
_NEXT_QUESTION: Final = late(
    r"(?:Question:|(?<=\n)[ \t*#]{0,6}(?:Q|Problem|问题|题目|问)[ \t]?\d{0,3}[ \t*]{0,3}:).*\Z", re.DOTALL
)


class _Folding(dict[int, int]):
    """Code point → code point of NFKC, for variants in width or font, and for letters in circles.

    Other compatibility characters keep their form: x² is not x2, and ① numbers a step. One character becomes one
    character, so places stay the same.
    """

    def __missing__(self, code: int) -> int:
        form = unicodedata.decomposition(chr(code)).partition(" ")[0]
        folded = unicodedata.normalize("NFKC", chr(code))
        variant = form in ("<wide>", "<narrow>", "<font>", "<noBreak>") or (form == "<circle>" and folded.isalpha())
        self[code] = ord(folded) if variant and len(folded) == 1 else code
        return self[code]


_FOLDING: Final = _Folding()


class AnswerText:
    """A text, and where each of its characters is in the answer that it was made of.

    Attributes:
        text: what is left of the answer.
    """

    def __init__(self, text: str, parent: AnswerText | None = None, kept: list[tuple[int, int]] | None = None) -> None:
        """Make one of a whole answer, or of pieces of another source.

        Args:
            text: as above.
            parent: which source it was made of.
            kept: for each piece, its place here and its place in ``parent``.
        """
        self.text = text
        self._parent = parent
        self._here, self._there = zip(*(kept or [(0, 0)]), strict=True)

    def without(self, pattern: re.Pattern[str], *, spaced: bool = False) -> AnswerText:
        """The source without what a pattern matches; if ``spaced``, white space becomes one newline or blank."""
        pieces: list[str] = []
        kept = [(0, 0)]
        length = last = 0
        for found in pattern.finditer(self.text):
            if found.end() == found.start():
                continue
            run = found.group()
            filler = ("\n" if "\n" in run else " ") if spaced and run.isspace() else ""
            pieces += [self.text[last : found.start()], filler]
            length += found.start() - last
            kept.append((length, found.start()))  # the filler has the place of what it replaces
            length += len(filler)
            last = found.end()
            kept.append((length, last))
        if not last:
            return self
        return AnswerText("".join(pieces) + self.text[last:], self, kept)

    def before_next_question(self) -> AnswerText:
        """The source up to the question with which a base model goes on; empty if it begins with one."""
        return self.without(_NEXT_QUESTION)

    def since(self, place: int) -> AnswerText:
        """The source from a place on."""
        return AnswerText(self.text[place:], self, [(0, place)])

    def extraction(self, rule: str, start: int, end: int, text: str | None = None) -> Extraction | None:
        """Return what is between two places, or the text that was made of it; None if that is empty."""
        content = self.text[start:end] if text is None else text
        if not content:
            return None
        if end == start:
            return Extraction(content, rule, self._origin(start), self._origin(start))
        return Extraction(content, rule, self._origin(start), self._origin(end - 1) + 1)

    def stripped(self, rule: str, start: int, end: int, characters: str | None = None) -> Extraction | None:
        """Return what is between two places, without white space (or other characters) at its ends; None if empty."""
        content = self.text[start:end]
        start += len(content) - len(content.lstrip(characters))
        return self.extraction(rule, start, start + len(content.strip(characters)))

    def _origin(self, place: int) -> int:
        """The place in the answer."""
        piece = bisect_right(self._here, place) - 1
        there = int(self._there[piece]) + place - int(self._here[piece])
        return there if self._parent is None else self._parent._origin(there)


def said(answer: str, *, fold: bool = True, start: str = THINK_START, end: str = THINK_END) -> AnswerText:
    """An answer without its thoughts, one that never ends included; empty if nothing else was said.

    Args:
        answer: all that came back.
        fold: whether full-width and other variants of characters become plain ones.
        start, end: the marks of a thought. Chat templates may write the start, so the end may come alone.
    """
    if fold and not answer.isascii():
        # A full-width comma parts clauses, never thousands: "答案是42，18只是小计".
        answer = _BETWEEN_NUMBERS.sub(";", answer).translate(_FOLDING)
    source = AnswerText(answer)
    if start in answer:
        thought = re.compile(rf"{re.escape(start)}.*?(?:{re.escape(end)}|\Z)", re.DOTALL)
        source = source.without(thought)
    if end in source.text:
        source = source.without(re.compile(rf"\A.*{re.escape(end)}", re.DOTALL))
    return source.without(_STRUCK_OUT) if fold and "~~" in source.text else source
