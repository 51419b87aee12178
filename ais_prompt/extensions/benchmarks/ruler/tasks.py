"""The tasks of RULER: haystacks of filler with pieces at given depths, and words to be counted.

Haystacks hide needles, variables to follow, and documents (``niah_*``, ``vt``, ``qa_1`` and ``qa_2``). Words are common
in a list (``cwe``), or frequent in a coded text (``fwe``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.extensions.benchmarks.ruler.fit import TokenCounter
from ais_prompt.extensions.benchmarks.ruler.grammar import KEYS, REFRAIN, SENTENCES, Dice, Language, new_words

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
        keys = [dice.uuid() for _ in range(task.keys)]
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
            keys = keys if self._task.key == "words" else [dice.uuid() for _ in keys]
            pieces = [self._needle(key, self._value(dice)) for key in keys]
        return Pool(pieces, self._counter.costs(pieces, joint, self._language), joint)

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


JOINT: Final = "\n\n"
MOST_DOCUMENTS: Final = 4096
"""Different documents of the filler."""
_TOKENS_PER_DOCUMENT: Final = 32
_RESERVED: Final = 512
"""Names of people and towns that only the documents of a question have."""
_TRADES: Final = ("glazier", "beekeeper", "surveyor", "typesetter", "locksmith", "botanist", "ferryman", "bookbinder")
_HOBBIES: Final = ("chess", "rowing", "fencing", "pottery", "archery", "juggling", "skating", "gardening")
_GOODS: Final = ("salt", "wool", "honey", "timber", "glass", "barley", "cheese", "slate")


def on_person(name: str, town: str, dice: Dice) -> str:
    """Return the document on a person, and the town where the person was born."""
    return (
        f"About {name}\n{name} was born in the town of {town} and works as a {dice.pick(_TRADES)}. "
        f"The evenings of {name} belong to {dice.pick(_HOBBIES)}."
    )


def on_town(name: str, mayor: str, dice: Dice) -> str:
    """Return the document on a town and its mayor."""
    return (
        f"About {name}\n{name} is a town that trades in {dice.pick(_GOODS)} and {dice.pick(_GOODS)}. "
        f"The mayor of {name} is {mayor}."
    )


class DocumentTask:
    """Make prompts with documents on people and towns, and a question that one or two of them answer.

    Args:
        steps: 1: where a person was born; 2: the mayor of the town where a person was born.
        length: tokens of the longest prompt.
        seed: decides the pool of documents.
        counter: counts tokens.
    """

    def __init__(self, steps: int, length: int, seed: int, counter: TokenCounter) -> None:
        self._steps, self._length, self._seed, self._counter = steps, length, seed, counter
        self._number = min(MOST_DOCUMENTS, length // _TOKENS_PER_DOCUMENT + 2)

    def draft(self, depth: int, dice: Dice) -> Haystack:
        """Return a prompt in which the document with the answer is at a depth, in percent."""
        first, second, town, mayor_first, mayor_last = dice.some(self._names[:_RESERVED], 5)
        person, mayor = f"{first} {second}", f"{mayor_first} {mayor_last}"
        place = depth / 100
        if self._steps == 1:
            hidden = [(place, on_person(person, town, dice))]
            question, answer = f"In which town was {person} born?", town
        else:
            hidden = [(dice.share(), on_person(person, town, dice)), (place, on_town(town, mayor, dice))]
            question, answer = f"Who is the mayor of the town where {person} was born?", mayor
        head = "Answer a question with the documents below. Answer with a name only, without a sentence."
        tail = f"With the documents above: {question} Answer with the name only."
        order = self._pool.order(self._length, dice)
        return Haystack(head, tail, self._pool, order, hidden, [answer], depth)

    @cached_property
    def _names(self) -> list[str]:
        return [word.capitalize() for word in new_words(Dice(self._seed, "names"), _RESERVED + 4 * self._number)]

    @cached_property
    def _pool(self) -> Pool:
        dice = Dice(self._seed, "documents")
        names = iter(self._names[_RESERVED:])
        documents: list[str] = []
        for number in range(self._number):
            name, person = next(names), f"{next(names)} {next(names)}"
            documents.append(on_town(name, person, dice) if number % 2 else on_person(person, name, dice))
        return Pool(documents, self._counter.costs(documents, JOINT, "en"), JOINT)


class Pool(Struct, frozen=True):
    """Pieces that filler is made of.

    Attributes:
        pieces: the texts.
        costs: tokens that each adds, with the joint before it; shape (pieces,).
        joint: the text between two pieces.
        shuffled: whether each prompt has them in an order of its own.
    """

    pieces: Sequence[str]
    costs: NDArray[np.float64]
    joint: str
    shuffled: bool = True

    def order(self, tokens: int, dice: Dice) -> NDArray[np.intp]:
        """Return numbers of pieces with at least so many tokens; they repeat once all were used."""
        rounds = int(tokens // self.costs.sum()) + 1
        size = len(self.pieces)
        return np.concatenate([dice.order(size) if self.shuffled else np.arange(size) for _ in range(rounds)])


class Haystack:
    """A prompt with a haystack in the middle.

    Args:
        head, tail: the text before and after the haystack.
        pool: the filler.
        order: numbers of its pieces.
        hidden: depth from 0 to 1 and text of each piece that is hidden in the filler; those of one depth in this order.
        answers, depth: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    def __init__(
        self,
        head: str,
        tail: str,
        pool: Pool,
        order: NDArray[np.intp],
        hidden: Sequence[tuple[float, str]],
        answers: Sequence[str],
        depth: int | None,
    ) -> None:
        self.answers = answers
        self.depth = depth
        self.joint = pool.joint
        self.most = len(order)
        self._head, self._tail, self._pool, self._order = head, tail, pool, order
        self._hidden = sorted(hidden, key=lambda one: one[0])
        self._sums = np.concatenate(([0.0], np.cumsum(pool.costs[order])))

    def cost(self, number: int) -> float:
        """Return the tokens of the first pieces."""
        return float(self._sums[number])

    def text(self, number: int, padding: str) -> str:
        """Return the prompt; what is hidden at a depth of 1 is behind the padding."""
        pieces = [self._pool.pieces[place] for place in self._order[:number]]
        depths = [depth * self._sums[number] for depth, _ in self._hidden]
        places = np.searchsorted(self._sums[: number + 1], depths)
        if padding:
            pieces.append(padding)
            places[[depth == 1 for depth, _ in self._hidden]] = number + 1
        for place, (_, text) in reversed(list(zip(places, self._hidden, strict=True))):
            pieces.insert(int(place), text)
        return f"{self._head}\n\n{self.joint.join(pieces)}\n\n{self._tail}"


