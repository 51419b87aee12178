"""Needles in a haystack, and variables that are followed through it (RULER: ``niah_*`` and ``vt``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

from msgspec import Struct

from ais_prompt.extensions.benchmarks.ruler.fit import TokenCounter
from ais_prompt.extensions.benchmarks.ruler.grammar import KEYS, REFRAIN, SENTENCES, Dice, Language
from ais_prompt.extensions.benchmarks.ruler.haystack import Haystack, Pool

MOST_PIECES: Final = 8192
"""Different pieces of filler. A prompt that needs more repeats them in another order."""
_ASKED_KEYS: Final = 256
"""Keys that only needles have."""
_TOKENS_PER_PIECE: Final = 8
"""Pieces of filler have more tokens than this, so a pool for a length needs no more pieces than length by this."""


class Wording(Struct, frozen=True):
    """The sentences of a language around a needle; ``{key}``, ``{keys}``, ``{value}`` and ``{kind}`` are filled in."""

    joint: str
    head: str
    needle: str
    question: str
    several: str
    between_keys: str
    kinds: Mapping[str, str]


WORDING: Final[Mapping[Language, Wording]] = {
    "en": Wording(
        " ",
        "The text below hides secret {kind}s. Read it and remember them: a question about them follows at the end.",
        "Take note: a secret {kind} of the {key} is {value}.",
        "Which secret {kind} does the text above give for the {keys}? Answer with the {kind} only.",
        "Which secret {kind}s does the text above give for the {keys}? Answer with all of them, separated by commas.",
        ", the ",
        {"number": "number", "uuid": "identifier"},
    ),
    "zh": Wording(
        "",
        "下面的文字里藏着一些秘密{kind}。请阅读并记住它们，文末会就此提问。",
        "请注意：{key}的秘密{kind}之一是{value}。",
        "根据上面的文字，{keys}的秘密{kind}是什么？只回答{kind}。",
        "根据上面的文字，{keys}的秘密{kind}有哪些？请全部写出，用逗号隔开。",
        "、",
        {"number": "数字", "uuid": "编号"},
    ),
}


class Needles(Struct, frozen=True):
    """The parameters of a task with needles, as RULER names them in ``scripts/synthetic.yaml``.

    Attributes:
        haystack: what the filler is: a few sentences again and again, sentences of the grammar, or other needles.
        key, value: what needles are looked up by, and what is looked up.
        keys: number of keys with needles.
        values: number of needles of each key.
        queries: number of keys that are asked for.
    """

    haystack: Literal["refrain", "sentences", "needles"] = "sentences"
    key: Literal["words", "uuid"] = "words"
    value: Literal["number", "uuid"] = "number"
    keys: int = 1
    values: int = 1
    queries: int = 1


NEEDLES: Final[Mapping[str, Needles]] = {
    "niah_single_1": Needles(haystack="refrain"),
    "niah_single_2": Needles(),
    "niah_single_3": Needles(value="uuid"),
    "niah_multikey_1": Needles(keys=4),
    "niah_multikey_2": Needles(haystack="needles"),
    "niah_multikey_3": Needles(haystack="needles", key="uuid", value="uuid"),
    "niah_multivalue": Needles(values=4),
    "niah_multiquery": Needles(keys=4, queries=4),
}


class NeedleTask:
    """Make prompts with needles.

    Args:
        task: the parameters.
        length: tokens of the longest prompt.
        seed: decides the pool of filler.
        counter: counts tokens.
        language: of the text.
    """

    def __init__(self, task: Needles, length: int, seed: int, counter: TokenCounter, language: Language) -> None:
        self._task, self._length, self._counter, self._language = task, length, counter, language
        self._wording = WORDING[language]
        self._kind = self._wording.kinds[task.value]
        self._keys = Dice(seed, "keys", language).some(KEYS[language], len(KEYS[language]))
        self._pool_dice = Dice(seed, "pool", language, task.haystack)

    def draft(self, depth: int, dice: Dice) -> Haystack:
        """Return a prompt in which the needle that is asked for is at a depth, in percent; several are anywhere."""
        task = self._task
        keys = [self._key(dice) for _ in range(task.keys)]
        if task.key == "words":
            keys = dice.some(self._keys[:_ASKED_KEYS], task.keys)
        found = {key: [self._value(dice) for _ in range(task.values)] for key in keys}
        asked = keys[: task.queries]
        is_single = task.queries == task.values == 1
        hidden = [
            (depth / 100 if is_single and key in asked else dice.share(), self._needle(key, value))
            for key, values in found.items()
            for value in values
        ]
        answers = [value for key in asked for value in found[key]]
        question = self._wording.question if is_single else self._wording.several
        tail = question.format(keys=self._wording.between_keys.join(asked), kind=self._kind)
        head = self._wording.head.format(kind=self._kind)
        order = self._pool.order(self._length, dice)
        return Haystack(head, tail, self._pool, order, hidden, answers, depth if is_single else None)

    @cached_property
    def _pool(self) -> Pool:
        dice, joint = self._pool_dice, self._wording.joint
        number = min(MOST_PIECES, self._length // _TOKENS_PER_PIECE + 1)
        if self._task.haystack == "refrain":
            return refrain_pool(self._counter, self._language, joint)
        if self._task.haystack == "sentences":
            pieces = [SENTENCES[self._language](dice) for _ in range(number)]
        else:
            keys = self._keys[_ASKED_KEYS : _ASKED_KEYS + number]
            keys = keys if self._task.key == "words" else [self._key(dice) for _ in keys]
            pieces = [self._needle(key, self._value(dice)) for key in keys]
        return Pool(pieces, self._counter.costs(pieces, joint, self._language), joint)

    def _key(self, dice: Dice) -> str:
        return dice.uuid()

    def _value(self, dice: Dice) -> str:
        return dice.uuid() if self._task.value == "uuid" else dice.digits(7)

    def _needle(self, key: str, value: str) -> str:
        return self._wording.needle.format(key=key, value=value, kind=self._kind)


def refrain_pool(counter: TokenCounter, language: Language, joint: str) -> Pool:
    """Return the pool of a few sentences that repeat in one order."""
    pieces: Sequence[str] = REFRAIN[language]
    return Pool(pieces, counter.costs(pieces, joint, language), joint, shuffled=False)


HOPS: Final = 4
_CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class VariableTask:
    """Make prompts with a chain of variables, each set to the one before (RULER: one chain, four hops).

    Args:
        length, counter: as in `NeedleTask`.
    """

    def __init__(self, length: int, counter: TokenCounter) -> None:
        self._length = length
        self._pool = refrain_pool(counter, "en", " ")

    def draft(self, depth: int, dice: Dice) -> Haystack:  # noqa: ARG002  # as all tasks
        """Return a prompt with the chain all over it; the answers are the names of all variables with the value."""
        names: dict[str, None] = {}
        while len(names) <= HOPS:
            names["".join(dice.pick(_CAPITALS) for _ in range(5))] = None
        value = dice.digits(5)
        sources = [value, *(f"the variable {name}" for name in names)]
        texts = [f"Set the variable {name} to {source}." for name, source in zip(names, sources, strict=False)]
        hidden = list(zip(sorted(dice.share() for _ in texts), texts, strict=True))
        head = "The text below sets variables, to a number or to another variable. Remember which is set to what."
        tail = (
            f"Which {len(names)} variables have the value {value}, set directly or through other variables? "
            "Answer with their names only, separated by commas."
        )
        return Haystack(head, tail, self._pool, self._pool.order(self._length, dice), hidden, list(names), None)
