"""The batch APIs of the mock server: files and batches of OpenAI, Message Batches of Anthropic, in every odd state.

POST /v1/files, GET /v1/files/{id}/content    as OpenAI has them
POST, GET /v1/batches, GET /v1/batches/{id}    the same
POST, GET /v1/messages/batches, GET /v1/messages/batches/{id}, /v1/messages/batches/{id}/results    as Anthropic
PUT  /mock/batches    what happens to the next batches, a list of `Fate`; all that was before is forgotten
GET  /mock/batches    how many were created, and the ids of all answers, which a provider would be paid for
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from aiohttp import web

from ais_prompt.models import error_body, error_of_messages

Answer: TypeAlias = Callable[[str, Mapping[str, Any]], tuple[int, Any]]
"""(path, body of a request) → status and body of the reply."""
_ANTHROPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def add_routes(app: web.Application, answer: Answer) -> None:
    """Add the batch APIs to the mock server.

    Args:
        app: the server.
        answer: answers a request as the server does.
    """
    BatchDesk(answer).routes(app)


@dataclass(slots=True)
class Fate:
    """What happens to one batch.

    Attributes:
        looks: it has ended at this look; None for never.
        expire, cancel, lose: so many of its last requests expire, are cancelled, or have no line in the answers.
        reverse: its answers are in the reverse order.
        twice: each answer is there twice.
        strangers: further answers, to requests that are not in it.
        vanish: it is created, and not there at the first look.
        refuse, code: it fails validation, with this message and code.
        status: the server refuses to create it, with this HTTP status; nothing is created.
        drop: it is created, and the connection breaks before the reply.
    """

    looks: int | None = 1
    expire: int = 0
    cancel: int = 0
    lose: int = 0
    reverse: bool = False
    twice: bool = False
    strangers: int = 0
    vanish: bool = False
    refuse: str = ""
    code: str = ""
    status: int = 0
    drop: bool = False


@dataclass(slots=True)
class MockBatch:
    """One batch: its requests as the client wrote them, and what came of them."""

    id: str
    fate: Fate
    requests: Sequence[Mapping[str, Any]]
    endpoint: str
    metadata: Mapping[str, str] | None
    created: float
    looked: int = 0
    answers: list[Any] = field(default_factory=list)
    errors: list[Any] = field(default_factory=list)
    ended: bool = False


class BatchDesk:
    """The handlers, and all files and batches.

    Args:
        answer: answers a request as the server does.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._forget([])

    def routes(self, app: web.Application) -> None:
        """Add the handlers."""
        app.router.add_post("/v1/files", self.upload)
        app.router.add_get("/v1/files/{id}/content", self.content)
        app.router.add_post("/v1/batches", self.create)
        app.router.add_get("/v1/batches", self.listed)
        app.router.add_get("/v1/batches/{id}", self.retrieve)
        app.router.add_post("/v1/messages/batches", self.create_messages)
        app.router.add_get("/v1/messages/batches", self.listed_messages)
        app.router.add_get("/v1/messages/batches/{id}", self.retrieve_messages)
        app.router.add_get("/v1/messages/batches/{id}/results", self.results)
        app.router.add_put("/mock/batches", self.plan)
        app.router.add_get("/mock/batches", self.stats)

    async def plan(self, request: web.Request) -> web.Response:
        """Take the fates of the next batches."""
        self._forget(await request.json())
        return web.json_response({})

    async def stats(self, _request: web.Request) -> web.Response:
        """Return the counts."""
        sizes = [len(one.requests) for one in self._batches.values()]
        return web.json_response({"created": len(sizes), "sizes": sizes, "paid": self._paid})

    # OpenAI

    async def upload(self, request: web.Request) -> web.Response:
        """Keep a file of requests."""
        form = await request.post()
        file = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(file, web.FileField):
            return web.json_response(error_body("a file and purpose=batch are needed", "invalid"), status=400)
        file_id = f"file-{len(self._files) + 1}"
        self._files[file_id] = file.file.read()
        size = len(self._files[file_id])
        named = {"id": file_id, "object": "file", "bytes": size, "created_at": 0, "filename": "requests.jsonl"}
        return web.json_response({**named, "purpose": "batch", "status": "processed"})

    async def content(self, request: web.Request) -> web.Response:
        """Return a file."""
        content = self._files.get(request.match_info["id"])
        return _missing() if content is None else web.Response(body=content)

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create a batch of a file."""
        asked = await request.json()
        if (content := self._files.get(asked.get("input_file_id"))) is None:
            return _missing()
        requests = [json.loads(line) for line in content.splitlines()]
        found = self._created(requests, asked["endpoint"], asked.get("metadata"))
        if isinstance(found, int):
            return web.json_response(error_body("no batches today", "server_error"), status=found)
        ids = [one["custom_id"] for one in requests]
        if len({*ids}) < len(ids) or any(one["url"] != asked["endpoint"] for one in requests):
            found.fate.refuse = found.fate.refuse or "a custom_id is there twice, or a url is not the endpoint"
        return await _reply(request, found, self._openai(found))

    async def listed(self, request: web.Request) -> web.Response:
        """List the batches, newest first."""
        page, more = self._page(request, "after")
        return _list([self._openai(one) for one in page], more, object="list")

    async def retrieve(self, request: web.Request) -> web.Response:
        """Return a batch, which goes on with every look."""
        batch = self._looked(request)
        return _missing() if batch is None else web.json_response(self._openai(batch))

    # Anthropic

    async def create_messages(self, request: web.Request) -> web.StreamResponse:
        """Create a batch of the requests in the body."""
        asked = await request.json()
        ids = [one["custom_id"] for one in asked["requests"]]
        if "metadata" in asked or len({*ids}) < len(ids) or not all(map(_ANTHROPIC_ID.fullmatch, ids)):
            return web.json_response(error_of_messages("requests: a custom_id is wrong"), status=400)
        found = self._created(asked["requests"], "/v1/messages", None)
        if isinstance(found, int):
            return web.json_response(error_of_messages("no batches today"), status=found)
        return await _reply(request, found, self._anthropic(request, found))

    async def listed_messages(self, request: web.Request) -> web.Response:
        """List the batches, newest first."""
        page, more = self._page(request, "after_id")
        return _list([self._anthropic(request, one) for one in page], more)

    async def retrieve_messages(self, request: web.Request) -> web.Response:
        """Return a batch, which goes on with every look."""
        batch = self._looked(request)
        if batch is None:
            return web.json_response(error_of_messages("no such batch"), status=404)
        return web.json_response(self._anthropic(request, batch))

    async def results(self, request: web.Request) -> web.Response:
        """Return the answers of a batch that has ended."""
        batch = self._batches.get(request.match_info["id"])
        if batch is None or not batch.ended:
            return web.json_response(error_of_messages("no results"), status=404)
        lines = [*batch.answers, *batch.errors]
        return web.Response(text=_lines(lines[::-1] if batch.fate.reverse else lines))

    # both

    def _forget(self, fates: Sequence[Mapping[str, Any]]) -> None:
        self._fates = [Fate(**one) for one in fates]
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, MockBatch] = {}
        self._paid: list[str] = []

    def _created(
        self, requests: Sequence[Mapping[str, Any]], endpoint: str, metadata: Mapping[str, str] | None
    ) -> MockBatch | int:
        fate = self._fates.pop(0) if self._fates else Fate()
        if fate.status:
            return fate.status
        name = f"{'msgbatch' if endpoint.endswith('messages') else 'batch'}_{len(self._batches) + 1}"
        batch = MockBatch(name, fate, requests, endpoint, metadata, datetime.now(UTC).timestamp())
        self._batches[name] = batch
        return batch

    def _page(self, request: web.Request, after: str) -> tuple[list[MockBatch], bool]:
        newest = [one for one in reversed(self._batches.values()) if not (one.fate.vanish and one.looked)]
        if after in request.query:
            newest = list(itertools.dropwhile(lambda one: one.id != request.query[after], newest))[1:]
        limit = int(request.query.get("limit", 20))
        return newest[:limit], len(newest) > limit

    def _looked(self, request: web.Request) -> MockBatch | None:
        batch = self._batches.get(request.match_info["id"])
        if batch is None:
            return None
        batch.looked += 1
        if batch.fate.vanish:
            return None
        looks = None if batch.fate.refuse else batch.fate.looks
        if not batch.ended and looks is not None and batch.looked >= looks:
            self._end(batch)
        return batch

    def _end(self, batch: MockBatch) -> None:
        batch.ended = True
        fate, count = batch.fate, len(batch.requests)
        states = ["answered"] * (count - fate.expire - fate.cancel - fate.lose)
        states += ["expired"] * fate.expire + ["cancelled"] * fate.cancel + ["lost"] * fate.lose
        write = _message_line if batch.endpoint.endswith("messages") else _openai_line
        for one, state in zip(batch.requests, states[:count], strict=True):
            if state == "lost":
                continue
            status, body = 0, None
            if state == "answered":
                status, body = self._answer(batch.endpoint, one.get("body") or one["params"])
                self._paid += [one["custom_id"]] * (status == 200)
            line = write(one["custom_id"], state, status, body)
            (batch.answers if status == 200 else batch.errors).append(line)
        strangers = [{**line, "custom_id": f"stranger-{n}"} for n, line in enumerate(batch.answers[: fate.strangers])]
        batch.answers = [*strangers, *batch.answers, *(batch.answers if fate.twice else ())]
        if fate.reverse:
            batch.answers.reverse()

    def _openai(self, batch: MockBatch) -> dict[str, Any]:
        fate = batch.fate
        status = "failed" if fate.refuse else "in_progress"
        files: dict[str, str | None] = {"output_file_id": None, "error_file_id": None}
        if batch.ended:
            status = "expired" if fate.expire else "cancelled" if fate.cancel else "completed"
            for name, lines in (("output_file_id", batch.answers), ("error_file_id", batch.errors)):
                if lines:
                    files[name] = f"{batch.id}-{name}"
                    self._files[f"{batch.id}-{name}"] = _lines(lines).encode()
        error = {"code": fate.code or "invalid", "message": fate.refuse, "param": None, "line": None}
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "input_file_id": "file",
            "completion_window": "24h",
            "status": status,
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "request_counts": {
                "total": len(batch.requests),
                "completed": len(batch.answers),
                "failed": len(batch.errors),
            },
            "errors": {"object": "list", "data": [error]} if fate.refuse else None,
            **files,
        }

    def _anthropic(self, request: web.Request, batch: MockBatch) -> dict[str, Any]:
        open_requests = 0 if batch.ended else len(batch.requests)
        results = f"{request.url.origin()}/v1/messages/batches/{batch.id}/results"
        counts = dict.fromkeys(("errored", "canceled", "expired"), 0)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.ended else "in_progress",
            "request_counts": {
                "processing": open_requests,
                "succeeded": len(batch.requests) - open_requests,
                **counts,
            },
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z"),
            "results_url": results if batch.ended else None,
        }


def _openai_line(custom_id: str, state: str, status: int, body: Any) -> dict[str, Any]:
    if status:
        response = {"status_code": status, "request_id": "r", "body": body}
        return {"id": "l", "custom_id": custom_id, "response": response, "error": None}
    error = {"code": f"batch_{state}", "message": f"This request was {state}."}
    return {"id": "l", "custom_id": custom_id, "response": None, "error": error}


def _message_line(custom_id: str, state: str, status: int, body: Any) -> dict[str, Any]:
    if status == 200:
        result = {"type": "succeeded", "message": body}
    elif status:
        result = {"type": "errored", "error": body}
    else:
        result = {"type": {"cancelled": "canceled"}.get(state, state)}
    return {"custom_id": custom_id, "result": result}


def _lines(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _list(data: Sequence[Mapping[str, Any]], more: bool, **fields: str) -> web.Response:
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return web.json_response({**fields, "data": data, "has_more": more, **ends})


def _missing() -> web.Response:
    return web.json_response(error_body("no such object", "invalid_request_error"), status=404)


async def _reply(request: web.Request, batch: MockBatch, body: Any) -> web.StreamResponse:
    if batch.fate.drop and request.transport is not None:
        request.transport.close()
    return web.json_response(body)
