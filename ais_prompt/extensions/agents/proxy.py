"""The address that agents get in place of a model's: a server on 127.0.0.1 in the process of the run.

It speaks the three usual APIs, streams included, and knows an agent by the token of its sample. It passes on what a
request says, and opens no address and no file that a request names.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aiohttp import web
from msgspec.structs import replace

from ais_prompt.extensions.agents.heard import READERS, BadRequest, Heard
from ais_prompt.extensions.agents.sample_session import HOST, SAMPLE_HEADER, AgentEndpoint, AgentSession, SampleOver
from ais_prompt.models import (
    AsyncModel,
    SendsFields,
    WrittenReply,
    answer_body,
    approximate_tokens,
    chat_events,
    error_body,
    error_of_messages,
    message_body,
    message_events,
    response_body,
    response_events,
)
from ais_prompt.types import Completion, Failure

LARGEST: Final = 256 * 2**20
"""Bytes of a request."""
_PATHS: Final[Mapping[str, str]] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}
_CAN: Final = "this proxy answers POST " + ", POST ".join(_PATHS) + ", POST /v1/messages/count_tokens, GET /v1/models"
_NO_TOKEN: Final = "a request needs the token of its sample as its key; it is in OPENAI_API_KEY and ANTHROPIC_API_KEY"
_OVER: Final = "this key is the token of no sample that is under way: each sample has its own, which ends with it"
_NO_RETRY: Final = {"x-should-retry": "false"}
"""The engine has retried already; the clients of OpenAI and Anthropic keep to this header."""
_SOFT: Final = ("parallel_tool_calls", "reasoning_effort")
"""Options that a model without them is asked without."""


class Proxy:
    """Answers the requests of agents. It belongs to one event loop.

    Args:
        asked: the model behind it.
        name: of the model.
        port: 0 for any that is free.
    """

    def __init__(self, asked: AsyncModel, name: str, port: int = 0) -> None:
        self._asked = asked
        self._name = name
        self._port = port
        self._sessions: dict[str, AgentSession] = {}
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: the port is in use.
        """
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self._port, backlog=512).start()
        self._port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def enter(self, session: AgentSession) -> AgentEndpoint:
        """Let the agent of a sample ask from now on."""
        self._sessions[session.token] = session
        root = f"http://{HOST}:{self._port}"
        return AgentEndpoint(f"{root}/v1", root, session.token, self._name, session.sample_id)

    def leave(self, session: AgentSession) -> None:
        """Take no further request of a sample."""
        del self._sessions[session.token]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = "/" + request.match_info["path"].strip("/")
        path = path if path.startswith("/v1/") else f"/v1{path}"
        api = _PATHS.get(path.removesuffix("/count_tokens"), "")
        session = self._sessions.get(_token(request))
        if session is None:
            return _refused(api, 401, _OVER if _token(request) else _NO_TOKEN)
        if path == "/v1/models" and request.method == "GET":
            known = {"id": self._name, "object": "model", "created": 0, "owned_by": "aisprompt"}
            return web.json_response({"object": "list", "data": [known]})
        if not api or request.method != "POST" or (path.endswith("/count_tokens") and api != "messages"):
            return _refused(api, 404, f"there is no {request.method} {request.path}: {_CAN}")
        try:
            body = json.loads(await request.read())
            if not isinstance(body, dict):
                raise BadRequest("the body is no JSON object")
            heard = READERS[api](body)
            if path.endswith("/count_tokens"):
                return web.json_response({"input_tokens": approximate_tokens(heard.messages)})
            completion = await session.step(self._fitted(heard), api)
        except BadRequest as error:
            return _refused(api, 400, str(error))
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
            return _refused(api, 400, f"the body is no request of this API: {error!r:.200}")
        except web.HTTPRequestEntityTooLarge:
            return _refused(api, 413, f"the body has more than {LARGEST:,} bytes")
        except SampleOver as over:
            return _refused(api, 403, str(over))
        if completion.failure is not None:
            return _refused(api, _status(completion.failure), completion.failure.message, completion.failure.kind)
        return await _answer(request, body, api, heard, completion, session.steps)

    def _fitted(self, heard: Heard) -> Heard:
        """Return a request as far as the model takes it.

        Raises:
            BadRequest: the model has no tools, or none of the forms that are asked for.
        """
        fields = self._asked.sends_fields if isinstance(self._asked, SendsFields) else ()
        options = {
            name: value for name, value in heard.options.items() if name not in _SOFT or "response_format" in fields
        }
        if missing := [name for name in options if name not in (*fields, *_SOFT)]:
            raise BadRequest(f"{missing[0]}: the model behind this proxy, {self._name}, does not take it")
        return replace(heard, options=options)


def _token(request: web.Request) -> str:
    """Return the token of a request: in a header of its own, or as the key of a client."""
    key = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return request.headers.get(SAMPLE_HEADER) or request.headers.get("x-api-key") or key


def _status(failure: Failure) -> int:
    """Return the HTTP status for a failure of the model."""
    code = failure.kind.removeprefix("http_")
    if code.isdigit() and 400 <= int(code) < 600:
        return int(code)
    return {"too_long": 400, "content_filter": 400, "timeout": 504}.get(failure.kind, 502)


def _refused(api: str, status: int, message: str, kind: str = "invalid_request_error") -> web.Response:
    body = error_of_messages(message, kind) if api == "messages" else error_body(message, kind)
    return web.json_response(body, status=status, headers=_NO_RETRY)


async def _answer(
    request: web.Request, body: Mapping[str, Any], api: str, heard: Heard, completion: Completion, number: int
) -> web.StreamResponse:
    whole = _whole(body, api, heard, completion, number)
    if not heard.stream:
        return web.json_response(whole)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    await response.write("".join(_events(body, api, whole)).encode())
    await response.write_eof()
    return response


def _whole(body: Mapping[str, Any], api: str, heard: Heard, completion: Completion, number: int) -> dict[str, Any]:
    """Return the reply in the form of an API."""
    calls = [
        {"id": name, "name": call.name, "arguments": call.arguments}
        for name, call in zip(heard.call_ids(), completion.tool_calls, strict=False)
    ]
    reason = completion.finish_reason if completion.finish_reason in ("stop", "length", "tool_calls") else "stop"
    reply = WrittenReply(completion.text, reason, completion.reasoning, calls)
    sent, received = completion.usage.prompt_tokens or 0, completion.usage.completion_tokens or 0
    thoughts, cached = completion.usage.reasoning_tokens or 0, completion.usage.cached_tokens or 0
    if api == "messages":
        found = message_body({**body, "messages": [], "system": ""}, number, reply)
        usage = {"input_tokens": sent - cached, "cache_read_input_tokens": cached, "output_tokens": received}
        return {**found, "usage": {**found["usage"], **usage}}
    if api == "responses":
        found = response_body({**body, "input": ""}, number, reply)
        counts = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
        details = {
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens_details": {"reasoning_tokens": thoughts},
        }
        return {**found, "created_at": int(time.time()), "usage": {**counts, **details}}
    found = answer_body({**body, "messages": []}, number, reply)
    counts = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    return {**found, "id": f"chatcmpl-{number}", "created": int(time.time()), "usage": counts}


def _events(body: Mapping[str, Any], api: str, whole: dict[str, Any]) -> Iterator[str]:
    """Yield the events of a stream; Anthropic's clients want their names too."""
    if api == "chat":
        yield from (f"data: {event}\n\n" for event in chat_events(body, whole))
        return
    for event in message_events(whole) if api == "messages" else response_events(whole):
        yield f"event: {json.loads(event)['type']}\ndata: {event}\n\n"
