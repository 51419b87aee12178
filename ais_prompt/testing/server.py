"""An OpenAI-compatible server on 127.0.0.1 that adds numbers up, and misbehaves as its script tells it to.

Started with ``python -m ais_prompt.testing.server``; the first line that it prints is its base URL,
``http://127.0.0.1:PORT/v1``.

    POST /v1/chat/completions, /v1/completions    answered as `script.py` and `apis.py` say
    POST /v1/responses, /v1/messages    the same in the forms of `ais_prompt.testing.apis`
    POST /v2/models/{name}/generate    the same as Triton has it
    POST /openai/deployments/{name}/chat/completions, /completions    the same as Azure has it, see `_azure_fault`
    POST /openai/responses    the same
    GET  /v1/models
    GET  /health    200, as soon as it serves
    GET  /stats     how many requests there were, how many at the same time, and with which status they were answered
    GET  /requests  every request so far: path, body, and whether it had a key (never the key)
    PUT  /script    a new script; counting starts again

Extensions add further routes in the step ``mock_routes``.

Log-probabilities (``echo`` and ``logprobs`` of completions, ``prompt_logprobs`` of vLLM) are those of
`ais_prompt.testing.scoring`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from aiohttp import web

from ais_prompt.models import (
    WrittenReply,
    answer_body,
    chat_events,
    error_body,
    error_of_messages,
    message_body,
    message_events,
    response_body,
    response_events,
)
from ais_prompt.steps import steps
from ais_prompt.testing.apis import (
    chat_logprobs,
    default_answer,
    generate_body,
    message_fault,
    models_body,
    question_of,
    response_fault,
)
from ais_prompt.testing.scoring import FolderModel, LanguageModel, LetterModel, asks_for_log_probs, scored_answer
from ais_prompt.testing.script import ReplyRule, Script

HOST = "127.0.0.1"


@dataclass(slots=True)
class Book:
    """The requests since the last script."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0

    @contextmanager
    def flight(self) -> Iterator[None]:
        """Count a request as long as it is in flight."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1


class MockServer:
    """The handlers and their state.

    Args:
        rules: the script as plain JSON values.
        latency: seconds until a reply, where the script does not say.
        log: every request is written here too, one JSON object a line.
        crash_after: requests that are answered before the process ends in the middle of the next one; None for none.
        scores: where log-probabilities come from.
    """

    def __init__(
        self,
        rules: Sequence[dict[str, Any]] = (),
        latency: float = 0.0,
        log: IO[str] | None = None,
        crash_after: int | None = None,
        scores: LanguageModel | None = None,
    ) -> None:
        self._scores = scores or LetterModel()
        self._latency = latency
        self._log = log
        self._crash_after = crash_after
        self._script = Script(rules)
        self._book = Book()
        self._elsewhere = 0

    def app(self) -> web.Application:
        """The application to be served."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_post("/v1/completions", self.complete)
        app.router.add_post("/v1/responses", self.complete)
        app.router.add_post("/v1/messages", self.complete)
        app.router.add_post("/v2/models/{model}/generate", self.complete)
        app.router.add_post("/openai/responses", self.complete_azure)
        app.router.add_post("/openai/deployments/{deployment}/chat/completions", self.complete_azure)
        app.router.add_post("/openai/deployments/{deployment}/completions", self.complete_azure)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/health", self.health)
        app.router.add_get("/stats", self.stats)
        app.router.add_get("/requests", self.requests)
        app.router.add_put("/script", self.script)
        for add_routes in steps("mock_routes"):
            add_routes(app, self._answer_elsewhere)
        return app

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Answer one question, or misbehave as the script says."""
        with self._book.flight():
            return await self._complete(request, self._script, self._book)

    async def complete_azure(self, request: web.Request) -> web.StreamResponse:
        """Answer one question as Azure does."""
        return _azure_fault(request) or await self.complete(request)

    async def models(self, _request: web.Request) -> web.Response:
        """The list of models."""
        return web.json_response(models_body())

    async def health(self, _request: web.Request) -> web.Response:
        """Say that it is ready."""
        return web.Response()

    async def stats(self, _request: web.Request) -> web.Response:
        """The counts."""
        return web.json_response(
            {
                "requests": len(self._book.requests),
                "most_in_flight": self._book.most_in_flight,
                "statuses": self._book.statuses,
            }
        )

    async def requests(self, _request: web.Request) -> web.Response:
        """Return the question of a request."""
        return web.json_response(self._book.requests)

    async def script(self, request: web.Request) -> web.Response:
        """Take a new script."""
        self._script, self._book = Script(await request.json()), Book()
        return web.json_response({})

    async def _complete(self, request: web.Request, script: Script, book: Book) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
            question = question_of(body)
        except (ValueError, KeyError, TypeError) as error:
            return web.json_response(error_body(f"bad request: {error!r}", "invalid_request_error"), status=400)
        if request.path.endswith("/messages") and (fault := message_fault(request.headers, body)):
            return web.json_response(error_of_messages(fault), status=400)
        if request.path.endswith("/responses") and (fault := response_fault(body)):
            return web.json_response(error_body(fault, "invalid_request_error"), status=400)
        number = self._remember(request, body, book)
        if self._crash_after is not None and number > self._crash_after:
            print(f"request {number} is too much", file=sys.stderr, flush=True)
            os._exit(1)
        rule = script.rule_for(number, question, body)
        await asyncio.sleep(self._latency if rule.latency is None else rule.latency)
        streams = body.get("stream") and rule.status == 200 and rule.raw is None and rule.body is None
        if rule.drop and not (streams and rule.drop == "midway"):
            book.statuses["dropped"] += 1
            return await _drop(request, midway=rule.drop == "midway")
        book.statuses[str(rule.status)] += 1
        if streams:
            return await _stream(request, body, rule, self._answer(request.path, rule, body, number))
        return _reply(request, rule, self._answer(request.path, rule, body, number))

    def _answer_elsewhere(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Answer a request of a route that an extension brings, as the script says: status and body of the reply."""
        self._elsewhere += 1
        rule = self._script.rule_for(self._elsewhere, question_of(body), body)
        answer = self._answer(path, rule, body, self._elsewhere)
        return rule.status, answer if rule.body is None else rule.body

    def _answer(self, path: str, rule: ReplyRule, asked: Mapping[str, Any], number: int) -> dict[str, Any]:
        body = rule.heard(asked)
        words = "" if rule.tool_calls else default_answer(question_of(asked))
        text = words if rule.answer is None else rule.answer
        forms = {"responses": response_body, "messages": message_body, "generate": generate_body}
        write = forms.get(path.rpartition("/")[2], answer_body)
        answer = write(body, number, WrittenReply(text, rule.finish_reason, rule.reasoning, rule.tool_calls))
        if body.get("top_logprobs") and rule.alternatives:
            answer["choices"][0]["logprobs"] = chat_logprobs(text, rule.alternatives)
        return scored_answer(answer, body, self._scores) if asks_for_log_probs(body) else answer

    def _remember(self, request: web.Request, body: Any, book: Book) -> int:
        """Write a request down, without its key; its number."""
        number = len(book.requests) + 1
        entry = {
            "number": number,
            "path": request.path_qs,
            "authorization": "Authorization" in request.headers or "x-api-key" in request.headers,
            "headers": sorted(request.headers),
            "body": body,
        }
        book.requests.append(entry)
        if self._log:
            self._log.write(json.dumps(entry, ensure_ascii=True) + "\n")
            self._log.flush()
        return number


