"""`MultiTurnPromptTemplate`: a dialogue whose round is said once for each question of a row.

The rules are those of AISBench, with its faults fixed: a question that is one text is one turn, ``begin`` and ``end``
may hold texts, and they and the other columns are filled too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.dialogue import check_dialogue, section_items
from ais_prompt.prompts.fill import column_marks, compile_text
from ais_prompt.prompts.filled_dialogue import FilledDialogue
from ais_prompt.prompts.prompt_list import Item, PromptList, text_of, with_text
from ais_prompt.prompts.turn_entries import column_entries, turn_entries
from ais_prompt.prompts.warn_once import WarnOnce
from ais_prompt.registry import TEMPLATES

QUESTION_AND_ANSWER = ("question", "answer")


@TEMPLATES.register_module()
class MultiTurnPromptTemplate(Template):
    """A template for dialogues of many turns, one round for each entry of the columns that hold lists.

    Args:
        template: a mapping with ``round`` and perhaps ``begin`` and ``end``. The columns of ``turn_columns`` are filled
            in the round only, entry by entry; all other columns everywhere.
        ice_token, sep_token: taken out of the text. In-context examples are never shown.
        turn_columns: the columns with one entry for each turn. A text counts as a list with one entry.
        answer_role: the role of the turns that the model is to say.

    Raises:
        PromptError: the template has the wrong shape, or no turn of its round has the ``answer_role``.
    """

    form: Form = "dialogue"

    def __init__(
        self,
        template: Mapping[str, Any],
        ice_token: str | None = None,
        sep_token: str | None = None,
        turn_columns: Sequence[str] = QUESTION_AND_ANSWER,
        answer_role: str = "BOT",
    ) -> None:
        self.template = check_dialogue(template, type(self).__name__)
        self.ice_token = ice_token
        self.sep_token = sep_token
        self.turn_columns = tuple(turn_columns)
        self.answer_role = answer_role
        self._warn = WarnOnce(logging.getLogger(__name__))
        if not self.turn_columns:
            raise PromptError("turn_columns names no column", fix="turn_columns=['question', 'answer']")
        if not any(self._is_answer(item) for item in section_items(template["round"])):
            raise PromptError(
                f"no turn of the round has the role {answer_role!r}, so nothing would be asked",
                fix=f"add dict(role={answer_role!r}, prompt='{{answer}}') to round, or set answer_role",
            )

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:
        """The fields with the mask in place of the last gold; the earlier ones are part of the question."""
        if column not in self.turn_columns:
            return {**fields, column: mask}
        return {**fields, column: [*column_entries(fields, column)[:-1], mask]}

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",
        label: Any = None,  # noqa: ARG002  # a dialogue has no labels
        keep_sep: bool = False,  # noqa: ARG002  # there is no perplexity of a dialogue
    ) -> PromptList:
        """The whole dialogue, see `dialogue`. Examples are not shown."""
        if str(examples).strip():
            self._warn("MultiTurnPromptTemplate shows no in-context examples; they are lost")
        return self.dialogue(fields).whole

    def dialogue(self, fields: Mapping[str, Any], output_column: str | None = None) -> FilledDialogue:
        """The dialogue of a row; it has no turns if the columns of ``turn_columns`` are empty.

        Args:
            fields: column → value, gold included.
            output_column: the column with the gold.

        Raises:
            PromptError: the row lacks a column of ``turn_columns``.
        """
        common = column_marks({name: value for name, value in fields.items() if name not in self.turn_columns})
        common |= {token: "" for token in (self.ice_token, self.sep_token) if token}
        entries, fault = turn_entries(fields, self.turn_columns)
        if fault:
            self._warn("turns are lost, because %s", fault)
        rounds = [_filled(self.template["round"], common | column_marks(entry)) for entry in entries]
        turns = tuple(item for items in rounds for item in items)
        begin, end = (
            PromptList(_filled(self.template.get(name, []), common)).as_section(name) for name in ("begin", "end")
        )
        answers = tuple(position for position, item in enumerate(turns) if self._is_answer(item))
        return FilledDialogue(begin, turns, end, answers, self._golds(fields, output_column, len(rounds)), fault)

    def _golds(self, fields: Mapping[str, Any], column: str | None, rounds: int) -> tuple[Any, ...] | None:
        """The gold of each answer; None if the column has another number of entries than there are rounds."""
        entries = [] if column is None else column_entries(fields, column)
        if column not in self.turn_columns and len(entries) != rounds:
            return None
        in_a_round = sum(map(self._is_answer, section_items(self.template["round"])))
        return tuple(entry for entry in entries[:rounds] for _ in range(in_a_round))

    def _is_answer(self, item: Item) -> bool:
        return isinstance(item, Mapping) and item.get("role") == self.answer_role


def _filled(section: Any, values: Mapping[str, object]) -> list[Item]:
    marks = tuple(values)
    return [with_text(item, compile_text(text_of(item), marks).fill(values)) for item in section_items(section)]
