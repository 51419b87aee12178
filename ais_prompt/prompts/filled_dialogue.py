"""`FilledDialogue`: the dialogue of one row, from which the prompt of each request is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import Item, PromptList, chain, text_of, with_text
from ais_prompt.utils.text import listed


def column_entries(fields: Mapping[str, Any], column: str) -> list[Any]:
    """The entries of a column, one for each turn; a text is one entry.

    Raises:
        PromptError: the row has no such column.
    """
    if column not in fields:
        raise PromptError(
            f"the row has no {column!r} for its turns (it has {listed(fields)})",
            fix="name the columns that hold one entry for each turn: turn_columns=['...']",
        )
    value = fields[column]
    if value is None:  # so readers give an empty cell
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def turn_entries(fields: Mapping[str, Any], columns: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Column → entry, for each turn, as many as the shortest column has; and why there are no more, or nothing.

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
        begin, end: what stands before and after the turns.
        turns: the turns one after the other, gold answers included.
        answers: positions in ``turns`` of those that the model is to say; one request each.
        golds: what each of these answers will be compared with; None if the data does not tell it turn by turn.
        fault: why the row has further turns that cannot be asked; empty if there are none.
        section: what the turns are to a chat format: the ``round`` of a template, or a ``chat`` in OpenAI's roles.
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

    def request(self, number: int, said: Sequence[str] = ()) -> PromptList:
        """The prompt of one request: all turns before the answer that it asks for, then ``end``.

        Args:
            number: which answer is asked for, from 0.
            said: what the model said so far. It takes the place of the first gold answers, template text around them
                included; without it the gold stays.
        """
        replies = dict(zip(self.answers, said, strict=False))
        before = self.turns[: self.answers[number]]
        return self._until(
            [with_text(turn, replies.get(position, text_of(turn))) for position, turn in enumerate(before)]
        )

    def _until(self, turns: Sequence[Item]) -> PromptList:
        return chain([self.begin, PromptList(turns).as_section(self.section), self.end])


@runtime_checkable
class DialogueTemplate(Protocol):
    """A template whose prompts are dialogues of many turns."""

    def dialogue(
        self, fields: Mapping[str, Any], output_column: str | None = None, *, examples: str | PromptList = ""
    ) -> FilledDialogue:
        """The dialogue of a row; one without any turn to ask has no ``answers``.

        Args:
            fields: column → value, gold included.
            output_column: the column with the gold; None if there is none.
            examples: the in-context examples; only given to a template with an ``ice_token``.

        Raises:
            PromptError: no dialogue can be made of this row.
        """
