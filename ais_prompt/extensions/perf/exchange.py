"""`Exchange`: one request of a load with all of its times, and how a line of the journal holds them.

Times are seconds from the beginning of the load, with a step of 1 µs:

    due          when the request should have been sent; in a closed load, when its place became free
    taken        when the client turned to it
    connected    when it had a connection
    sent         when its last byte was handed to the system
    first_byte   when the first piece of the body came
    end          when the client had all of the answer, or the failure

``kinds`` says of each event of a streamed answer what it brought (`ais_prompt.models.api.stream.PieceKind`), run-length
encoded: ``o1r120a400o2``. ``chunks`` has the gaps between the events, the first one from ``taken``: microseconds as
LEB128 numbers (7 bits a byte, the lowest first; source: the DWARF standard, section 7.6) in base64.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, islice
from sys import intern
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, convert
from msgspec.json import Decoder

from ais_prompt.types import Failure, Usage
from ais_prompt.utils import decode_own

TokenSource: TypeAlias = Literal["usage", "tokenizer", "events", "estimate"]
"""Where a number of tokens comes from: the server, the model's tokenizer, the events of a stream, or the characters."""
Seconds: TypeAlias = npt.NDArray[np.floating[Any]]
Steps: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.int64]
"""Microseconds; 4 bytes each unless a request takes longer than 71 minutes."""
SHARED: Final = 1024
"""Sequences of kinds that are kept, since many requests have the same one."""
BATCH: Final = 1000
"""Requests whose gaps are counted together."""
NONE: Final[Steps] = np.empty(0, np.uint32)
_RUN: Final = re.compile(r"([arto])(\d+)")
_LOW_BITS: Final = 0x7F


class Exchange(Struct, frozen=True, gc=False):  # it refers to nothing that could refer to it
    """One request and its answer or failure. Times are seconds from the beginning of the load.

    Attributes:
        sample_id, turn, repeat: which request it is.
        due, taken, connected, sent, first_byte, end: as above; None for what did not happen or is not known.
        steps: the bytes of ``offsets``, since an array for each of very many requests takes more memory.
        kinds: one letter for each event.
        input_tokens, output_tokens: of the prompt and of the answer; None after a failure.
        input_source, output_source: where they come from.
        cached_tokens: tokens of the prompt that the server took from its cache; None if it does not say.
        max_tokens: the most tokens that were asked for.
        failure: the kind of the failure; None if there is an answer.
        counted_tokens: tokens of the answer by the model's tokenizer, to check the server's count; None if not counted.
        counted_input: the same of the prompt.
        served: the name of the model in the reply, and its ``system_fingerprint`` if there is one; empty if unknown.
        replica: the address that answered, if the model has several.
        body: digest of the request's body without what differs from row to row; empty if unknown.
    """

    sample_id: str
    due: float
    taken: float
    end: float
    turn: int = 0
    repeat: int = 0
    connected: float | None = None
    sent: float | None = None
    first_byte: float | None = None
    steps: bytes = b""
    kinds: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_source: TokenSource = "usage"
    output_source: TokenSource = "usage"
    cached_tokens: int | None = None
    max_tokens: int | None = None
    failure: str | None = None
    counted_tokens: int | None = None
    counted_input: int | None = None
    served: str = ""
    replica: str = ""
    body: str = ""

    @property
    def offsets(self) -> Steps:
        """Microseconds from ``taken`` to each event of a streamed answer (`offsets_of`); empty if not streamed."""
        is_short = len(self.steps) == 4 * len(self.kinds)
        return np.frombuffer(self.steps, np.uint32) if is_short else np.frombuffer(self.steps, np.int64)

    @property
    def events(self) -> Seconds:
        """When each event of a streamed answer came."""
        return (round(self.taken * 1e6) + self.offsets.astype(np.int64)) / 1e6

    @property
    def piece_offsets(self) -> Steps:
        """Microseconds from ``taken`` to each event with a piece; empty if the answer was not streamed."""
        found: Steps = self.offsets[_with_pieces(self.kinds)]
        return found

    @property
    def start(self) -> float:
        """When it was sent; when the client turned to it, if that is not known."""
        return self.taken if self.sent is None else self.sent

    @property
    def pieces(self) -> Seconds:
        """When each event with a piece of reasoning, answer or call came; the end alone, if it was not streamed."""
        if not self.kinds:
            return np.array([self.end])
        found: Seconds = self.events[_with_pieces(self.kinds)]
        return found

    def times_to_json(self) -> dict[str, Any]:
        """Return what a line of the journal has as ``times``; what is not known is left out."""
        names = ("due", "taken", "connected", "sent", "first_byte", "end")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        values: dict[str, Any] = {name: round(value, 6) for name, value in known.items()}
        if self.kinds:
            values["kinds"] = "".join(f"{kind}{sum(1 for _ in run)}" for kind, run in groupby(self.kinds))
            values["chunks"] = encode_gaps(self.offsets)
        for side in ("input", "output"):
            if (source := getattr(self, f"{side}_source")) != "usage" and self.failure is None:
                values[f"{side}_tokens"] = {"count": getattr(self, f"{side}_tokens"), "source": source}
        for name in ("max_tokens", "counted_tokens", "counted_input"):
            if (number := getattr(self, name)) is not None:
                values[name] = number
        return values | {name: text for name in ("served", "body") if (text := getattr(self, name))}

    @classmethod
    def from_line(cls, line: bytes) -> Exchange | None:
        """Read a line of a journal; None if it has no times, as those of runs that measure no load.

        Raises:
            ValueError: the line is not of a journal, or its times are not those of an exchange.
        """
        try:
            found = _LINE.decode(line)
        except ValueError:  # a lone surrogate or NaN in the answer, or no line of a journal
            found = convert(decode_own(line), _Line)
        times, usage = found.times, found.completion.usage
        if times is None:
            return None
        sent = times.input_tokens or _Tokens(usage.prompt_tokens)
        received = times.output_tokens or _Tokens(usage.completion_tokens)
        return cls(
            found.sample_id,
            times.due,
            times.taken,
            times.end,
            turn=found.turn,
            repeat=found.repeat,
            connected=times.connected,
            sent=times.sent,
            first_byte=times.first_byte,
            steps=decode_gaps(times.chunks).tobytes(),
            kinds=_kinds_of(times.kinds),
            input_tokens=sent.count,
            output_tokens=received.count,
            input_source=sent.source,
            output_source=received.source,
            cached_tokens=usage.cached_tokens,
            max_tokens=times.max_tokens,
            counted_tokens=times.counted_tokens,
            counted_input=times.counted_input,
            served=intern(times.served),  # the same text in every line: kept once
            replica=intern(found.completion.replica),
            body=intern(times.body),
            failure=None if found.completion.failure is None else found.completion.failure.kind,
        )


