"""`MultiTurnPromptTemplate`: a dialogue whose round is repeated for each question of a row.

The rules are those of AISBench, with its faults fixed: a question that is one text is one turn, ``begin`` and ``end``
may contain texts and are filled, other columns are filled too, and in-context examples are shown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template, WarnOnce
from ais_prompt.prompts.compiled import CompiledDialogueTemplate
from ais_prompt.prompts.fill import column_marks, compile_text, mark_of
from ais_prompt.prompts.filled_dialogue import FilledDialogue, column_entries, turn_entries
from ais_prompt.prompts.prompt_list import Item, PromptList, text_of, with_text
from ais_prompt.prompts.shape import check_dialogue, check_token, has_token, missing_token, section_items
from ais_prompt.registry import TEMPLATES

QUESTION_AND_ANSWER = ("question", "answer")


@TEMPLATES.register_module()
class MultiTurnPromptTemplate(Template):
    """A template for multi-turn dialogues, with one round for each entry of the columns that are lists.

    Args:
        template: a mapping with ``round`` and optionally ``begin`` and ``end``. The columns of ``turn_columns`` are
            filled in the round only, entry by entry; all other columns everywhere.
        ice_token: the place of the in-context examples, in ``begin`` (or ``end``). They are the same for each request.
        sep_token: deleted from the text.
        turn_columns: the columns with one entry for each turn. A text counts as a list with one entry.
        answer_role: the role of the model's turns.

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
        self.ice_token = check_token("ice_token", ice_token)
        self.sep_token = check_token("sep_token", sep_token)
        self.turn_columns = tuple(turn_columns)
        self.answer_role = answer_role
        self._warn = WarnOnce(logging.getLogger(__name__))
        # Rows of one dataset have the same columns.
        self._compiled_surrounding = lru_cache(maxsize=64)(self._compile_surrounding)
        if not self.turn_columns:
            raise PromptError("turn_columns names no column", fix="turn_columns=['question', 'answer']")
        if not any(self._is_answer(item) for item in section_items(template["round"])):
            raise PromptError(
                f"no turn of the round has the role {answer_role!r}, so nothing would be asked",
                fix=f"add dict(role={answer_role!r}, prompt='{{answer}}') to round, or set answer_role",
            )

    def check_ice_token(self) -> None:
        """Check that ``ice_token`` is in ``begin`` or ``end``.

        Raises:
            PromptError: it is not, so the examples would be lost, or repeated with every turn.
        """
        if self.ice_token is None:
            return
        if has_token(self.template["round"], self.ice_token):
            raise PromptError(
                f"ice_token {self.ice_token!r} is in the round, which is repeated for each turn",
                fix=f"put {self.ice_token!r} as an item of its own into begin",
            )
        if not has_token(self.template, self.ice_token):
            raise missing_token("template", self.ice_token)

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:
        """Return the fields with the mask in place of the last gold; earlier golds are part of the question."""
        if column not in self.turn_columns:
            return {**fields, column: mask}
        return {**fields, column: [*column_entries(fields, column)[:-1], mask]}

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",
        label: Any = None,  # noqa: ARG002  # a dialogue has no labels
        keep_sep: bool = False,  # noqa: ARG002  # a dialogue has no perplexity
    ) -> PromptList:
        """Return the whole dialogue; see `dialogue`."""
        return self.dialogue(fields, examples=examples).whole

    def render_example(
        self,
        fields: Mapping[str, Any],
        label: Any = None,  # noqa: ARG002  # a dialogue has no labels
        drop: Sequence[str] = (),
    ) -> PromptList:
        """Render one in-context example: all rounds of a dialogue, answers included, without the tokens."""
        entries, fault = turn_entries(fields, self.turn_columns)
        if fault:
            self._warn("turns of examples are lost, because %s", fault)
        tokens = [token for token in (self.ice_token, self.sep_token, *drop) if token is not None]
        return PromptList(self._rounds(fields, entries, tokens)).as_section("ice")

    def dialogue(
        self, fields: Mapping[str, Any], output_column: str | None = None, *, examples: Filled = ""
    ) -> FilledDialogue:
        """Return the dialogue of a row. It has no turns if the columns of ``turn_columns`` are empty.

        Args:
            fields: column → value, gold included.
            output_column: the column with the gold.
            examples: the in-context examples, which replace ``ice_token``.

        Raises:
            PromptError: the row lacks a column of ``turn_columns``, or the examples do not fit the template.
        """
        entries, fault = turn_entries(fields, self.turn_columns)
        if fault:
            self._warn("turns are lost, because %s", fault)
        turns = tuple(self._rounds(fields, entries, [] if self.sep_token is None else [self.sep_token]))
        begin, end = (self._surrounding(name, fields, examples) for name in ("begin", "end"))
        answers = tuple(position for position, item in enumerate(turns) if self._is_answer(item))
        return FilledDialogue(begin, turns, end, answers, self._golds(fields, output_column, len(entries)), fault)

    def _rounds(
        self, fields: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], drop: Sequence[str]
    ) -> Iterator[Item]:
        """Yield the items of the round, filled for each turn, without the tokens of ``drop``."""
        common = column_marks(self._common(fields)) | dict.fromkeys(drop, "")
        for entry in entries:
            values = common | column_marks(entry)
            marks = tuple(values)
            for item in section_items(self.template["round"]):
                yield with_text(item, compile_text(text_of(item), marks).fill(values))

    def _surrounding(self, name: str, fields: Mapping[str, Any], examples: Filled) -> PromptList:
        """Return ``begin`` or ``end``, filled, with the examples."""
        common = self._common(fields)
        return self._compiled_surrounding(name, tuple(common)).fill(common, examples)

    def _compile_surrounding(self, name: str, columns: Sequence[str]) -> CompiledDialogueTemplate:
        marks = {mark_of(column): column for column in columns if column}
        drop = [] if self.sep_token is None else [self.sep_token]
        return CompiledDialogueTemplate({name: self.template.get(name, [])}, marks, drop, self.ice_token)

    def _common(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that are the same in all turns."""
        return {name: value for name, value in fields.items() if name not in self.turn_columns}

    def _golds(self, fields: Mapping[str, Any], column: str | None, rounds: int) -> tuple[Any, ...] | None:
        """Return the gold of each answer; None if the column does not have one entry per round."""
        entries = [] if column is None else column_entries(fields, column)
        if column not in self.turn_columns and len(entries) != rounds:
            return None
        in_a_round = sum(map(self._is_answer, section_items(self.template["round"])))
        return tuple(entry for entry in entries[:rounds] for _ in range(in_a_round))

    def _is_answer(self, item: Item) -> bool:
        return isinstance(item, Mapping) and item.get("role") == self.answer_role
