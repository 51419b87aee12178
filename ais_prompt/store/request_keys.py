"""Compute the keys of answers. A request is sent again only if something that decides its answer has changed.

This module names everything that is part of a key. How a request is sent is not: the address, the client, timeouts,
streaming and the bytes of the body. Of the row, only the columns in the prompt count, and the files that it brings to
an agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.types import (
    Decoding,
    Execution,
    LikelihoodQuery,
    Request,
    ToolRun,
    decoding_to_json,
    prompt_to_json,
)
from ais_prompt.utils import canonical, digest, text_digest

VERSION: Final = 2
"""Version of the keys, at their beginning. Keys of version 1 are digests without it."""
_PREFIX: Final = f"{VERSION}:"


class RequestKeys:
    """Make the key of a request.

    It is ``2:`` and the `digest` of ``{"model": identity, "request": request.content()}``, computed faster here.

    Args:
        identity: of the model: its name, and everything else that decides its answers.
    """

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self._model = canonical(identity)
        self._decoding: Decoding | LikelihoodQuery | Execution | ToolRun | None = None
        self._head = ""

    def __call__(self, request: Request) -> str:
        """Return the key of a request."""
        if request.decoding is not self._decoding:  # many requests share one
            self._decoding = request.decoding
            self._head = f'"decoding":{canonical(decoding_to_json(request.decoding))}'
        prompt = canonical(prompt_to_json(request.prompt))
        sample = "" if request.step is None else f'"sample":{canonical(request.sample_id)},'
        brought = f'"brought":{canonical(request.brought)},' if request.brought else ""
        found = text_digest(
            f'{{"model":{self._model},"request":{{{brought}{self._head},"duplicate":{request.duplicate},"prompt":{prompt},"repeat":{request.repeat},{sample}'
            f'"turn":{request.turn}}}}}'
        )
        return _PREFIX + found


def is_former_key(key: str) -> bool:
    """Return whether a key is of an earlier version."""
    return not key.startswith(_PREFIX)


class FormerKeys:
    """Compute the keys of version 1, so that its answers are found.

    They contain the id of the whole row, and the address of a server in the model's identity.

    Args:
        identities: the model's as version 1 may have had them, one for each address.
        row_ids: sample id → id of the whole row.
    """

    def __init__(self, identities: Sequence[Mapping[str, Any]], row_ids: Mapping[str, str]) -> None:
        self._identities = identities
        self._row_ids = row_ids

    def __call__(self, request: Request) -> Iterator[str]:
        """Return the keys that a request may have had."""
        content = {
            "sample_id": self._row_ids.get(request.sample_id, request.sample_id),
            "prompt": prompt_to_json(request.prompt),
            "decoding": decoding_to_json(request.decoding),
            "turn": request.turn,
            "repeat": request.repeat,
        }
        for identity in self._identities:
            yield digest({"model": identity, "request": content})
