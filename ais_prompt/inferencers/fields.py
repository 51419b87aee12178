"""Fields of a request that only servers understand: ``response_format``, ``tools``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.models.base import Model, SendsFields
from ais_prompt.types import Decoding


def with_fields(decoding: Decoding, model: Model, **fields: Any) -> Decoding:
    """Return decoding with further fields of the request; those that are None are left out.

    Raises:
        PromptError: the model has no server that understands fields.
    """
    given: Mapping[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in given:
        refuse_fields(model, name)
    return replace(decoding, extra={**decoding.extra, **given})


def refuse_fields(model: Model, name: str) -> None:
    """Raise an error unless a model passes fields on to a server, in the form of the OpenAI API.

    Raises:
        PromptError: it does not.
    """
    if not isinstance(model, SendsFields) or name not in model.sends_fields:
        raise PromptError(
            f"{type(model).__name__} cannot send {name}",
            fix=f"use OpenAIChatModel, for which a local model needs a server, or take {name} out of the inferencer",
        )
