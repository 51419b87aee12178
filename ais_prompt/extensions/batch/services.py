"""The batch APIs of providers: submit, find again, look, fetch.

Sources: the API references of OpenAI ("Batch", "Files") and of Anthropic ("Message Batches").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, Protocol
from urllib.parse import urlencode

from msgspec import Struct, json
from msgspec.structs import replace

from ais_prompt.extensions.batch.ledger import Flight
from ais_prompt.models import Reply, Server, Transport, http_failure
from ais_prompt.types import Failure

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

TIMEOUT: Final = 900.0
"""Seconds of one exchange: a file has up to 256 MB."""
LARGEST: Final = 2**33
"""Most bytes of a file with answers."""
CLOCKS: Final = timedelta(minutes=2)
"""How much the clocks of two machines may differ."""
OURS: Final = "aisprompt"
"""The key of our name of a batch in its metadata."""
ENQUEUED_LIMIT: Final = "token_limit_exceeded"
"""OpenAI's code for a batch that has to wait until others are done: too many tokens are enqueued."""


class ServiceError(Exception):
    """A request to a service failed.

    Attributes:
        failure: why.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class BatchLook(Struct, frozen=True):
    """What a service says of a batch.

    Attributes:
        state: ``refused``: nothing of it was asked.
        done: requests that are done.
        why: in words, of a refusal.
        is_full: whether it was refused because too much is enqueued already.
    """

    state: Literal["open", "ended", "refused"]
    done: int = 0
    why: str = ""
    is_full: bool = False


class BatchService(Protocol):
    """The batch API of a provider. Every method raises `ServiceError`; kind ``http_404`` means that it is not there.

    Attributes:
        most_requests, most_bytes: the largest batch.
        path: of its batches, for messages.
    """

    most_requests: int
    most_bytes: int
    path: str

    async def probe(self) -> None:
        """Ask for the list of batches, which costs nothing: a server without batches is known before anything is."""

    async def submit(self, lines: Path, flight: Flight) -> str:
        """Submit a file of requests, one a line, and return the id of the batch."""

    async def find(self, flight: Flight) -> list[str]:
        """Return the ids of the batches that may be this one, in the order of likelihood."""

    async def look(self, batch_id: str) -> BatchLook:
        """Return how far a batch is."""

    async def fetch(self, batch_id: str, file: BinaryIO) -> None:
        """Write the answers of a batch that has ended, one a line, in any order."""

    async def close(self) -> None:
        """Close the connections."""


class OpenAIBatches:
    """Files and batches of OpenAI, and of servers that have them.

    Args:
        server: the server and its login.
        endpoint: path of the requests, such as ``chat/completions``.
    """

    most_requests = 50_000
    most_bytes = 200_000_000
    path = "batches"

    def __init__(self, server: Server, endpoint: str) -> None:
        import openai

        self._endpoint = f"/v1/{endpoint}"
        self._client = openai.AsyncOpenAI(
            base_url=server.base_url,
            api_key=server.key or "none",
            default_headers=dict(server.headers),
            max_retries=0,
            timeout=TIMEOUT,
        )

    async def probe(self) -> None:
        """As `BatchService.probe`."""
        with _errors():
            await self._client.batches.list(limit=1)

    async def submit(self, lines: Path, flight: Flight) -> str:
        """As `BatchService.submit`."""
        with _errors():
            uploaded = await self._client.files.create(file=lines, purpose="batch")
            batch = await self._client.batches.create(
                input_file_id=uploaded.id,
                endpoint=self._endpoint,  # type: ignore[arg-type]  # the package lists those of today
                completion_window="24h",
                metadata={OURS: flight.name},
            )
            return batch.id

    async def find(self, flight: Flight) -> list[str]:
        """As `BatchService.find`."""
        earliest = (flight.at - CLOCKS).timestamp()
        with _errors():
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get(OURS) == flight.name:
                    return [batch.id]
                if batch.created_at < earliest:  # newest first
                    break
        return []

    async def look(self, batch_id: str) -> BatchLook:
        """As `BatchService.look`."""
        with _errors():
            batch = await self._client.batches.retrieve(batch_id)
        counts = batch.request_counts
        done = counts.completed + counts.failed if counts else 0
        if batch.status == "failed":
            return _refused(batch)
        return BatchLook("ended" if batch.status in ("completed", "expired", "cancelled") else "open", done)

    async def fetch(self, batch_id: str, file: BinaryIO) -> None:
        """As `BatchService.fetch`."""
        with _errors():
            batch = await self._client.batches.retrieve(batch_id)
            for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
                async with self._client.files.with_streaming_response.content(file_id) as response:
                    last = b""
                    async for piece in response.iter_bytes():
                        file.write(piece)
                        last = piece or last
                    if last and not last.endswith(b"\n"):
                        file.write(b"\n")

    async def close(self) -> None:
        """As `BatchService.close`."""
        await self._client.close()


class AnthropicBatches:
    """Message Batches of Anthropic.

    They have no metadata. A batch that was submitted right before the end of a process is that of the same number of
    requests which was created next to its time; the ids in its answers say whether it is.

    Args:
        open_transport: opens a transport with a timeout and a limit of replies that fit.
    """

    most_requests = 100_000
    most_bytes = 256_000_000
    path = "messages/batches"

    def __init__(self, open_transport: Callable[[], Transport]) -> None:
        self._open_transport = open_transport
        self._transport = open_transport()

    async def probe(self) -> None:
        """As `BatchService.probe`."""
        await self._get(f"{self.path}?limit=1")

    async def submit(self, lines: Path, flight: Flight) -> str:  # noqa: ARG002
        """As `BatchService.submit`."""
        requests = lines.read_bytes().rstrip(b"\n").replace(b"\n", b",")  # JSON has no line feed inside a line
        fresh = self._open_transport()  # a request that breaks on a used connection would be sent again
        try:
            batch = _object(await fresh.send("POST", self.path, b'{"requests":[' + requests + b"]}", None))
        finally:
            await fresh.close()
        return str(batch["id"])

    async def find(self, flight: Flight) -> list[str]:
        """As `BatchService.find`."""
        found: list[tuple[timedelta, str]] = []
        query: dict[str, Any] = {"limit": 100}
        while True:
            page = await self._get(f"{self.path}?{urlencode(query)}")
            for batch in page["data"]:
                created = datetime.fromisoformat(batch["created_at"]).astimezone(UTC)
                if created < flight.at - CLOCKS:  # newest first
                    page["has_more"] = False
                elif sum(batch["request_counts"].values()) == len(flight.ids):
                    found.append((abs(created - flight.at), batch["id"]))
            if not page.get("has_more"):
                return [batch_id for _, batch_id in sorted(found)]
            query["after_id"] = page["last_id"]

    async def look(self, batch_id: str) -> BatchLook:
        """As `BatchService.look`."""
        batch = await self._get(f"{self.path}/{batch_id}")
        counts = batch.get("request_counts") or {}
        done = sum(count for name, count in counts.items() if name != "processing")
        return BatchLook("ended" if batch["processing_status"] == "ended" else "open", done)

    async def fetch(self, batch_id: str, file: BinaryIO) -> None:
        """As `BatchService.fetch`."""
        _checked(await self._transport.send("GET", f"{self.path}/{batch_id}/results", None, _writer(file)))

    async def close(self) -> None:
        """As `BatchService.close`."""
        await self._transport.close()

    async def _get(self, path: str) -> dict[str, Any]:
        return _object(await self._transport.send("GET", path, None, None))


def for_files(server: Server) -> Server:
    """Return the same server for long exchanges and large replies."""
    return replace(server, timeout=TIMEOUT, max_reply_bytes=LARGEST)


def _writer(file: BinaryIO) -> Any:
    return lambda piece: file.write(piece) and None


def _checked(reply: Reply | Failure) -> Reply:
    if isinstance(reply, Failure):
        raise ServiceError(reply)
    if not 200 <= reply.status < 300:
        raise ServiceError(http_failure(reply.status, reply.body))
    return reply


def _object(reply: Reply | Failure) -> dict[str, Any]:
    try:
        value = json.decode(_checked(reply).body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ServiceError(Failure("bad_body", "the reply about a batch is no JSON object"))
    return value


def _refused(batch: Batch) -> BatchLook:
    errors = (batch.errors.data if batch.errors else None) or []
    why = "; ".join(dict.fromkeys(error.message or error.code or "" for error in errors)) or "no reason given"
    return BatchLook("refused", why=why, is_full=any(error.code == ENQUEUED_LIMIT for error in errors))


@contextmanager
def _errors() -> Iterator[None]:
    """Raise what the package raises as a `ServiceError`."""
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise ServiceError(http_failure(error.status_code, _body_of(error))) from None
    except Exception as error:  # no connection, or a broken one; also errors of the HTTP client below the package
        raise ServiceError(Failure("connection", f"{type(error).__name__}: {error}")) from None


def _body_of(error: openai.APIStatusError) -> bytes:
    try:
        return error.response.content
    except Exception:  # the body of a streamed response was not read
        return str(error.message).encode()
