"""Make a prompt exactly as long as wanted, in tokens: first by pieces of filler, then by single words."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ais_prompt.errors import ConfigError, DataError, PromptError
from ais_prompt.extensions.benchmarks.ruler.grammar import REFRAIN, Dice, Language
from ais_prompt.utils import lookup

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


BYTES_PER_TOKEN: Final = 4
"""The rule without a tokenizer: four bytes of UTF-8 are a token, about right for English and for Chinese."""
_AT_ONCE: Final = 1024
"""Pieces that are tokenized together."""


class TokenCounter(Protocol):
    """Count tokens."""

    def count(self, prompt: str) -> int:
        """Return the tokens of a prompt as it is sent."""

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:
        """Return how many tokens each piece adds behind another sentence and the text between them; shape (pieces,)."""


class EstimatedTokens:
    """Estimate tokens by `BYTES_PER_TOKEN`."""

    def count(self, prompt: str) -> int:
        """Return the estimate, rounded up."""
        return math.ceil(len(prompt.encode()) / BYTES_PER_TOKEN)

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the estimates of piece and joint, not rounded."""
        return np.array([len((joint + piece).encode()) / BYTES_PER_TOKEN for piece in pieces])


class TokenizerTokens:
    """Count the tokens of a Hugging Face tokenizer.

    Args:
        path: the folder of the tokenizer, or its hub id.
        chat_template: whether the prompt is sent as the message of a user, through the tokenizer's chat template; None
            if the tokenizer has one.

    Raises:
        ConfigError: the tokenizer cannot be loaded, or has no chat template where one is wanted.
    """

    def __init__(self, path: str, chat_template: bool | None = None) -> None:
        self._path = path
        self._tokenizer = _load(path)
        has_template = bool(getattr(self._tokenizer, "chat_template", None))
        if chat_template and not has_template:
            raise ConfigError(f"the tokenizer {path} has no chat template", fix="take chat_template=True out")
        self._applies_template = has_template if chat_template is None else chat_template

    def count(self, prompt: str) -> int:
        """Return the tokens of a prompt, special tokens and chat template included.

        Raises:
            PromptError: the chat template refuses the prompt.
        """
        if not self._applies_template:
            return self._lengths([prompt], special=True)[0]
        messages = [{"role": "user", "content": prompt}]
        try:
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # Jinja templates can raise anything
            what = f"the chat template of {self._path} refuses the prompt: {error}"
            raise PromptError(what, fix="name a tokenizer whose chat template takes a user's message") from error
        return self._lengths([text])[0]

    def costs(self, pieces: Sequence[str], joint: str, language: Language) -> NDArray[np.float64]:
        """Return the tokens that each piece adds."""
        before = REFRAIN[language][0]
        lengths: list[int] = []
        for start in range(0, len(pieces), _AT_ONCE):
            lengths += self._lengths([before + joint + piece for piece in pieces[start : start + _AT_ONCE]])
        return np.array(lengths, float) - self._lengths([before])[0]

    def _lengths(self, texts: list[str], *, special: bool = False) -> list[int]:
        if getattr(self._tokenizer, "is_fast", False):  # a third faster than through transformers
            encode = self._tokenizer.backend_tokenizer.encode_batch_fast
            return [len(one) for one in encode(texts, add_special_tokens=special)]
        return list(map(len, self._tokenizer(texts, add_special_tokens=special, verbose=False)["input_ids"]))


def _load(path: str) -> Any:
    folder = Path(path).expanduser()
    # Without torch, which tokenizers do not need, the import itself warns that models are not available.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        from transformers import AutoTokenizer

        if folder.is_dir():
            return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        with lookup(path):
            return AutoTokenizer.from_pretrained(path)
    except Exception as error:  # the library and its Rust parts raise nearly every exception there is
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        fix = "give the folder of a tokenizer, such as that of the model, or take tokenizer out for an estimate"
        raise ConfigError(f"the tokenizer {path!r} cannot be loaded: {why}", where="tokenizer", fix=fix) from error