class _Tokens(Struct, frozen=True):
    """A number of tokens, and where it comes from."""

    count: int | None
    source: TokenSource = "usage"


class _Times(Struct, frozen=True):
    """What `Exchange.times_to_json` writes."""

    due: float
    taken: float
    end: float
    connected: float | None = None
    sent: float | None = None
    first_byte: float | None = None
    kinds: str = ""
    chunks: str = ""
    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    max_tokens: int | None = None
    counted_tokens: int | None = None
    counted_input: int | None = None
    served: str = ""
    body: str = ""


class _Completion(Struct, frozen=True):
    usage: Usage = Usage()
    replica: str = ""
    failure: Failure | None = None


class _Line(Struct, frozen=True):
    sample_id: str
    completion: _Completion
    turn: int = 0
    repeat: int = 0
    times: _Times | None = None


_LINE: Final = Decoder(_Line)


def offsets_of(taken: float, times: Sequence[float] | Seconds) -> Steps:
    """Return the offsets of times that do not go back from the moment at which the client turned to a request."""
    steps = np.rint(np.asarray(times, np.float64) * 1e6).astype(np.int64) - round(taken * 1e6)
    return _small(np.maximum.accumulate(np.maximum(steps, 0)) if len(steps) else steps)


def encode_gaps(offsets: Steps) -> str:
    """Return the gaps between offsets, as above."""
    content = bytearray()
    for gap in np.diff(offsets.astype(np.int64), prepend=0).tolist():
        while gap > _LOW_BITS:
            content.append((gap & _LOW_BITS) | 0x80)
            gap >>= 7
        content.append(gap)
    return base64.b64encode(content).decode()


