"""The interfaces of templates, which make filled prompts of rows, and of chat formats, which make requests of those."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.terminal import SILENCE
from ais_prompt.types import ChatMessage, Prompt

Form: TypeAlias = Literal["string", "dialogue", "labels", "messages"]
"""The form of a template. ``messages`` are in OpenAI form: the model's meta template does not change them."""

Filled: TypeAlias = str | PromptList
"""A filled template, before the model's chat format is applied."""


class Template(Protocol):
    """Renders the prompt of a row, or an in-context example.

    Any object with these methods is a template. A class that inherits from this one must define `render`, and overrides
    the other methods where their defaults do not fit.

    Attributes:
        form: the form of its prompts, which determines how examples are joined.
        ice_token: the place of the in-context examples; None if the template has no place for them.
        sep_token: a mark between context and answer for normalised perplexity; None if there is none.
    """

    form: Form
    ice_token: str | None
    sep_token: str | None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of a label table, in order; empty for other forms."""
        return ()

    def check_ice_token(self) -> None:
        """Check that the template contains its ``ice_token``. Called only if examples are expected.

        Raises:
            PromptError: it does not, so the examples would be lost.
        """
        return

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:
        """Return the fields for a generation prompt, with the mask in place of the gold.

        Args:
            fields: column → value.
            column: the column of the gold; the row may lack it.
            mask: the text in place of the gold.
        """
        return {**fields, column: mask}

    @abstractmethod
    def render(
        self, fields: Mapping[str, Any], *, examples: Filled = "", label: Any = None, keep_sep: bool = False
    ) -> Filled:
        """Fill the whole template.

        Args:
            fields: column → value, as `hide_gold` returns them.
            examples: the in-context examples, joined.
            label: which entry of a label table; None takes the first.
            keep_sep: keep ``sep_token`` in the text.

        Raises:
            PromptError: the fields or the examples do not fit the template.
        """

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:  # noqa: ARG002
        """Render one in-context example.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row.
            drop: further tokens to delete from the template's text.

        Raises:
            PromptError: the template cannot render examples, or not from this row.
        """
        raise PromptError(
            f"{type(self).__name__} makes no in-context examples", fix="use PromptTemplate as ice_template"
        )

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return the image, audio and video parts of the row's prompt, in OpenAI form.

        Raises:
            PromptError: as `render`.
        """
        return ()


class WarnOnce:
    """Logs each kind of warning once: once per template, not once per row.

    Args:
        log: the logger.
    """

    def __init__(self, log: logging.Logger) -> None:
        log.addFilter(SILENCE)
        self._log = log
        self._logged: set[str] = set()

    def __call__(self, message: str, *values: object) -> None:
        """Warn, as `logging.Logger.warning` does, unless this message was there before with whatever values."""
        if message not in self._logged:
            self._logged.add(message)
            self._log.warning(message, *values)


Mode: TypeAlias = Literal["gen", "ppl"]
"""``gen``: the prompt ends where the model starts to write; ``ppl``: the prompt is whole, answers included."""


class MessagesFormat(Protocol):
    """Converts a filled template to messages."""

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """Return the messages of a prompt.

        Raises:
            PromptError: as `ChatFormat.render`.
        """


class ChatFormat(Protocol):
    """Converts a filled template to the prompt that is sent to a model."""

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """Apply the model's format.

        Raises:
            PromptError: the prompt does not fit the format (an unknown role, an empty prompt, ...).
        """
