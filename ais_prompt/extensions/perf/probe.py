"""Probe a server while a load runs: one request for a single token each second, as vLLM's ``--probe-request-rate``.

Probes have a short prompt of their own and are no part of the load. They show what a small request would have waited at
each moment, whatever the load itself asks for.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.extensions.perf.metrics import Distribution, distribution
from ais_prompt.inferencers import ends_task, failure_of
from ais_prompt.models import ApiModel, Moments
from ais_prompt.parts import part_class
from ais_prompt.types import ChatMessage, Decoding, Request

INTERVAL: Final = 1.0
"""Seconds between two probes, whether the earlier one is answered or not."""
_LEAST_LENGTHS: Final = {"min_tokens", "min_new_tokens"}
"""Options that a request for one token cannot have."""


class LoadProbe(Struct, frozen=True):
    """One probe.

    Attributes:
        sent: when it was sent, in seconds from the beginning of the load.
        seconds: from then to the end of its reply, or to the failure.
        failure: the kind of the failure; None if it was answered.
    """

    sent: float
    seconds: float
    failure: str | None = None


@asynccontextmanager
async def probing(model: ApiModel, pattern: Request, origin: float, found: list[LoadProbe]) -> AsyncIterator[None]:
    """Probe a server while the body runs. Probes in flight at the end are cancelled, and not counted.

    Args:
        model: which was started.
        pattern: a request of the load: a probe has its form and options, but not its prompt and length.
        origin: the beginning of the load, on the clock of the running loop.
        found: takes the probes.
    """
    loop = asyncio.get_running_loop()

    async def probe(number: int) -> None:
        taken, moments = loop.time(), Moments(loop.time)
        try:
            failure = (await model.complete_once(_as_probe(pattern, number), moments))[0].failure
        except Exception as error:
            if ends_task(error):
                raise
            failure = failure_of(error, part_class(model).__name__)
        sent = taken if moments.sent is None else moments.sent
        kind = None if failure is None else failure.kind
        found.append(LoadProbe(round(sent - origin, 6), round(loop.time() - sent, 6), kind))

    async def probe_on() -> None:
        async with asyncio.TaskGroup() as group:
            number = 0
            while True:
                group.create_task(probe(number))
                number += 1
                await asyncio.sleep(origin + number * INTERVAL - loop.time())

    probes = asyncio.create_task(probe_on())
    try:
        yield
    finally:
        probes.cancel()
        with suppress(asyncio.CancelledError):
            await probes


def probe_times(probes: Sequence[LoadProbe]) -> Distribution:
    """Return the seconds of at least one probe; those of failures are infinite."""
    return distribution(np.array([one.seconds if one.failure is None else math.inf for one in probes]))


def _as_probe(pattern: Request, number: int) -> Request:
    assert isinstance(pattern.decoding, Decoding)
    extra = {name: value for name, value in pattern.decoding.extra.items() if name not in _LEAST_LENGTHS}
    text = f"probe {number}"
    return replace(
        pattern,
        prompt=text if isinstance(pattern.prompt, str) else (ChatMessage("user", text),),
        decoding=replace(pattern.decoding, max_out_len=1, extra=extra),
    )
