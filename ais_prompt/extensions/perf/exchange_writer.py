"""Write down a load while it runs, in a thread: count tokens, and write the journal and the predictions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import shown_body
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of
from ais_prompt.extensions.perf.live import ENDING, LoadCounter
from ais_prompt.extensions.perf.prepare import PreparedLoad, served_model
from ais_prompt.models import Moments, approximate_tokens
from ais_prompt.store import Journal, RequestKeys, RunFolder, prediction_sorter
from ais_prompt.terminal import Advance, tracking
from ais_prompt.types import ChatMessage, Completion, Decoding, Prediction, Prompt, Request
from ais_prompt.utils import digest

CHECKED_ANSWERS: Final = 200
"""Answers whose tokens are also counted with the model's tokenizer."""
OF_A_ROW: Final = {"max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "seed"}
"""Fields of a body that may differ from row to row and from repeat to repeat, besides the prompt."""


class LoadAnswer(Struct, frozen=True):
    """One answered or failed request, with times of the clock; ``times`` and ``kinds`` are of the events."""

    request: Request
    completion: Completion
    due: float
    taken: float
    end: float
    moments: Moments
    times: Sequence[float]
    kinds: str
    served: str = ""


class LoadWriter:
    """Writes journal and predictions in a thread of its own.

    Attributes:
        origin: the beginning of the load, on the clock of its loop.
        failed: predictions without an answer.
        counter: counts requests, to follow the load.
        first_body: the body of the first request, with long texts cut; None before it.
    """

    def __init__(self, load: PreparedLoad, folder: RunFolder) -> None:
        self.origin = 0.0
        self.failed = 0
        self.first_body: Any = None
        self._load = load
        self._model = served_model(load.task)
        names = load.task.spec.model.abbr, load.task.spec.dataset.abbr
        self._journal, self._predictions = folder.journal(*names), folder.predictions(*names)
        name, planned = load.task.spec.name, load.plan.schedule.requests
        self.counter = LoadCounter(folder.load_file(*names, ENDING), name, planned)
        self._key_of = RequestKeys(self._model.identity())
        self._to_check = CHECKED_ANSWERS
        self._queue: SimpleQueue[LoadAnswer | Prediction | None] = SimpleQueue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="aisprompt-load", daemon=True)

    def __enter__(self) -> LoadWriter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def add(self, item: LoadAnswer | Prediction) -> None:
        """Take an answer or a prediction; return at once.

        Raises:
            AisPromptError: an earlier one could not be written.
        """
        if self._error is not None:
            raise self._error
        self._queue.put(item)

    def _run(self) -> None:
        try:
            self._write()
        except Exception as error:
            self._error = error

    def _write(self) -> None:
        with (
            Journal.open(self._journal) as journal,
            prediction_sorter(self._predictions) as predictions,
            closing(self.counter) as counter,
            tracking(counter.progress.task, counter.progress.requests, "requests", self._facts) as advance,
        ):
            for prediction in self._load.over:
                predictions.add(prediction)
            for item in self._items(advance):
                if isinstance(item, Prediction):
                    predictions.add(item)
                else:
                    times = self._exchange(item).times_to_json()
                    journal.append(self._key_of(item.request), item.request, item.completion, times=times)
                    counter.ended(failed=item.completion.failure is not None)
                    if item.request.turn == 0:
                        advance(1)
            predictions.write(self._predictions)
            self.failed = predictions.failed

    def _items(self, advance: Advance) -> Iterator[LoadAnswer | Prediction]:
        """Yield what is added until the end, and show the counts when they are due."""
        while True:
            if not self.counter.wait:
                self.counter.write()
                advance(0)
            with suppress(Empty):
                if (item := self._queue.get(timeout=self.counter.wait)) is None:
                    return
                yield item

    def _facts(self) -> str:
        return str(self.counter.progress)

    def _exchange(self, item: LoadAnswer) -> Exchange:
        request, completion, moments, origin = item.request, item.completion, item.moments, self.origin
        connected, sent, first_byte = (
            None if moment is None else moment - origin
            for moment in (moments.connected, moments.sent, moments.first_byte)
        )
        assert isinstance(request.decoding, Decoding)
        if self.first_body is None:
            self.first_body = shown_body(self._model.sent(request)[1])
        return Exchange(
            request.sample_id,
            item.due - origin,
            item.taken - origin,
            item.end - origin,
            turn=request.turn,
            repeat=request.repeat,
            connected=connected,
            sent=sent,
            first_byte=first_byte,
            steps=offsets_of(item.taken - origin, [time - origin for time in item.times]).tobytes(),
            kinds=item.kinds,
            max_tokens=request.decoding.max_out_len,
            served=item.served,
            body=self._body_digest(request),
            failure=None if completion.failure is None else completion.failure.kind,
            **({} if completion.failure is not None else self._tokens(request, completion, item.kinds)),
        )

    def _body_digest(self, request: Request) -> str:
        """Return the digest of a body without its prompt and the fields that a row may set."""
        prompt: Prompt = "" if isinstance(request.prompt, str) else (ChatMessage("user", ""),)
        body = self._model.endpoint.body(self._model.model, replace(request, prompt=prompt), self._model.wire)
        return digest({name: value for name, value in body.items() if name not in OF_A_ROW}, length=8)

    def _tokens(self, request: Request, completion: Completion, kinds: str) -> Mapping[str, Any]:
        """Return the tokens of an answer and their sources: those that the server counts, or else the next best."""
        usage, tokenizer = completion.usage, self._model.tokenizer()
        text = completion.reasoning + completion.text
        counted = None
        if tokenizer is not None and (usage.completion_tokens is None or self._to_check > 0):
            self._to_check -= 1
            counted = len(tokenizer.encode(text, add_special_tokens=False))
        values: dict[str, Any] = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        if usage.prompt_tokens is not None and counted is not None:
            values["counted_input"] = self._model.count_tokens(request.prompt)
        if usage.prompt_tokens is None:
            own = self._model.count_tokens(request.prompt)
            values["input_tokens"] = approximate_tokens(request.prompt) if own is None else own
            values["input_source"] = "estimate" if own is None else "tokenizer"
        if usage.completion_tokens is None:
            pieces = len(kinds) - kinds.count("o")
            values["output_tokens"] = counted or pieces or approximate_tokens(text)
            values["output_source"] = "tokenizer" if counted else "events" if pieces else "estimate"
        elif counted is not None:
            values["counted_tokens"] = counted
        return values