COMMON: Final = 10
TIMES_COMMON: Final = 30
TIMES_OTHERS: Final = 3
"""RULER, ``num_cw``, ``freq_cw`` and ``freq_ucw``."""
_LEAST_TOKENS: Final = 10
"""Three numbered words have more tokens than this."""


class CommonWords:
    """A numbered list in which ten words are common and all others are not.

    Attributes:
        answers, depth, joint, most: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    depth: int | None = None
    joint = "\n"

    def __init__(
        self, common: Sequence[str], others: Sequence[str], costs: NDArray[np.float64], seed: Sequence[object]
    ) -> None:
        """Plan a list.

        Args:
            common, others: the words.
            costs: tokens of the list with the first 0, 1, … of the others; shape (others + 1,).
            seed: decides the order.
        """
        self.answers: Sequence[str] = common
        self.most = len(others)
        self._others, self._costs, self._seed = others, costs, seed

    def cost(self, number: int) -> float:
        """Return how many tokens the others add."""
        return float(self._costs[number] - self._costs[0])

    def text(self, number: int, padding: str) -> str:
        """Return the prompt."""
        words = list(self.answers) * TIMES_COMMON + list(self._others[:number]) * TIMES_OTHERS
        order = Dice(*self._seed).order(len(words))
        listed = " ".join(f"{place}. {words[word]}" for place, word in enumerate(order, 1))
        behind = f"\n{padding}" if padding else ""
        return (
            "Below is a numbered list of words. Some of them come up far more often than the others. "
            f"Remember which.\n\n{listed}{behind}\n\n"
            f"Which {COMMON} words come up most often in the list above? "
            "Answer with these words only, separated by commas."
        )


class CommonWordsTask:
    """Make lists in which common words are to be found.

    Args:
        length: tokens of the longest prompt.
        seed: decides the words.
        counter: counts tokens.
    """

    def __init__(self, length: int, seed: int, counter: TokenCounter) -> None:
        self._most = length // _LEAST_TOKENS + 1
        self._seed, self._counter = seed, counter

    def draft(self, depth: int, dice: Dice) -> CommonWords:  # noqa: ARG002  # as all tasks
        """Return a list, which has no depth."""
        order = dice.order(len(self._words))
        words = [self._words[place] for place in order]
        of_words = self._counter.costs(self._words, " ", "en")[order]
        others = TIMES_OTHERS * np.concatenate(([0.0], np.cumsum(of_words[COMMON:])))
        sizes = COMMON * TIMES_COMMON + TIMES_OTHERS * np.arange(len(others))
        costs = TIMES_COMMON * of_words[:COMMON].sum() + others + self._number_costs[sizes]
        return CommonWords(words[:COMMON], words[COMMON:], costs, ("list", self._seed, dice.share()))

    @cached_property
    def _words(self) -> list[str]:
        return new_words(Dice(self._seed, "cwe"), COMMON + self._most)

    @cached_property
    def _number_costs(self) -> NDArray[np.float64]:
        """Tokens of the numbers of the first 0, 1, … words."""
        most = COMMON * TIMES_COMMON + TIMES_OTHERS * self._most
        costs = self._counter.costs([f"{number}." for number in range(1, most + 1)], " ", "en")
        return np.concatenate(([0.0], np.cumsum(costs)))


FREQUENT: Final = 3
_CODED_WORDS: Final = 2000
_NOISE: Final = "..."
"""What is more frequent than all words, and does not count."""


class FrequentWords:
    """A coded text in which a few words are frequent.

    Attributes:
        answers, depth, joint, most: as in `ais_prompt.extensions.benchmarks.ruler.fit.Draft`.
    """

    depth: int | None = None
    joint = "\n"

    def __init__(
        self, words: Sequence[str], costs: NDArray[np.float64], shares: NDArray[np.float64], most: int, seed: float
    ) -> None:
        """Plan a text.

        Args:
            words: by rank; the first is `_NOISE`.
            costs: tokens of each; shape (words,).
            shares: of each in the text; shape (words,).
            most: largest number of words in the text.
            seed: decides the order.
        """
        self.answers: Sequence[str] = list(words[1 : FREQUENT + 1])
        self.most = most
        self._words, self._costs, self._shares, self._seed = words, costs, shares, seed

    def _times(self, number: int) -> NDArray[np.intp]:
        """How often each word is in a text of so many; the asked ones differ from each other and from the next."""
        times = np.floor(number * self._shares).astype(np.intp)
        times[: FREQUENT + 1] += np.arange(FREQUENT + 1, 0, -1)
        return times

    def cost(self, number: int) -> float:
        """Return how many tokens the words add to those of the shortest text."""
        return float(self._costs @ (self._times(number) - self._times(0)))

    def text(self, number: int, padding: str) -> str:
        """Return the prompt."""
        words = [word for word, times in zip(self._words, self._times(number), strict=True) for _ in range(times)]
        coded = " ".join(words[place] for place in Dice("coded", self._seed).order(len(words)))
        behind = f"\n{padding}" if padding else ""
        return (
            "Below is a text in coded words. Find out which coded words are frequent. "
            f"The dots {_NOISE} are no words.\n\n{coded}{behind}\n\n"
            f"Which {FREQUENT} coded words are the most frequent in the text above? "
            "Answer with these words only, separated by commas."
        )


class FrequentWordsTask:
    """Make coded texts in which frequent words are to be found.

    Args:
        length, seed, counter: as in `CommonWordsTask`.
    """

    def __init__(self, length: int, seed: int, counter: TokenCounter) -> None:
        self._length, self._counter = length, counter
        self._words = new_words(Dice(seed, "fwe"), _CODED_WORDS)
        # Zeta distribution with alpha=2, as in RULER; exact sums, so that all machines have the same shares.
        weights = 1 / np.arange(1.0, _CODED_WORDS + 2) ** 2
        self._shares = weights / math.fsum(weights)

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        return self._counter.costs([_NOISE, *self._words], " ", "en")

    def draft(self, depth: int, dice: Dice) -> FrequentWords:  # noqa: ARG002  # as all tasks
        """Return a text, which has no depth."""
        order = dice.order(_CODED_WORDS)
        words = [_NOISE, *(self._words[place] for place in order)]
        costs = np.concatenate((self._costs[:1], self._costs[1:][order]))
        return FrequentWords(words, costs, self._shares, self._length, dice.share())