def decode_gaps(text: str) -> Steps:
    """Return the offsets whose gaps `encode_gaps` has written.

    Raises:
        ValueError: the text is not base64.
    """
    content = np.frombuffer(base64.b64decode(text, validate=True), np.uint8).astype(np.int64)
    last = np.flatnonzero(content < 0x80)
    if not len(last):
        return NONE
    first = np.concatenate(([0], last[:-1] + 1))
    place = np.arange(last[-1] + 1) - np.repeat(first, last - first + 1)
    return _small(np.cumsum(np.add.reduceat((content[: last[-1] + 1] & _LOW_BITS) << (7 * place), first)))


class CountedGaps:
    """The gaps of all requests in their order, as numbers of microseconds and how often each occurs.

    The step of times is 1 µs, so nothing is lost, and memory grows with the different gaps only. ``len`` is the number
    of gaps, and an index from 0 takes the gap of that rank, in seconds.

    Attributes:
        steps: the different gaps in µs, in their order.
        reached: how many gaps are at most that long.
    """

    def __init__(self, offsets: Iterable[Steps]) -> None:
        """Count the gaps between the offsets of each request."""
        self.steps, counts = np.empty(0, np.int64), np.empty(0, np.int64)
        rest = iter(offsets)
        while some := list(islice(rest, BATCH)):
            gaps = np.concatenate([np.diff(one.astype(np.int64)) for one in some])
            steps, numbers = np.unique(gaps, return_counts=True)
            self.steps, places = np.unique(np.concatenate((self.steps, steps)), return_inverse=True)
            both = np.concatenate((counts, numbers))
            counts = np.bincount(places, both, len(self.steps)).astype(np.int64)
        self.reached = counts.cumsum()

    @classmethod
    def together(cls, parts: Sequence[CountedGaps]) -> CountedGaps:
        """Return the gaps of several parts in one."""
        found = cls(())
        steps = np.concatenate([found.steps, *(one.steps for one in parts)])
        counts = np.concatenate([found.reached, *(np.diff(one.reached, prepend=0) for one in parts)])
        found.steps, places = np.unique(steps, return_inverse=True)
        found.reached = np.bincount(places, counts, len(found.steps)).astype(np.int64).cumsum()
        return found

    def __len__(self) -> int:
        return int(self.reached[-1]) if len(self.reached) else 0

    def __getitem__(self, rank: int) -> float:
        return float(self.steps[self.reached.searchsorted(rank, side="right")] / 1e6)

    @property
    def mean(self) -> float:
        """Seconds."""
        return float(self.steps @ np.diff(self.reached, prepend=0)) / len(self) / 1e6

    def shorter_than(self, seconds: float) -> int:
        """Return how many gaps are shorter."""
        return self._up_to_place(int(self.steps.searchsorted(round(seconds * 1e6))))

    def up_to(self, seconds: float) -> int:
        """Return how many gaps are not longer."""
        return self._up_to_place(int(self.steps.searchsorted(math.floor(seconds * 1e6 + 1e-6), side="right")))

    def _up_to_place(self, place: int) -> int:
        return int(self.reached[place - 1]) if place else 0


Ordered: TypeAlias = Seconds | CountedGaps
"""Values in their order."""


def pooled_gaps(times: Iterable[Seconds], count: int, *, exact: bool = True) -> Seconds:
    """Return the gaps between the times of each request, of all requests in one array.

    Args:
        times: of each request; read one after the other, since all together may take much memory.
        count: how many gaps there are.
        exact: whether a gap takes 8 bytes; with 4 the error of a gap is below one part in ten million.
    """
    pool: Seconds = np.empty(count, np.float64 if exact else np.float32)
    place = 0
    for one in times:
        gaps = np.diff(one)
        pool[place : place + len(gaps)] = gaps
        place += len(gaps)
    return pool


@lru_cache(SHARED)
def _kinds_of(runs: str) -> str:
    """Return one letter for each event, from ``o1r120a400o2``. Equal ones are one object: there may be very many."""
    return "".join(kind * int(number) for kind, number in _RUN.findall(runs))


@lru_cache(SHARED)
def _with_pieces(kinds: str) -> npt.NDArray[np.bool_]:
    """Return which events bring a piece of reasoning, answer or call."""
    return np.asarray(np.frombuffer(kinds.encode(), np.uint8) != ord("o"))


def _small(offsets: npt.NDArray[np.int64]) -> Steps:
    return offsets.astype(np.uint32) if not len(offsets) or offsets[-1] < 2**32 else offsets
