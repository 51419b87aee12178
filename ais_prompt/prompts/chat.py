"""`ChatTemplate`: the chat of a row, for a chat is the whole of some datasets. The rules are those of OpenCompass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.filled_dialogue import FilledDialogue, turn_entries
from ais_prompt.prompts.prompt_list import Item, PromptList, Turn
from ais_prompt.utils.text import listed

ROLES: Final = {"system": "SYSTEM", "user": "HUMAN", "assistant": "BOT"}
"""Role of a message in OpenAI form → role of a turn. Other roles keep their name."""

DIALOGUE: Final = "dialogue"
"""The column that holds a chat where there are several input columns."""


class ChatTemplate(Template):
    """Makes a chat of the columns that ``reader_cfg`` names.

    - A column that holds a list of messages is the chat: the only input column, or the one called ``dialogue``.
    - Else the columns hold one entry for each exchange, or a text for the only one. Every exchange goes through the
      template; a text says the user, and if the assistant does not have the last word, it says the gold. Without
      a template the user says the only input column.

    Args:
        template: what one exchange looks like; None if the input column is what the user says.
        input_columns: the columns of the question.
        output_column: the column of the gold; None if there is none.

    Raises:
        PromptError: without a template there are several input columns, none of which can be a chat.
    """

    form: Form = "dialogue"
    ice_token = None
    sep_token = None

    def __init__(self, template: Template | None, input_columns: Sequence[str], output_column: str | None) -> None:
        if template is None and len(input_columns) > 1 and DIALOGUE not in input_columns:
            raise PromptError(
                f"nothing says how {listed(input_columns)} make a chat",
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
        keep_sep: bool = False,  # noqa: ARG002  # there is no perplexity of a chat
    ) -> PromptList:
        """The whole chat, gold answers included."""
        return self.dialogue(fields).whole

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The parts of all messages, texts left out."""
        turns = self._chat(fields)[0]
        return [part for turn in turns for part in turn.get("prompt_mm", ()) if part.get("type") != "text"]

    def dialogue(
        self,
        fields: Mapping[str, Any],
        output_column: str | None = None,  # noqa: ARG002  # it knows its own
        *,
        examples: Filled = "",  # noqa: ARG002  # a chat shows none
    ) -> FilledDialogue:
        """The chat of a row; the golds are what the assistant says in it.

        Raises:
            PromptError: a message has no role, or the template gives a turn to somebody whom OpenAI's form lacks.
        """
        turns, fault = self._chat(fields)
        # With nothing before it there is nothing to ask: an assistant that begins is taken at its word.
        answers = tuple(position for position, turn in enumerate(turns) if turn["role"] == "BOT" and position > 0)
        golds = tuple(turns[position].get("prompt") for position in answers)
        return FilledDialogue(PromptList(), tuple(turns), PromptList(), answers, golds, fault, section="chat")

    def _chat(self, fields: Mapping[str, Any]) -> tuple[list[Turn], str]:
        """The turns, and why there are no more of them."""
        candidates = self.input_columns if len(self.input_columns) == 1 else (DIALOGUE,)
        for column in candidates:
            if messages := _messages(fields.get(column)):
                return [_message_turn(message) for message in messages], ""
        used = [*self.input_columns, *([self.output_column] if self.output_column else [])]
        entries, fault = turn_entries(fields, list(dict.fromkeys(used)))
        return [turn for entry in entries for turn in self._exchange(entry)], fault

    def _exchange(self, entry: Mapping[str, Any]) -> list[Turn]:
        said = self.template.render(entry) if self.template else str(entry[self.input_columns[0]])
        turns = [_turn(item) for item in ([said] if isinstance(said, str) else said) if item]
        if not turns or turns[-1]["role"] != "BOT":
            turns.append({"role": "BOT", "prompt": str(entry[self.output_column]) if self.output_column else ""})
        return turns


def _messages(value: Any) -> Sequence[Mapping[str, Any]]:
    """The messages that a column holds; none if it holds anything else."""
    is_chat = isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value)
    return value if is_chat else ()


def _turn(item: Item) -> Turn:
    if isinstance(item, str):
        return {"role": "HUMAN", "prompt": item}
    if "content" in item:
        return _message_turn(item)
    for role in (item.get("role"), item.get("fallback_role")):
        if role in ROLES.values():
            return {**item, "role": role}
    raise PromptError(
        f"the role {item.get('role')!r} has no counterpart in a chat",
        fix=f"use one of {', '.join(ROLES.values())} in the template, or give the turn such a fallback_role",
    )


def _message_turn(message: Mapping[str, Any]) -> Turn:
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        raise PromptError(f"a message of the chat has no role: {message!r}", fix="dict(role='user', content='...')")
    key = "prompt_mm" if isinstance(content, list | tuple) else "prompt"
    return {"role": ROLES.get(role, role), key: "" if content is None else content}
