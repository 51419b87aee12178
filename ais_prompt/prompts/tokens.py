"""``ice_token`` and ``sep_token``: texts of a template that mark a place and are never sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.prompts.dialogue import section_items
from ais_prompt.prompts.prompt_list import text_of


def check_token(name: str, token: Any) -> str | None:
    """Return the token, if it is a text or None.

    Raises:
        PromptError: it is empty, or no text.
    """
    if token is not None and (not isinstance(token, str) or not token):
        raise PromptError(f"{name} must be a text that is not empty, not {token!r}", fix=f"e.g. {name}='</E>'")
    return token


def has_token(entry: Any, token: str) -> bool:
    """Return whether a token is in a string, a section or a dialogue: in its texts and the prompts of its turns."""
    if isinstance(entry, str):
        return token in entry
    sections = entry.values() if isinstance(entry, Mapping) else [entry]
    return any(token in text_of(item) for section in sections for item in section_items(section))


def missing_token(name: object, token: str | None) -> PromptError:
    """The error for a template, or an entry of a label table, that has an ``ice_token`` but no place for it."""
    return PromptError(
        f"ice_token {token!r} is not in {name!r}: the examples would be lost",
        fix=f"put {token!r} where the examples go, or use ZeroRetriever",
    )
