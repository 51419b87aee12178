"""The keys of answers: a request is asked again only if something that decides its answer has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from ais_prompt.types import Decoding, Request, Scoring, prompt_to_json
from ais_prompt.utils.digest import canonical, text_digest


class RequestKeys:
    """Makes the key of a request: a digest of all that decides its answer, the model's identity and the whole request.

    It is the `digest` of ``{"model": identity, "request": request.content()}``; what many requests share is written
    once.

    Args:
        identity: of the model.
    """

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self._model = canonical(identity)
        self._decoding: Decoding | Scoring | None = None
        self._head = ""

    def __call__(self, request: Request) -> str:
        """The key of a request."""
        if request.decoding is not self._decoding:
            self._decoding = request.decoding
            self._head = f'{{"model":{self._model},"request":{{"decoding":{canonical(asdict(request.decoding))}'
        prompt, sample_id = canonical(prompt_to_json(request.prompt)), canonical(request.sample_id)
        return text_digest(
            f'{self._head},"prompt":{prompt},"repeat":{request.repeat},"sample_id":{sample_id},"turn":{request.turn}}}}}'
        )
