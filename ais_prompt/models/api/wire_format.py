"""Wire formats: the body of a request to an endpoint, and its replies. Nothing is sent here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ais_prompt.models.api.stream import StreamReader
from ais_prompt.models.api.wire import BadBody, http_failure, read_json, reported_failure, server_words
from ais_prompt.models.options import Wire
from ais_prompt.types import Completion, Failure, Prompt, Request


class WireFormat(Protocol):
    """One endpoint of a kind of server.

    Attributes:
        path: path below the base URL, such as ``chat/completions``.
        title: the name of the API, for messages.
        stream_fields: further fields of the body of a request whose answer is streamed.
    """

    @property
    def path(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def stream_fields(self) -> Mapping[str, Any]: ...

    @property
    def prompt_value(self) -> Callable[[Prompt], str | list[dict[str, Any]]]:
        """Prompt → the text or the messages that a tokenizer can count; raises `PromptError`."""

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:
        """Return the body of a request as plain JSON values. Options that are None are left out, local files put in.

        Raises:
            PromptError: the endpoint does not take such a prompt.
            DataError: a local file in the prompt cannot be read.
        """

    def answer(self, reply: Any) -> Completion:
        """Read the parsed body of a good reply.

        Raises:
            BadBody: it is not in the form of an answer.
        """

    def local_stops(self, stop: tuple[str, ...]) -> tuple[str, ...]:
        """Return the stop texts that the server is not sent; answers are cut at them here."""

    def reader(self) -> StreamReader:
        """Return a reader of one streamed answer."""


def read_reply(endpoint: WireFormat, status: int, body: bytes) -> Completion:
    """Read the answer or the failure of a reply. Messages are in full length and not yet redacted."""
    if not 200 <= status < 300:
        return Completion(failure=http_failure(status, body))
    try:
        reply = read_json(body)
        if failure := reported_failure(reply):
            return Completion(failure=failure)
        try:
            return endpoint.answer(reply)
        except BadBody as error:
            raise BadBody(f"{error}{_other_api(endpoint, reply)}") from None
    except BadBody as error:
        words = server_words(body)
        return Completion(failure=Failure("bad_body", f"{error}: {words}" if words else str(error)))


def _other_api(endpoint: WireFormat, reply: Any) -> str:
    """Return which model class understands a reply, if the reply is that of another API; else nothing."""
    if not isinstance(reply, dict):
        return ""
    found = {
        "OpenAIChatModel": isinstance(reply.get("choices"), list),
        "OpenAIResponsesModel": reply.get("object") == "response",
        "AnthropicModel": reply.get("type") == "message",
        "TritonModel": isinstance(reply.get("text_output"), str),
    }
    names = [name for name, matches in found.items() if matches and name not in endpoint.title]
    return f" of {endpoint.title}, but one that {names[0]} reads" if names else ""
