"""`ChatTemplate`: the chat of a row, for datasets whose rows are whole chats. The rules are those of OpenCompass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.dialogue_template import FilledDialogue, turn_entries
from ais_prompt.prompts.prompt_list import Item, PromptList, Turn
from ais_prompt.utils import listed

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
            if messages := _messages(fields.get(column)):
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


def _messages(value: Any) -> Sequence[Mapping[str, Any]]:
    """Return the messages in a column; empty if it contains anything else."""
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
