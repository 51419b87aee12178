"""Questions over many documents, of one step and of two (after RULER's ``qa_1`` and ``qa_2``)."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import Struct

from ais_prompt.extensions.benchmarks.ruler.fit import TokenCounter
from ais_prompt.extensions.benchmarks.ruler.grammar import Dice, new_words
from ais_prompt.extensions.benchmarks.ruler.haystack import Haystack, Pool

JOINT: Final = "\n\n"
MOST_DOCUMENTS: Final = 4096
"""Different documents of the filler."""
_TOKENS_PER_DOCUMENT: Final = 32
_RESERVED: Final = 512
"""Names of people and towns that only the documents of a question have."""
_TRADES: Final = ("glazier", "beekeeper", "surveyor", "typesetter", "locksmith", "botanist", "ferryman", "bookbinder")
_HOBBIES: Final = ("chess", "rowing", "fencing", "pottery", "archery", "juggling", "skating", "gardening")
_GOODS: Final = ("salt", "wool", "honey", "timber", "glass", "barley", "cheese", "slate")


class Person(Struct, frozen=True):
    """A person and the town where the person was born."""

    name: str
    town: str

    def document(self, dice: Dice) -> str:
        """Return the document on the person."""
        return (
            f"About {self.name}\n{self.name} was born in the town of {self.town} and works as a {dice.pick(_TRADES)}. "
            f"The evenings of {self.name} belong to {dice.pick(_HOBBIES)}."
        )


class Town(Struct, frozen=True):
    """A town and its mayor."""

    name: str
    mayor: str

    def document(self, dice: Dice) -> str:
        """Return the document on the town."""
        return (
            f"About {self.name}\n{self.name} is a town that trades in {dice.pick(_GOODS)} and {dice.pick(_GOODS)}. "
            f"The mayor of {self.name} is {self.mayor}."
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
        first, second, last, mayor_first, mayor_last = dice.some(self._names[:_RESERVED], 5)
        person = Person(f"{first} {second}", last)
        town = Town(last, f"{mayor_first} {mayor_last}")
        place = depth / 100
        if self._steps == 1:
            hidden = [(place, person.document(dice))]
            question, answer = f"In which town was {person.name} born?", town.name
        else:
            hidden = [(dice.share(), person.document(dice)), (place, town.document(dice))]
            question, answer = f"Who is the mayor of the town where {person.name} was born?", town.mayor
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
            made = Town(name, person) if number % 2 else Person(person, name)
            documents.append(made.document(dice))
        return Pool(documents, self._counter.costs(documents, JOINT, "en"), JOINT)
