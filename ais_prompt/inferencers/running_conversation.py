"""`RunningConversation`: the state of one conversation: its open requests, their answers, and its prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ais_prompt.inferencers.base import Conversation
from ais_prompt.types import Completion, Prediction, Request

Recall: TypeAlias = Callable[[Request], Completion | Request | None]
"""Returns the recorded completion of a request, the request that is sent in its place, or None."""
NumberOf: TypeAlias = Callable[[Sequence[Request]], int]
"""Returns how many conversations opened with the same requests before this one."""


class RunningConversation:
    """Drive one conversation, answering from the journal where possible.

    Args:
        conversation: a conversation that has not started yet.
        recall: looks up earlier answers.
        row: index of the row that it is about; None for none.
        number_of: numbers conversations that open alike, for `Request.duplicate`; None numbers none.

    Attributes:
        row: as given.
        prediction: the result of the conversation; None until it ends.
        answers_found: number of requests that were answered from the journal so far.
    """

    def __init__(
        self,
        conversation: Conversation,
        recall: Recall,
        row: int | None = None,
        number_of: NumberOf | None = None,
    ) -> None:
        self.row = row
        self.prediction: Prediction | None = None
        self.answers_found = 0
        self._conversation = conversation
        self._recall = recall
        self._number_of = number_of
        self._duplicate = 0
        # The keys are positions among the requests that were yielded together.
        self._open: dict[int, Request] = {}
        self._answers: dict[int, Completion] = {}
        self._has_begun = False
        self._go_on()

    def open_requests(self) -> list[Request]:
        """Return the requests that must be answered before the conversation continues; empty when it has ended."""
        return list(self._open.values())

    def answer(self, request: Request, completion: Completion) -> None:
        """Answer one of `open_requests`; after the last answer the conversation continues.

        Raises:
            ValueError: the request is not open.
        """
        place = next((place for place, asked in self._open.items() if asked is request), None)
        if place is None:
            raise ValueError("the request is not open")
        del self._open[place]
        self._answers[place] = completion
        self._go_on()

    def _go_on(self) -> None:
        """Continue until a request is open that is not recorded, or until the conversation has ended."""
        while self.prediction is None and not self._open:
            answers = [self._answers[place] for place in sorted(self._answers)]
            try:
                # A generator that has not started yet takes nothing.
                asked = self._conversation.send(answers) if self._has_begun else next(self._conversation)
            except StopIteration as stop:
                self.prediction = stop.value
                return
            if not self._has_begun and self._number_of is not None:
                self._duplicate = self._number_of(asked)
            if self._duplicate:
                asked = [replace(request, duplicate=self._duplicate) for request in asked]
            self._has_begun = True
            self._answers.clear()
            for place, request in enumerate(asked):
                found = self._recall(request)
                if isinstance(found, Completion):
                    self._answers[place] = found
                    self.answers_found += 1
                else:
                    self._open[place] = found or request
