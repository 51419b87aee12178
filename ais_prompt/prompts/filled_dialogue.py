"""`FilledDialogue`: the dialogue of one row, from which the prompt of each turn is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import Item, PromptList, chain, text_of, with_text
from ais_prompt.utils.protocols import KeptChecks
from ais_prompt.utils.text import listed


def column_entries(fields: Mapping[str, Any], column: str) -> list[Any]:
    """Return the entries of a column, one per turn. A text is one entry.

    Raises:
        PromptError: the row lacks the column.
    """
    if column not in fields:
        raise PromptError(
            f"the row has no {column!r} for its turns (it has {listed(fields)})",
            fix="name the columns that hold one entry per turn: turn_columns=['...']",
        )
    value = fields[column]
    if value is None:  # an empty cell
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def turn_entries(fields: Mapping[str, Any], columns: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Return column → entry for each turn, as many as the shortest column has.

    The second value says why the longer columns were cut; it is empty if all have the same length.

    Raises:
        PromptError: the row lacks one of the columns.
    """
    entries = {column: column_entries(fields, column) for column in columns}
    turns = [dict(zip(columns, turn, strict=True)) for turn in zip(*entries.values(), strict=False)]
    if len({len(values) for values in entries.values()}) == 1:
        return turns, ""
    counts = ", ".join(f"{column}: {len(values)}" for column, values in entries.items())
    return turns, f"the columns have lists of different length ({counts})"


class FilledDialogue(Struct, frozen=True):
    """The dialogue of a row with its gold answers.

    Attributes:
        begin, end: the items before and after the turns.
        turns: the turns in order, gold answers included.
        answers: positions in ``turns`` of the model's turns; one request for each.
        golds: the gold of each answer; None if the data has no gold for each turn.
        fault: why turns of the row cannot be asked; empty if all can.
        section: the section of the turns for a chat format: ``round`` of a template, or ``chat`` with OpenAI's roles.
    """

    begin: PromptList
    turns: tuple[Item, ...]
    end: PromptList
    answers: tuple[int, ...]
    golds: tuple[Any, ...] | None = None
    fault: str = ""
    section: str = "round"

    @property
    def whole(self) -> PromptList:
        """The whole dialogue, gold answers included."""
        return self._until(self.turns)

    def request(self, number: int, replies: Sequence[str] = ()) -> PromptList:
        """Return the prompt of one request: all turns before the requested answer, then ``end``.

        Args:
            number: which answer is requested, from 0.
            replies: the model's answers so far. They replace the first gold answers, with the template text around
                them; answers without a reply keep the gold.
        """
        texts = dict(zip(self.answers, replies, strict=False))
        before = self.turns[: self.answers[number]]
        return self._until(
            [with_text(turn, texts.get(position, text_of(turn))) for position, turn in enumerate(before)]
        )

    def _until(self, turns: Sequence[Item]) -> PromptList:
        return chain([self.begin, PromptList(turns).as_section(self.section), self.end])


@runtime_checkable
class DialogueTemplate(Protocol, metaclass=KeptChecks):
    """A template whose prompts are multi-turn dialogues."""

    def dialogue(
        self, fields: Mapping[str, Any], output_column: str | None = None, *, examples: str | PromptList = ""
    ) -> FilledDialogue:
        """Return the dialogue of a row. It has no ``answers`` if there is no turn to ask.

        Args:
            fields: column → value, gold included.
            output_column: the column with the gold; None if there is none.
            examples: the in-context examples; passed only to a template with an ``ice_token``.

        Raises:
            PromptError: the row does not fit the template.
        """
