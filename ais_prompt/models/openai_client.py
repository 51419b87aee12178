"""Asking one endpoint of one server, as long as an event loop runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.http import HttpPoster
from ais_prompt.models.http_connection import Reply
from ais_prompt.models.openai_stream import STREAMED, StreamReader
from ais_prompt.models.openai_wire import Endpoint, read_reply
from ais_prompt.models.retry import Attempt, read_retry_after
from ais_prompt.models.traffic import Traffic
from ais_prompt.types import Completion, Failure
from ais_prompt.utils.secrets import SECRETS

MESSAGE_LENGTH: Final = 500
"""Characters of a server's own words that are kept."""


class OpenAIClient:
    """Posts bodies and reads what comes back.

    Args:
        endpoint: how the server is asked.
        poster: posts to its address.
        traffic: decides when requests go, and go again.
        stream: let answers come piece by piece.
    """

    def __init__(self, endpoint: Endpoint, poster: HttpPoster, traffic: Traffic, *, stream: bool) -> None:
        self.poster = poster
        self.traffic = traffic
        self._endpoint = endpoint
        self._stream = stream

    async def generate(self, body: Mapping[str, Any], tokens: float = 0) -> Completion:
        """The answer to a body, retries included. Failures are returned, not raised.

        Args:
            body: from `request_body`.
            tokens: what prompt and answer are expected to take, for a limit of tokens.
        """
        once = self._once_streamed if self._stream else self._once
        return await self.traffic.ask(lambda: once(body), tokens)

    def shown(self, failure: Failure) -> Failure:
        """A failure in words that may be shown."""
        # Redact first: half a key at the end of a shortened message would not be recognised.
        return replace(failure, message=SECRETS.hide_in_message(failure.message)[:MESSAGE_LENGTH])

    async def _once(self, body: Mapping[str, Any]) -> Attempt:
        return self._attempt(await self.poster.post(body), None)

    async def _once_streamed(self, body: Mapping[str, Any]) -> Attempt:
        reader = StreamReader()
        return self._attempt(await self.poster.post({**body, **STREAMED}, reader.feed), reader)

    def _attempt(self, reply: Reply | Failure, reader: StreamReader | None) -> Attempt:
        """What came of an attempt, failures in words that may be shown."""
        if isinstance(reply, Failure):
            return Attempt(Completion(failure=self.shown(reply)))
        if reader is not None and 200 <= reply.status < 300:
            completion = reader.completion()
        else:
            completion = read_reply(self._endpoint, reply.status, reply.body)
        if completion.failure is not None:
            completion = replace(completion, failure=self.shown(completion.failure))
        return Attempt(completion, read_retry_after(reply.retry_after))
