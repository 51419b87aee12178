"""Make a prompt exactly as long as wanted: first by the number of filler pieces, then by single words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.ruler.grammar import REFRAIN, Dice, Language
from ais_prompt.extensions.benchmarks.ruler.tokens import TokenCounter

TRIES: Final = 12
"""How often a prompt is made until it has its length; nearly always the first or second has it."""


_FEW: Final = 8
"""Pieces of a short prompt, and tokens of the words in its padding."""


class Draft(Protocol):
    """A prompt whose length is still open.

    Attributes:
        answers: the texts that the answer must have.
        depth: where the answer is, in percent of the filler; None if it is in no single place.
        joint: the text between two pieces of filler.
        most: largest number of filler pieces.
    """

    answers: Sequence[str]
    depth: int | None
    joint: str
    most: int

    def cost(self, number: int) -> float:
        """Return about how many tokens so many filler pieces add; it grows with their number."""

    def text(self, number: int, padding: str) -> str:
        """Return the prompt with so many filler pieces, and the padding behind the last of them."""


# fmt: off
_WORDS: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": (
        " air", " arm", " art", " bed", " bird", " box", " bus", " car", " cat", " city", " cloud", " corn", " day",
        " dog", " eye", " face", " fire", " fish", " food", " hand", " head", " home", " ice", " king", " land",
        " law", " life", " man", " mind", " moon", " night", " rain", " road", " room", " sea", " sky", " snow",
        " song", " sun", " time", " town", " tree", " war", " wind", " word", " year",
    ),
    "zh": (
        "山", "水", "花", "草", "树", "石", "云", "风", "雨", "雪", "日", "月", "星", "火", "土", "木", "鱼", "鸟",
        "马", "牛", "羊", "米", "茶", "酒", "书", "笔", "门", "窗", "路", "桥", "船", "车", "衣", "鞋", "春", "秋",
    ),
}
# fmt: on
_SMALLEST: Final = (" a", ".", ",", "!", "a")
"""What fills up where every word has too many tokens."""
_FRAME: Final[Mapping[Language, tuple[str, str]]] = {"en": ("Also seen:", "."), "zh": ("还有：", "。")}


class Padding:
    """Sentences of single words that add a wanted number of tokens.

    Args:
        counter: counts the tokens.
        joint: the text before the sentence.
        language: of the words.

    Attributes:
        least: tokens of a sentence without words.
    """

    def __init__(self, counter: TokenCounter, joint: str, language: Language) -> None:
        self._counter, self._joint, self._language = counter, joint, language
        self.least = self._cost("")
        self._words = {word: self._cost(word) - self.least for word in _WORDS[language]}
        self._smallest = {word: self._cost(word) - self.least for word in _SMALLEST}

    def of(self, tokens: float, dice: Dice) -> str:
        """Return a sentence that adds so many tokens, or about so many if none is found."""
        wanted = tokens
        for _ in range(TRIES):
            words = self._of_sum(wanted - self.least, dice)
            missing = tokens - self._cost(words)
            if not missing:
                break
            wanted += missing  # words may join those before, and have fewer tokens then
        return self._sentence(words)

    def _of_sum(self, tokens: float, dice: Dice) -> str:
        """Return words whose tokens add up to a number, as far as possible."""
        found = ""
        while fitting := _fitting(self._words, tokens) or _fitting(self._smallest, tokens):
            word = dice.pick(fitting)
            found += word
            tokens -= (self._words | self._smallest)[word]
        return found

    def _sentence(self, words: str) -> str:
        start, end = _FRAME[self._language]
        return f"{start}{words}{end}"

    def _cost(self, words: str) -> float:
        after = REFRAIN[self._language][1]
        pieces = [self._sentence(words) + self._joint + after, after]
        with_words, without = self._counter.costs(pieces, self._joint, self._language)
        return float(with_words - without)


def _fitting(costs: Mapping[str, float], tokens: float) -> list[str]:
    return [word for word, cost in costs.items() if 0 < cost <= tokens]


def fit(draft: Draft, tokens: int, counter: TokenCounter, padding: Padding, dice: Dice) -> tuple[str, int]:
    """Return the prompt with so many tokens and how many it has: all of them, unless the tokenizer has no such text.

    Tokens of pieces are counted once and added. What the sum is off by, because tokens join across pieces, is seen
    when the whole prompt is counted, and the next try allows for it.

    Raises:
        DataError: the prompt is longer without any filler.
    """
    best, most = draft.text(0, ""), counter.count(draft.text(0, ""))
    if most > tokens:
        fix = f"make length at least {most:,} + max_out_len"
        raise DataError(f"a prompt of {tokens:,} tokens has no room for the task", fix=fix)
    # What is not filler is counted in a short prompt, with the tokens that join across its borders.
    few, words = min(_FEW, draft.most), padding.least + _FEW
    fixed = counter.count(draft.text(few, padding.of(words, dice))) - draft.cost(few) - words
    off = 0.0
    for tried in range(TRIES):
        room = tokens - fixed - off
        # The padding gets more tokens with each try, so that a piece does not come and go.
        number = bisect_right(range(1, draft.most + 1), room - padding.least - 4 * (tried + 1), key=draft.cost)
        text = draft.text(number, padding.of(room - draft.cost(number), dice))
        found = counter.count(text)
        if most < found <= tokens:
            best, most = text, found
        if found == tokens:
            break
        off += found - tokens
    return best, most
