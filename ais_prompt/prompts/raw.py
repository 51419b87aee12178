"""`RawPromptTemplate`: messages in OpenAI form, written out in the config. The rules are those of OpenCompass."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template, WarnOnce
from ais_prompt.prompts.fill import column_marks, compile_text
from ais_prompt.prompts.prompt_list import Item, PromptList, chain
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils.media import source_of
from ais_prompt.utils.text import listed

ROLES: Final = ("system", "user", "assistant")
EXPAND: Final = "expand_column"


@TEMPLATES.register_module()
class RawPromptTemplate(Template):
    """A template of messages as an API takes them; roles and contents reach the model as they are.

    The gold is not hidden: a template shows it exactly where it names its column.

    Args:
        messages: in order: messages ``{"role": ..., "content": ...}``; ``{"expand_column": name}``, in whose place the
            messages of that column come, as they are; and ``ice_token``, in whose place the in-context examples come.
        format_variables: fill ``{column}`` in the contents that are text.
        ice_token: the place of the in-context examples, which must be made by a `RawPromptTemplate` too.

    Raises:
        PromptError: a message has the wrong shape.
    """

    form: Form = "messages"
    sep_token = None

    def __init__(self, messages: Sequence[Any], format_variables: bool = True, ice_token: str = "</E>") -> None:
        if not isinstance(messages, list | tuple) or not messages:
            raise PromptError(
                "RawPromptTemplate needs a list of messages", fix="messages=[dict(role='user', content='{question}')]"
            )
        for position, message in enumerate(messages):
            if not isinstance(message, str) and not _is_expansion(message):
                _check_message(message, f"messages[{position}]")
                _check_role(message["role"], f"messages[{position}]")
        self.messages = tuple(messages)
        self.format_variables = format_variables
        # Without a slot the token stands nowhere, and whoever has examples must hear that they would be lost.
        self.ice_token: str | None = ice_token if ice_token in messages else None
        self._warn = WarnOnce(logging.getLogger(__name__))
        for text in messages:
            if isinstance(text, str) and text != ice_token:
                self._warn("RawPromptTemplate drops texts that are neither message nor ice_token, such as %r", text)

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:  # noqa: ARG002
        """The fields as they are."""
        return fields

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",
        label: Any = None,  # noqa: ARG002  # a label prompt is the same prompt
        keep_sep: bool = False,  # noqa: ARG002  # messages have no separator
    ) -> PromptList:
        """The messages, filled: turns with ``role`` and ``content``.

        Raises:
            PromptError: ``expand_column`` names a column that the row does not have or that holds no messages, or the
                examples are no messages.
        """
        shots = self._checked_examples(examples)
        return chain(self._expanded(message, fields, shots) for message in self.messages)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> PromptList:  # noqa: ARG002
        """The messages of one in-context example, answer included."""
        return self.render(fields)

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The parts of contents that are lists, texts left out."""
        return [part for message in self.render(fields) for part in _parts(message) if source_of(part)]

    def _expanded(self, message: Any, fields: Mapping[str, Any], shots: PromptList) -> PromptList:
        if isinstance(message, str):
            return shots if message == self.ice_token else PromptList()
        if _is_expansion(message):
            return PromptList(self._column_messages(fields, message[EXPAND]))
        content = message["content"]
        if not self.format_variables or not isinstance(content, str):
            return PromptList([dict(message)])
        values = column_marks(fields)
        return PromptList([{**message, "content": compile_text(content, tuple(values)).fill(values)}])

    def _column_messages(self, fields: Mapping[str, Any], column: str) -> list[Item]:
        if column not in fields:
            raise PromptError(
                f"expand_column names {column!r}, which the row does not have (it has {listed(fields)})",
                fix="name a column with a list of messages",
            )
        if not isinstance(fields[column], list | tuple):
            self._warn("the column %r of expand_column holds no list in some rows; nothing is put in there", column)
            return []
        for position, message in enumerate(fields[column]):
            _check_message(message, f"{column}[{position}]")
        return list(fields[column])

    def _checked_examples(self, examples: Filled) -> PromptList:
        if isinstance(examples, str):
            if examples.strip():
                self._warn("RawPromptTemplate drops examples that are text; use RawPromptTemplate as ice_template")
            return PromptList()
        for message in examples:
            if isinstance(message, str) or "content" not in message:
                raise PromptError(
                    "examples made of turns cannot stand among messages", fix="use RawPromptTemplate as ice_template"
                )
        return examples


def _is_expansion(message: Any) -> bool:
    return isinstance(message, Mapping) and isinstance(message.get(EXPAND), str)


def _check_message(message: Any, name: str) -> None:
    if not isinstance(message, Mapping) or not {"role", "content"} <= set(message):
        raise PromptError(f"{name} must be a mapping with role and content, not {message!r}")


def _check_role(role: Any, name: str) -> None:
    if role not in ROLES:
        raise PromptError(f"{name} has the role {role!r}", fix=f"known roles: {', '.join(ROLES)}")


def _parts(message: Item) -> Iterator[Mapping[str, Any]]:
    content = None if isinstance(message, str) else message["content"]
    if isinstance(content, list | tuple):
        yield from (part for part in content if isinstance(part, Mapping))