def _azure_fault(request: web.Request) -> web.Response | None:
    """Return Azure's error for a request without a version of its interface, or without a key or a token."""
    if not request.query.get("api-version"):
        return web.json_response(error_body("Resource not found", "404"), status=404)
    token = request.headers.get("Authorization", "").startswith("Bearer ")
    if token is bool(request.headers.get("api-key")):  # neither of them, or both
        return web.json_response(error_body("Access denied due to invalid subscription key", "401"), status=401)
    return None


def _reply(request: web.Request, rule: ReplyRule, answer: dict[str, Any]) -> web.Response:
    if rule.raw is not None:
        text = rule.raw
    elif rule.body is not None:
        text = json.dumps(rule.body)
    else:
        text = json.dumps(answer)
    headers = (f"{name}: {value}" for name, value in request.headers.items())
    told = "\n".join([f"{request.method} {request.url}", *headers])
    key = request.headers.get("Authorization", request.headers.get("x-api-key", ""))
    text = text.replace("{authorization}", key)
    text = text.replace("{request}", json.dumps(told)[1:-1])
    return web.Response(text=text, status=rule.status, headers=rule.headers, content_type="application/json")


async def _stream(
    request: web.Request, body: Mapping[str, Any], rule: ReplyRule, answer: dict[str, Any]
) -> web.StreamResponse:
    """Send an answer word by word; after ``rule.pieces`` events it stalls for ``rule.stall`` seconds and breaks off."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **rule.headers})
    await response.prepare(request)
    if rule.events is not None:
        events = rule.events
    elif request.path.endswith("/responses"):
        events = [*response_events(answer)]
    else:
        events = [*(message_events(answer) if request.path.endswith("/messages") else chat_events(body, answer))]
    for event in events[: rule.pieces]:
        await response.write(f"data: {event}\n\n".encode())
        await asyncio.sleep(rule.pause)
    if rule.pieces is not None:
        await asyncio.sleep(rule.stall)
    if rule.drop == "midway" and request.transport is not None:
        request.transport.close()
    return response


async def _drop(request: web.Request, *, midway: bool) -> web.StreamResponse:
    """Cut the connection."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    if midway:
        await response.prepare(request)
        await response.write(b'{"choices": [{"message": {"content": "the answer is')
    if request.transport is not None:
        request.transport.close()
    return response


async def serve(server: MockServer, port: int, lifetime: float) -> None:
    """Serve until SIGTERM or SIGINT, or until ``lifetime`` seconds are over; the base URL is printed first."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    runner = web.AppRunner(server.app(), access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        print(f"http://{HOST}:{runner.addresses[0][1]}/v1", flush=True)
        async with asyncio.timeout(lifetime):
            await stop.wait()
    except TimeoutError:
        pass
    finally:
        await runner.cleanup()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m ais_prompt.testing.server", description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds until a reply")
    parser.add_argument("--script", type=Path, help="JSON file with rules, see ais_prompt/testing/script.py")
    parser.add_argument("--log", type=Path, help="JSONL file to which every request is appended")
    parser.add_argument(
        "--model", type=Path, help="folder of a model in Hugging Face form that log-probabilities are of"
    )
    parser.add_argument("--crash-after", type=int, help="so many requests are answered, then the process ends")
    parser.add_argument("--lifetime", type=float, default=3600.0, help="seconds after which it ends by itself")
    options = parser.parse_args()
    rules = json.loads(options.script.read_text("utf-8")) if options.script else ()
    log = options.log.open("a", encoding="utf-8") if options.log else None
    try:
        scores = FolderModel(options.model) if options.model else None
        server = MockServer(rules, options.latency, log, options.crash_after, scores)
        asyncio.run(serve(server, options.port, options.lifetime))
    finally:
        if log:
            log.close()


if __name__ == "__main__":
    main()
