"""Templates of dialogues with several turns; a `FilledDialogue` gives the prompt of each turn.

`MultiTurnPromptTemplate` is a dialogue whose round is repeated for each question of a row. The rules are those of
AISBench, with its faults fixed: a question that is one text is one turn, ``begin`` and ``end`` may contain texts and
are filled, other columns are filled too, and in-context examples are shown.

`ChatTemplate` is the chat of a row, for datasets whose rows are whole chats. The rules are those of OpenCompass.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol, runtime_checkable

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.parts import KeptChecks
from ais_prompt.prompts.base import Filled, Form, Template, WarnOnce
from ais_prompt.prompts.compiled import (
    CompiledDialogueTemplate,
    Tokens,
    check_dialogue,
    check_token,
    has_token,
    missing_token,
    section_items,
)
from ais_prompt.prompts.prompt_list import (
    Item,
    PromptList,
    Turn,
    chain,
    column_keys,
    column_marks,
    compile_text,
    text_of,
    with_text,
)
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils import listed

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
        return PromptList(self._rounds(fields, entries, (self.ice_token, self.sep_token, *drop))).as_section("ice")

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
        turns = tuple(self._rounds(fields, entries, (self.sep_token,)))
        common = self._common(fields)
        begin, end = (
            self._compiled_surrounding(name, tuple(common)).fill(common, examples) for name in ("begin", "end")
        )
        answers = tuple(position for position, item in enumerate(turns) if self._is_answer(item))
        return FilledDialogue(begin, turns, end, answers, self._golds(fields, output_column, len(entries)), fault)

    def _rounds(self, fields: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], drop: Tokens) -> Iterator[Item]:
        """Yield the items of the round, filled for each turn, without the tokens of ``drop``."""
        common = column_marks(self._common(fields)) | dict.fromkeys(filter(None, drop), "")
        for entry in entries:
            values = common | column_marks(entry)
            marks = tuple(values)
            for item in section_items(self.template["round"]):
                yield with_text(item, compile_text(text_of(item), marks).fill(values))

    def _compile_surrounding(self, name: str, columns: Sequence[str]) -> CompiledDialogueTemplate:
        section = {name: self.template.get(name, [])}
        return CompiledDialogueTemplate(section, column_keys(columns), (self.sep_token,), self.ice_token)

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


ROLES: Final = {"system": "SYSTEM", "user": "HUMAN", "assistant": "BOT"}
"""Role of a message in OpenAI form → role of a turn. Other roles are kept."""

DIALOGUE: Final = "dialogue"
"""The column that contains the chat if there are several input columns."""


class ChatTemplate(Template):
    """Makes a chat from the columns that ``reader_cfg`` names.

    - A column with a list of messages is the chat: the only input column, or the one named ``dialogue``.
    - Otherwise the columns have one entry per exchange; a text is a single exchange. Each exchange is rendered with the
      template. A text becomes a turn of the user; if the assistant does not have the last turn, its turn with the gold
      is added. Without a template, the only input column is the turn of the user.

    Args:
        template: the template of one exchange; None if the input column is the user's turn.
        input_columns: the columns of the question.
        output_column: the column of the gold; None if there is none.

    Raises:
        PromptError: there is no template, and none of several input columns can be a chat.
    """

    form: Form = "dialogue"
    ice_token = None
    sep_token = None

    def __init__(self, template: Template | None, input_columns: Sequence[str], output_column: str | None) -> None:
        if template is None and len(input_columns) > 1 and DIALOGUE not in input_columns:
            raise PromptError(
                f"without a template it is not clear how the columns {listed(input_columns)} form a chat",
                fix="add a prompt_template, or name one input column",
            )
        self.template = template
        self.input_columns = tuple(input_columns)
        self.output_column = output_column

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",  # noqa: ARG002  # a chat shows none
        label: Any = None,  # noqa: ARG002  # a chat has no labels
        keep_sep: bool = False,  # noqa: ARG002  # a chat has no perplexity
    ) -> PromptList:
        """Return the whole chat, gold answers included."""
        return self.dialogue(fields).whole

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the media parts of all messages."""
        turns = self._chat(fields)[0]
        return [part for turn in turns for part in turn.get("prompt_mm", ()) if part.get("type") != "text"]

    def dialogue(
        self,
        fields: Mapping[str, Any],
        output_column: str | None = None,  # noqa: ARG002  # given to __init__
        *,
        examples: Filled = "",  # noqa: ARG002  # a chat shows none
    ) -> FilledDialogue:
        """Return the chat of a row; the golds are the assistant's turns.

        Raises:
            PromptError: a message has no role, or a role of the template has no counterpart in a chat.
        """
        turns, fault = self._chat(fields)
        # An assistant's turn at the very beginning has no prompt before it, so it is kept as it is.
        answers = tuple(position for position, turn in enumerate(turns) if turn["role"] == "BOT" and position > 0)
        golds = tuple(turns[position].get("prompt") for position in answers)
        return FilledDialogue(PromptList(), tuple(turns), PromptList(), answers, golds, fault, section="chat")

    def _chat(self, fields: Mapping[str, Any]) -> tuple[list[Turn], str]:
        """Return the turns, and why turns of the row were lost (see `turn_entries`)."""
        candidates = self.input_columns if len(self.input_columns) == 1 else (DIALOGUE,)
        for column in candidates:
            messages = fields.get(column)
            is_chat = isinstance(messages, list | tuple) and all(isinstance(one, Mapping) for one in messages)
            if is_chat and messages:
                return [_message_turn(message) for message in messages], ""
        used = [*self.input_columns, *([self.output_column] if self.output_column else [])]
        entries, fault = turn_entries(fields, list(dict.fromkeys(used)))
        return [turn for entry in entries for turn in self._exchange(entry)], fault

    def _exchange(self, entry: Mapping[str, Any]) -> list[Turn]:
        filled = self.template.render(entry) if self.template else str(entry[self.input_columns[0]])
        turns = [_turn(item) for item in ([filled] if isinstance(filled, str) else filled) if item]
        if not turns or turns[-1]["role"] != "BOT":
            turns.append({"role": "BOT", "prompt": str(entry[self.output_column]) if self.output_column else ""})
        return turns


def _turn(item: Item) -> Turn:
    if isinstance(item, str):
        return {"role": "HUMAN", "prompt": item}
    if "content" in item:
        return _message_turn(item)
    for role in (item.get("role"), item.get("fallback_role")):
        if role in ROLES.values():
            return {**item, "role": role}
    meant = ROLES.get(str(item.get("role")))
    raise PromptError(
        f"the role {item.get('role')!r} has no counterpart in a chat",
        fix=f"write role={meant!r}"
        if meant
        else f"use one of {', '.join(ROLES.values())} in the template, or give the turn such a fallback_role",
    )


def _message_turn(message: Mapping[str, Any]) -> Turn:
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        raise PromptError(f"a message of the chat has no role: {message!r}", fix="dict(role='user', content='...')")
    key = "prompt_mm" if isinstance(content, list | tuple) else "prompt"
    return {"role": ROLES.get(role, role), key: "" if content is None else content}
