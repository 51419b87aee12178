"""Continuous batching: many answers are computed side by side, and the next prompt takes the place of one that ended.

    row 1   a a a a d d d d d    after its fourth token the answer a has ended, and the prompt of d is read
    row 2   b b b b b b b e e
    row 3   c c c c c c c c c

``generate`` of transformers computes the steps from one end to the next: its cache is ours, and a stopping criterion
pauses all rows as soon as one has ended. Between two calls rows are taken out of the cache and put into it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.models.huggingface.library import (
    BATCH_ERRORS,
    OUT_OF_MEMORY,
    batch_failure,
    bisect_on_failure,
    free_accelerator,
)
from ais_prompt.models.huggingface.next_tokens import NOT_A_NUMBER, Steps
from ais_prompt.models.huggingface.reuse import (
    WORTH,
    CachedPrefix,
    Reuse,
    Tokens,
    block_of,
    joined,
    shared_lengths,
)
from ais_prompt.types import Failure

_MOST: Final = 2
"""Most batches of rows at a time: a step with twice the rows takes little longer, up to some tens of rows."""
_MARGIN: Final = 32
"""Further tokens of all rows that must fit when a row is added; else it would soon have to leave again."""


class LiveRow(Struct, eq=False):
    """An answer that is computed.

    Attributes:
        number: of the prompt.
        prompt: its token ids.
        shared: how many of them other prompts have in common with it.
        new: tokens of the answer so far.
        part: keys and values of all tokens but the last; None before the prompt is read.
        has_ended: whether the answer is complete, or has failed.
        failure: why there is no answer.
        started: when the prompt was read, in seconds of `perf_counter`.
        seconds: how long the answer took.
    """

    number: int
    prompt: Tokens
    shared: int
    new: Tokens = ()
    part: CachedPrefix | None = None
    has_ended: bool = False
    failure: Failure | None = None
    started: float = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> Tokens:
        """Prompt and answer."""
        return self.prompt + self.new

    def fail(self, failure: Failure) -> None:
        """End without an answer."""
        self.failure = failure
        self.has_ended = True


class ContinuousBatch:
    """Answers the prompts of one call side by side. Greedy answers in float32 are those of each prompt alone.

    The memory of ``batch_size`` answers of full length is the bound. Within it up to twice as many rows are computed.

    Args:
        network: a causal language model of transformers whose rows can be joined; see `generation.why_not_joined`.
        reuse: keeps keys and values for later prompts.
        steps: computes the next tokens of rows.
        prompts: token ids of each prompt.
        batch_size: prompts that are read at a time.
        max_out_len: most tokens of an answer.
    """

    def __init__(
        self,
        network: Any,
        reuse: Reuse,
        steps: Steps,
        prompts: Sequence[Tokens],
        *,
        batch_size: int,
        max_out_len: int,
    ) -> None:
        self._config = network.config
        self._reuse = reuse
        self._steps = steps
        self._batch_size = batch_size
        self._max_out_len = max_out_len
        # A batch size of 1 says that prompts are answered one by one.
        self._places = self._most_rows = _MOST * batch_size if batch_size > 1 else 1
        self._most_tokens = batch_size * (max(map(len, prompts)) + max_out_len)
        # The next call may go on with the answers of a single batch, as the next turns of dialogues. Those of many
        # prompts would only displace each other.
        self._keeps_answers = len(prompts) <= batch_size
        rows = zip(prompts, shared_lengths(prompts), strict=True)
        self._waiting = deque(LiveRow(number, prompt, shared) for number, (prompt, shared) in enumerate(rows))
        self._live: list[LiveRow] = []

    def answers(self) -> Iterator[LiveRow]:
        """Yield the rows, each as soon as it has ended."""
        while self._waiting or self._live:
            while fresh := self._admitted():
                self._read(fresh)
                yield from self._ended()
            self._make_room()
            if self._live:
                self._decode()
            yield from self._ended()

    def _ended(self) -> Iterator[LiveRow]:
        """Yield the rows that have ended, and take them out."""
        ended = [row for row in self._live if row.has_ended]
        self._live = [row for row in self._live if not row.has_ended]
        for row in ended:
            row.seconds = perf_counter() - row.started
            if self._keeps_answers and row.part and not row.failure:
                self._reuse.keep(row.part)
            row.part = None
            yield row

    def _fit(self, rows: Sequence[LiveRow], more: int) -> bool:
        """Whether there is memory for rows and so many further tokens of each; a batch always fits."""
        return len(rows) <= self._batch_size or len(rows) * (_width(rows) + more) <= self._most_tokens

    def _admitted(self) -> list[LiveRow]:
        """Take the next prompts that fit."""
        fresh: list[LiveRow] = []
        while self._waiting and len(fresh) < self._batch_size:
            rows = [*self._live, *fresh, self._waiting[0]]
            if len(rows) > self._places or not self._fit(rows, _MARGIN):
                break
            fresh.append(self._waiting.popleft())
        return fresh

    def _make_room(self) -> None:
        """Let the shortest answers wait, and their prompts be read again, if all would grow out of the memory."""
        while not self._fit(self._live, 1):
            shortest = min(self._live, key=lambda row: len(row.new))
            self._live.remove(shortest)
            self._wait_again([shortest])

    def _wait_again(self, rows: Sequence[LiveRow]) -> None:
        for row in reversed(rows):
            row.part = None
            self._waiting.appendleft(row)

    def _read(self, fresh: Sequence[LiveRow]) -> None:
        """Read prompts, and compute the first token after each."""
        others = len(self._live)
        for row, outcome in zip(fresh, bisect_on_failure(fresh, self._read_batch, kind="generation"), strict=True):
            if isinstance(outcome, Failure):
                if outcome.kind == OUT_OF_MEMORY and others:  # alone it may fit
                    self._places = others
                    self._wait_again([row])
                    continue
                row.fail(outcome)
            self._live.append(row)

    def _read_batch(self, rows: Sequence[LiveRow]) -> Sequence[LiveRow]:
        for row in rows:
            row.started = row.started or perf_counter()
        try:
            self._advance(rows, self._reuse.cache_for([row.tokens for row in rows]), 1)
        except RuntimeError:
            self._reuse.forget()  # free all memory for a retry
            raise
        for row in rows:
            if row.part and not row.failure:
                self._reuse.keep(replace(row.part, length=min(row.shared, row.part.length)), worth=WORTH)
        return rows

    def _decode(self) -> None:
        """Compute all rows until one of them ends."""
        rows = self._live
        most = self._max_out_len - max(len(row.new) for row in rows)
        if len(rows) > self._batch_size:
            most = min(most, self._most_tokens // len(rows) - _width(rows))
        try:
            cache = joined(self._config, [row.part for row in rows if row.part], consume=True)
            self._advance(rows, cache, most)
            return
        except BATCH_ERRORS as error:
            failure = batch_failure(error, kind="generation")
        # Outside of `except`, where the traceback would keep the memory of the failed batch.
        self._reuse.forget()
        free_accelerator()
        if len(rows) > 1:  # half as many at a time, until the row to blame fails alone
            self._places = len(rows) // 2
            self._wait_again(rows)
            self._live = []
            return
        rows[0].fail(failure)
        if failure.kind != OUT_OF_MEMORY:
            self._places = self._most_rows

    def _advance(self, rows: Sequence[LiveRow], cache: Any, most: int) -> None:
        """Add tokens to rows, ``most`` or fewer, until one of the rows ends."""
        batch = self._steps.padded([row.tokens for row in rows])
        width = _width(rows)
        begins = [width - len(row.new) for row in rows]
        answers, ended, broken = self._steps.to_the_next_end(batch, begins, cache, most)
        for row, new in zip(rows, answers, strict=True):
            row.new += tuple(new)
        block = block_of([row.tokens[:-1] for row in rows], cache)
        for number, row in enumerate(rows):
            row.part = CachedPrefix(block, number, len(row.tokens) - 1)
            row.has_ended = ended[number] or len(row.new) == self._max_out_len
            if number in broken:
                row.fail(NOT_A_NUMBER)


def _width(rows: Sequence[LiveRow]) -> int:
    return max(len(row.tokens) for row in rows)
