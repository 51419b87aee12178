"""What `PromptBuilder` needs of a template."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList

Form: TypeAlias = Literal["string", "dialogue", "labels", "messages"]
"""``messages`` are in OpenAI form already: the model's meta template does not touch them."""

Filled: TypeAlias = str | PromptList
"""A template filled with data, before the model's own format."""


class Template(Protocol):
    """How the prompt of a row, or an in-context example, is made.

    Any object with these methods will do. A class that inherits from this one writes `render`, and what it does in
    another way than most.

    Attributes:
        form: its shape, which decides how examples are joined.
        ice_token: where the in-context examples go; None if it has no place for them.
        sep_token: a mark between context and answer for normalised perplexity; None if there is none.
    """

    form: Form
    ice_token: str | None
    sep_token: str | None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of a label table in order; empty for the other forms."""
        return ()

    def check_ice_token(self) -> None:
        """Check that ``ice_token`` has a place in the template; only where examples are expected it must.

        Raises:
            PromptError: it has none: the examples would be lost.
        """
        return

    def hide_gold(self, fields: Mapping[str, Any], column: str, mask: str) -> Mapping[str, Any]:
        """The fields as a generation prompt may show them: with the mask in place of the gold.

        Args:
            fields: column → value.
            column: the one with the gold, whether the row has it or not.
            mask: what stands in the place of the gold.
        """
        return {**fields, column: mask}

    @abstractmethod
    def render(
        self, fields: Mapping[str, Any], *, examples: Filled = "", label: Any = None, keep_sep: bool = False
    ) -> Filled:
        """The whole template, filled.

        Args:
            fields: column → value, as `hide_gold` leaves them.
            examples: the examples as `PromptBuilder` joins them.
            label: which entry of a label table; None takes the first.
            keep_sep: leave ``sep_token`` in the text.

        Raises:
            PromptError: the fields or the examples do not fit into this template.
        """

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:  # noqa: ARG002
        """One in-context example.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row.
            drop: further tokens to delete from the template's text.

        Raises:
            PromptError: the template makes no examples, or not of this row.
        """
        raise PromptError(
            f"{type(self).__name__} makes no in-context examples", fix="use PromptTemplate as ice_template"
        )

    def media(self, fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """The image, audio and video parts, in OpenAI form, that the prompt of this row will have.

        Raises:
            PromptError: as `render`.
        """
        return ()


class WarnOnce:
    """Logs each kind of warning only the first time.

    Args:
        log: where the warnings go.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._said: set[str] = set()

    def __call__(self, message: str, *values: object) -> None:
        """Warn, as `logging.Logger.warning` does, unless this message was there before with whatever values."""
        if message not in self._said:
            self._said.add(message)
            self._log.warning(message, *values)
