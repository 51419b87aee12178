"""`RawPromptTemplate`: messages in OpenAI form, written in the config. The rules are those of OpenCompass."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template, WarnOnce
from ais_prompt.prompts.prompt_list import Item, PromptList, chain, column_marks, compile_text
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils import listed, source_of

ROLES: Final = ("system", "user", "assistant")
EXPAND: Final = "expand_column"


@TEMPLATES.register_module()
class RawPromptTemplate(Template):
    """A template of messages in the form of an API; roles and contents are sent as they are.

    The gold is not masked: a template that names its column shows it.

    Args:
        messages: in order: messages ``{"role": ..., "content": ...}``; ``{"expand_column": name}``, which is replaced
            by the messages in that column; and ``ice_token``, which is replaced by the in-context examples.
        format_variables: whether to fill ``{column}`` in contents that are text.
        ice_token: the place of the in-context examples, which a `RawPromptTemplate` must render too.

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
                # The role of a message of the template itself is known before any row is.
                name = f"messages[{position}]"
                _check_message(message, name)
                if message["role"] not in ROLES:
                    what = f"{name} has the role {message['role']!r}"
                    raise PromptError(what, fix=f"known roles: {', '.join(ROLES)}")
        self.messages = tuple(messages)
        self.format_variables = format_variables
        # Without the token among the messages there is no place for examples; None lets the caller report that.
        self.ice_token: str | None = ice_token if ice_token in messages else None
        self._warn = WarnOnce(logging.getLogger(__name__))
        for text in messages:
            if isinstance(text, str) and text != ice_token:
                self._warn("RawPromptTemplate drops texts that are neither message nor ice_token, such as %r", text)

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the fields unchanged."""
        return fields

    def render(
        self,
        fields: Mapping[str, Any],
        *,
        examples: Filled = "",
        label: Any = None,  # noqa: ARG002  # a label prompt is the same prompt
        keep_sep: bool = False,  # noqa: ARG002  # messages have no separator
    ) -> PromptList:
        """Return the filled messages: turns with ``role`` and ``content``.

        Raises:
            PromptError: the row lacks the column of ``expand_column``, an entry of it is not a message, or the examples
                are not messages.
        """
        shots = self._checked_examples(examples)
        return chain(self._expanded(message, fields, shots) for message in self.messages)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> PromptList:  # noqa: ARG002
        """Return the messages of one in-context example, answer included."""
        return self.render(fields)

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the media parts of contents that are lists."""
        contents = [message["content"] for message in self.render(fields) if not isinstance(message, str)]
        lists = [content for content in contents if isinstance(content, list | tuple)]
        return [part for parts in lists for part in parts if isinstance(part, Mapping) and source_of(part)]

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
                f"expand_column names the column {column!r}, which the row does not have (it has {listed(fields)})",
                fix="name a column with a list of messages",
            )
        if not isinstance(fields[column], list | tuple):
            self._warn(
                "the column %r of expand_column is not a list in some rows; they get no messages from it", column
            )
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
                    "examples made of turns do not fit a list of messages", fix="use RawPromptTemplate as ice_template"
                )
        return examples


def _is_expansion(message: Any) -> bool:
    return isinstance(message, Mapping) and isinstance(message.get(EXPAND), str)


def _check_message(message: Any, name: str) -> None:
    if not isinstance(message, Mapping) or not {"role", "content"} <= set(message):
        what = f"{name} must be a mapping with role and content, not {message!r}"
        raise PromptError(what, fix="e.g. dict(role='user', content='{question}')")
