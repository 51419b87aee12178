"""Loads for tests: exchanges with times that are written down, not measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ais_prompt.extensions.perf.driver import ClientFacts
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of
from ais_prompt.extensions.perf.load_files import LoadPlan, StoredLoad
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.types import DatasetSpec, EvalSpec, InferSpec, ModelSpec, PartSpec, ReaderSpec, TaskSpec

_PART = PartSpec("X")
_INFER = InferSpec(prompt_template=_PART, retriever=_PART, inferencer=_PART)
TASK = TaskSpec(
    ModelSpec("fake", _PART), DatasetSpec("sums", _PART, ReaderSpec(("question",), None), _INFER, EvalSpec())
)
IDLE = ClientFacts(10.0, lag_p99=0.0005, lag_max=0.001, cpu_share=0.1, cores=2)
BUSY = ClientFacts(10.0, lag_p99=0.5, lag_max=1.0, cpu_share=1.0, cores=2)


def exchange(
    number: int,
    due: float,
    *,
    first: float = 0.05,
    gap: float = 0.01,
    pieces: int = 32,
    extra: bool = False,
    **more: Any,
) -> Exchange:
    """Return a request that is sent 1 ms after it is due and answered after ``first`` seconds, piece by piece.

    Args:
        number: names its row.
        due: when it is due.
        first, gap: seconds from sending it to its first piece, and between pieces.
        pieces: how many there are; a piece is a token.
        extra: whether a role, empty pieces, a finish reason and token counts come too, at odd times.
        more: further fields.
    """
    taken, sent = due + 0.0004, due + 0.001
    times = [sent + first + place * gap for place in range(pieces)]
    kinds = "a" * pieces
    if extra:
        times = [sent + 0.02, sent + 0.03, *times, times[-1] + 0.3, times[-1] + 0.31]
        kinds = f"oo{kinds}oo"
    values: dict[str, Any] = {
        "connected": due + 0.0008,
        "sent": sent,
        "first_byte": times[0],
        "steps": offsets_of(taken, times).tobytes(),
        "kinds": kinds,
        "input_tokens": 100,
        "output_tokens": pieces,
        "max_tokens": 64,
    }
    if "events" in more:
        values["steps"] = offsets_of(taken, more.pop("events")).tobytes()
    return Exchange(f"row {number}", due, taken, times[-1], **(values | more))


def load(
    exchanges: Sequence[Exchange], schedule: Schedule | None = None, client: ClientFacts | None = IDLE, **plan: Any
) -> StoredLoad:
    """Return a stored load; without a schedule one of 8 clients."""
    kept = schedule or Schedule("closed", (), len(exchanges), 8)
    return StoredLoad(LoadPlan(kept, [], 8, **({"warmups": 1} | plan)), exchanges, client)


def at_20(count: int = 200, **more: Any) -> tuple[list[Exchange], Schedule]:
    """Return the requests of a load at 20/s, and its schedule."""
    due = [number / 20 for number in range(count)]
    return [exchange(number, time, **more) for number, time in enumerate(due)], Schedule("rate", due, count)
