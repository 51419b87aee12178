"""Gather the requests of a model into batches, and answer each when its batch has ended.

A request passes through these states:

    gathered     no further request has come for `BatchSpec.gather` seconds, or the batch is full: it is submitted
    in flight    its batch is looked at, with growing pauses, until it has ended
    answered     a line of the answers has its id
    open         it expired, was cancelled, failed for a moment, or no line has its id: gathered again or asked directly

`Ledger` has every step on the disk, so that a later session takes up what is in flight: a request whose id is in a
batch under way waits for it, and one whose answer is fetched already has it at once.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ModelError
from ais_prompt.extensions.batch.batch_lines import NO_ANSWER
from ais_prompt.extensions.batch.ledger import Flight, Ledger, batches
from ais_prompt.extensions.batch.options import BatchSpec
from ais_prompt.extensions.batch.services import BatchService, ServiceError
from ais_prompt.models import OUTAGE_LIMIT_SECONDS, is_temporary
from ais_prompt.processes import in_thread
from ais_prompt.types import BATCH_TIER, Activity, Completion, Failure, Request
from ais_prompt.utils import counted, read_objects

logger = logging.getLogger(__name__)
T = TypeVar("T")

GO_ON: Final = "batches that are in flight are kept; go on with -r"
_GONE: Final = ("http_404", "http_410")
_UNKNOWN: Final = ("connection", "timeout")
"""Failures after which a request may have been carried out."""
FIRST_RETRIES: Final = 3
"""Retries before a server has answered for the first time."""
LONGEST_PAUSE: Final = 60.0
"""Longest pause in seconds before a failed exchange is tried again."""
SETTLED_SECONDS: float = 20.0
"""Seconds after which a batch is in the list of the provider, if it was submitted at all."""


class Asked(Struct, eq=False):
    """A request without an answer.

    Attributes:
        request: the request.
        answer: the completion, or the error that ends the task.
        waiting: conversations that wait for it; equal requests of two tasks share an answer.
        rounds: batches that it went into.
    """

    request: Request
    answer: asyncio.Future[Completion]
    waiting: int = 0
    rounds: int = 0


class ServedInBatches(Struct, frozen=True, eq=False):
    """The model, as far as batches need it.

    Attributes:
        id_of: request → its ``custom_id``.
        line_of: request → its line in a batch; raises `AisPromptError` if it cannot be sent.
        read: (line of an answer, request) → the completion.
        directly: asks one request by itself, at the full price.
        first_wait: seconds until a failed exchange with the service is tried again; it doubles.
        where: the server, for messages.
    """

    id_of: Callable[[Request], str]
    line_of: Callable[[Request], bytes]
    read: Callable[[Mapping[str, Any], Request], Completion]
    directly: Callable[[Request], Awaitable[Completion]]
    first_wait: float
    where: str


class BatchGatherer:
    """Asks one model in batches. It belongs to the event loop in which it is made.

    Args:
        model: the model.
        spec: when batches are sent, and looked at.
        service: the batch API of its provider.
        ledger: of the model in this run.
    """

    def __init__(self, model: ServedInBatches, spec: BatchSpec, service: BatchService, ledger: Ledger) -> None:
        self._model = model
        self._spec = spec
        self._service = service
        self._ledger = ledger
        self.most_requests = min(spec.max_requests or service.most_requests, service.most_requests)
        self._most_bytes = min(spec.max_bytes or service.most_bytes, service.most_bytes)
        self._asked: dict[str, Asked] = {}
        self._gathered: dict[str, None] = {}
        self._in_flight: dict[str, Flight] = {}  # id of a request → its batch
        self._followed: dict[str, float] = {}  # name of a batch → when it is looked at next
        self._kept: dict[str, Flight] = {}  # id of a request → the batch of an earlier session that has its answer
        self._dropped: set[str] = set()  # ids of requests that no conversation waits for any more, answered or not
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._clock = self._loop.time  # `activity` is called by other threads
        self._last_request = 0.0
        self._has_answered = False

    async def open(self) -> None:
        """Take up the batches of earlier sessions, and see whether the server has batches at all.

        Raises:
            ModelError: it has none, or cannot be reached.
        """
        await self._exchange(self._service.probe, "list the batches")
        for flight in self._ledger.under_way:
            if flight.state == "prepared":
                await self._find(flight)
            if flight.state == "fetched" and not self._ledger.answers_file(flight).exists():
                self._ledger.submitted(flight, flight.id)
            if flight.state == "fetched":
                self._kept |= dict.fromkeys(flight.ids, flight)
            elif flight.state == "submitted":
                self._in_flight |= dict.fromkeys(flight.ids, flight)
                logger.info("batch %s with %s is in flight", flight.id, counted(len(flight.ids), "request"))

    async def ask(self, request: Request) -> Completion:
        """Return the answer to a request, when its batch has ended.

        Raises:
            ModelError: the service refuses the batch, or cannot be reached any more.
            PromptError, DataError: the request cannot be sent.
        """
        key = self._model.id_of(request)
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = Asked(request, self._loop.create_future())
            self._begin(key)
        asked.waiting += 1
        try:
            return await asyncio.shield(asked.answer)
        except asyncio.CancelledError as cancelled:
            self._dropped.add(key)
            cancelled.args = (0,)  # a later session counts it, when its answer comes
            raise
        finally:
            asked.waiting -= 1
            if not asked.waiting:
                self._asked.pop(key, None)
                self._gathered.pop(key, None)
                asked.answer.cancel()

    def activity(self) -> Activity:
        """Return how many requests wait, and when their batch is looked at next."""
        seconds = max(0.0, min(self._followed.values(), default=0.0) - self._clock()) if self._followed else 0.0
        return Activity(0, len(self._asked), "batch", seconds) if self._asked else Activity()

    async def close(self) -> None:
        """Stop looking; batches go on at the provider. Forget the answers that are in the journals."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._retire()
        await self._service.close()

    # gathered

    def _begin(self, key: str) -> None:
        if (kept := self._kept.get(key)) is not None:
            # All that an earlier session fetched is answered, as soon as the first of it is asked.
            if kept.name not in self._followed:
                self._followed[kept.name] = self._clock()
                self._start(self._take_kept(kept), {})
        elif (flight := self._in_flight.get(key)) is not None:
            self._follow(flight)
        else:
            self._gather(key)

    def _gather(self, key: str) -> None:
        self._gathered[key] = None
        self._last_request = self._clock()
        if len(self._gathered) >= self.most_requests:
            self._submit()
        elif self._timer is None:
            self._timer = self._loop.call_later(self._spec.gather, self._submit_if_idle)

    def _submit_if_idle(self) -> None:
        self._timer = None
        left = self._last_request + self._spec.gather - self._clock()
        if left > 0:
            self._timer = self._loop.call_later(left, self._submit_if_idle)
        elif self._gathered:
            self._submit()

    def _submit(self) -> None:
        asked = {key: self._asked[key] for key in self._gathered}
        self._gathered = {}
        self._start(self._submit_all(asked), asked)

    # submitted: in files of the size that the provider takes

    async def _submit_all(self, asked: Mapping[str, Asked]) -> None:
        with tempfile.TemporaryDirectory(prefix="aisprompt-") as folder:  # the lines may hold secrets
            files = await in_thread(partial(self._write, asked, Path(folder)))
            for path, keys in files:
                flight = self._ledger.prepare(keys)
                for key in keys:
                    if key in self._asked:
                        self._asked[key].rounds += 1
                    self._in_flight[key] = flight
                try:
                    batch_id = await self._submitted(path, flight)
                except ServiceError as error:
                    self._ledger.over(flight, f"not submitted: {error}")
                    self._forget(flight, keys)
                    self._refuse(keys, error.failure)
                    continue
                path.unlink()
                self._ledger.submitted(flight, batch_id)
                logger.info("batch %s is submitted: %s", batch_id, counted(len(keys), "request"))
                self._follow(flight)

    def _write(self, asked: Mapping[str, Asked], folder: Path) -> list[tuple[Path, list[str]]]:
        """Write the lines into as few files as the limits allow. A request that cannot be sent fails by itself."""
        files: list[tuple[Path, list[str]]] = []
        stream: BinaryIO | None = None
        size = 0
        for key, one in asked.items():
            try:
                line = self._model.line_of(one.request)
            except AisPromptError as error:
                self._loop.call_soon_threadsafe(_fail, one, error)
                continue
            if stream is None or len(files[-1][1]) >= self.most_requests or size + len(line) > self._most_bytes:
                if stream is not None:
                    stream.close()
                files.append((folder / f"{len(files)}.jsonl", []))
                stream, size = files[-1][0].open("wb"), 0
            stream.write(line)
            size += len(line)
            files[-1][1].append(key)
        if stream is not None:
            stream.close()
        return files

    async def _submitted(self, path: Path, flight: Flight) -> str:
        """Submit a file, and return the id of the batch. Before a second attempt the first is looked for."""

        is_unknown = False

        async def submit(attempt: int) -> str:
            nonlocal is_unknown
            if attempt and (found := await self._found(flight, is_unknown=is_unknown)):
                return found
            try:
                return await self._service.submit(path, flight)
            except ServiceError as error:
                is_unknown = error.failure.kind in _UNKNOWN
                raise

        return await self._patiently(submit, "submit a batch")

    def _refuse(self, keys: Sequence[str], failure: Failure) -> None:
        """Answer requests whose batch the service does not take: a used-up quota pauses the run, all else ends it."""
        error = self._error("the batch was refused", failure)
        for key in keys:
            if (one := self._asked.get(key)) is not None and failure.kind == "quota":
                self._resolve(key, Completion(failure=failure))
            elif one is not None:
                _fail(one, error)

    async def _find(self, flight: Flight) -> None:
        """Find a batch that was about to be submitted when an earlier session ended."""
        try:
            found = await self._exchange(partial(self._found, flight, is_unknown=True), "list the batches")
        except ModelError as error:
            raise ModelError(
                f"it is not known whether the batch {flight.name} was submitted: {error.what}",
                where=str(self._ledger.path),
                fix="try again later, or remove this file to ask its requests anew",
            ) from None
        if found:
            self._ledger.submitted(flight, found)
            logger.warning("the batch %s was submitted right before the last session ended, and is taken up", found)
        else:
            self._ledger.over(flight, "never submitted")

    async def _found(self, flight: Flight, *, is_unknown: bool) -> str:
        """Return the id of a batch that the provider has, and we do not know yet; empty if there is none.

        Args:
            flight: the batch.
            is_unknown: whether no reply came to its submission, which may still be carried out for a moment.
        """
        known = {other.id for other in self._ledger.flights.values()}
        while True:
            found = next((one for one in await self._service.find(flight) if one not in known), "")
            age = (datetime.now(UTC) - flight.at).total_seconds()
            if found or not is_unknown or age > SETTLED_SECONDS:
                return found
            await asyncio.sleep(SETTLED_SECONDS / 10)

    # in flight: looked at until it has ended

    def _follow(self, flight: Flight) -> None:
        if flight.name not in self._followed:
            self._followed[flight.name] = self._clock()
            asked = {key: self._asked[key] for key in flight.ids if key in self._asked}
            self._start(self._follow_to_its_end(flight), asked)

    async def _follow_to_its_end(self, flight: Flight) -> None:
        pause = self._spec.poll
        try:
            while (look := await self._exchange(partial(self._service.look, flight.id), "look at a batch")).state == (
                "open"
            ):
                self._ledger.looked(flight, look.done)
                self._followed[flight.name] = self._clock() + pause
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, self._spec.longest_poll)
            if look.state == "refused":
                await self._refused(flight, look.why, is_full=look.is_full)
            else:
                await self._fetch(flight)
        except ServiceError as error:
            if error.failure.kind not in _GONE:
                raise
            self._lost(flight)
        finally:
            self._followed.pop(flight.name, None)

    async def _refused(self, flight: Flight, why: str, *, is_full: bool) -> None:
        """Try again later what does not fit into the queue of the account; all else ends the tasks."""
        keys = flight.ids
        self._ledger.over(flight, f"refused: {why}")
        self._forget(flight, keys)
        if is_full and any(one.rounds < self._spec.rounds for key in keys if (one := self._asked.get(key))):
            logger.warning("batch %s is submitted again in %.3g s: %s", flight.id, self._spec.longest_poll, why)
            await asyncio.sleep(self._spec.longest_poll)
            self._ask_again(keys, why)
        else:
            fix = " (batch=dict(max_requests=...) makes smaller batches)" if is_full else ""
            self._refuse(keys, Failure("http_400", why + fix))

    def _lost(self, flight: Flight) -> None:
        logger.warning("the provider does not know the batch %s any more: its open requests are asked again", flight.id)
        keys = flight.ids
        self._ledger.over(flight, "vanished at the provider")
        self._forget(flight, keys)
        self._ask_again(keys, "the batch vanished at the provider")

    # fetched

    async def _fetch(self, flight: Flight) -> None:
        self._retire()  # answers of earlier batches were recorded long ago: their conversations have gone on
        with tempfile.TemporaryFile(prefix="aisprompt-") as file:
            binary = cast("BinaryIO", file)

            async def fetch(_: int) -> None:
                binary.seek(0)
                binary.truncate()
                await self._service.fetch(flight.id, binary)

            await self._patiently(fetch, "fetch the answers of a batch")
            binary.seek(0)
            await in_thread(partial(self._ledger.fetched, flight, iter(binary)))
            binary.seek(0)
            lines = ((str(line.get("custom_id")), line) for _, line in read_objects(binary, flight.id))
            await self._take(flight, lines)

    async def _take_kept(self, flight: Flight) -> None:
        await asyncio.sleep(self._spec.gather)  # until the other requests have come
        keys = flight.ids
        await self._take(flight, self._ledger.answers(flight))
        for key in keys:
            self._kept.pop(key, None)
        self._followed.pop(flight.name, None)

    async def _take(self, flight: Flight, lines: Iterator[tuple[str, Mapping[str, Any]]]) -> None:
        """Answer the requests of a batch, and ask again what it leaves open."""
        keys, strangers, why = set(flight.ids), 0, "no line of the answers has its id"
        answered = 0
        reasons: dict[str, str] = {}
        for number, (key, line) in enumerate(lines):
            if number % 256 == 255:
                await asyncio.sleep(0)
            if key not in keys:
                strangers += 1
            elif (one := self._asked.get(key)) is not None and not one.answer.done():
                completion = self._model.read(line, one.request)
                failure = completion.failure
                if failure is not None and (failure.kind == NO_ANSWER or is_temporary(failure)):
                    reasons[key] = f"{failure.kind}: {failure.message}"
                    continue
                usage = replace(completion.usage, tier=BATCH_TIER)
                self._resolve(key, replace(completion, usage=usage, attempts=max(1, one.rounds)))
                answered += 1
        self._forget(flight, flight.ids)
        if strangers:
            what = counted(strangers, "answer") + " to requests that are not in it"
            logger.warning("batch %s has %s, which are not used", flight.id, what)
        left = [key for key in flight.ids if (one := self._asked.get(key)) is not None and not one.answer.done()]
        flight.end = f"{answered:,} answers of {len(flight.ids):,}" + (f", {len(left):,} open" if left else "")
        if left:
            first = next(iter(reasons.values()), why)
            logger.warning("batch %s leaves %s open (%s): asked again", flight.id, counted(len(left), "request"), first)
        for key in left:
            self._ask_again([key], reasons.get(key, why))

    def _retire(self) -> None:
        """Forget the answers of batches that were fetched and taken: the journals have them."""
        for flight in self._ledger.under_way:
            is_taken = flight.state == "fetched" and flight.end and flight.name not in self._followed
            if is_taken and self._dropped.isdisjoint(flight.ids):
                self._ledger.over(flight, flight.end)

    # open

    def _ask_again(self, keys: Sequence[str], why: str) -> None:
        for key in keys:
            if (one := self._asked.get(key)) is None or one.answer.done():
                continue
            if self._spec.rest == "direct":
                self._start(self._ask_directly(key, one), {key: one})
            elif one.rounds >= self._spec.rounds:
                words = f"no answer in {batches(one.rounds)}; the last: {why}"
                self._resolve(key, Completion(failure=Failure(NO_ANSWER, words), attempts=one.rounds))
            else:
                self._gather(key)

    async def _ask_directly(self, key: str, one: Asked) -> None:
        completion = await self._model.directly(one.request)
        self._resolve(key, replace(completion, attempts=completion.attempts + one.rounds))

    # what all states share

    def _resolve(self, key: str, completion: Completion) -> None:
        if (one := self._asked.get(key)) is not None and not one.answer.done():
            one.answer.set_result(completion)

    def _forget(self, flight: Flight, keys: Sequence[str]) -> None:
        for key in keys:
            if self._in_flight.get(key) is flight:
                del self._in_flight[key]

    def _start(self, work: Coroutine[Any, Any, None], asked: Mapping[str, Asked]) -> None:
        """Do some work beside all else. Its error is that of the requests that it is for."""
        task = self._loop.create_task(work)
        self._tasks.add(task)

        def end(ended: asyncio.Task[None]) -> None:
            self._tasks.discard(ended)
            if not ended.cancelled() and (error := ended.exception()) is not None:
                if isinstance(error, ServiceError):
                    error = self._error("the batch API failed", error.failure)
                for one in asked.values() if asked else list(self._asked.values()):
                    _fail(one, error)

        task.add_done_callback(end)

    async def _exchange(self, call: Callable[[], Awaitable[T]], what: str) -> T:
        """Make an exchange with the service until it succeeds, and say what a permanent failure means.

        Raises:
            ServiceError: a batch is not there (HTTP 404).
            ModelError: any other failure, or a list of batches that is not there.
        """
        try:
            return await self._patiently(lambda _: call(), what)
        except ServiceError as error:
            if error.failure.kind in _GONE and what == "look at a batch":
                raise
            if error.failure.kind in (*_GONE, "http_405", "http_501"):
                raise ModelError(
                    f"the server has no batch API ({error.failure.kind}: {self._service.path})",
                    where=self._model.where,
                    fix="run without --batch and batch=dict(...); `aisprompt requests` writes files for other services",
                ) from None
            raise self._error(f"cannot {what}", error.failure) from None

    async def _patiently(self, call: Callable[[int], Awaitable[T]], what: str) -> T:
        """Try again, with growing pauses, for as long as an outage of a server may last.

        Args:
            call: (number of the attempt, from 0) → what it returns.
            what: it does, for a warning.

        Raises:
            ServiceError: trying again makes no sense.
        """
        began, pause, attempt = self._clock(), self._model.first_wait, 0
        while True:
            try:
                found = await call(attempt)
            except ServiceError as error:
                # A server that has never answered may be a wrong address.
                lasts = self._clock() - began > OUTAGE_LIMIT_SECONDS if self._has_answered else attempt >= FIRST_RETRIES
                if lasts or not is_temporary(error.failure):
                    raise
                if attempt == 1:
                    logger.warning("cannot %s (%s): trying again", what, error)
            else:
                self._has_answered = True
                return found
            await asyncio.sleep(pause)
            pause, attempt = min(2 * pause, LONGEST_PAUSE), attempt + 1

    def _error(self, what: str, failure: Failure) -> ModelError:
        return ModelError(f"{what}: {failure.kind}: {failure.message}", where=self._model.where, fix=GO_ON)


def _fail(one: Asked, error: BaseException) -> None:
    if not one.answer.done():
        one.answer.set_exception(error)
