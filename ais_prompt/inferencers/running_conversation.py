"""A conversation under way: what it has asked, what is answered, and whether it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ais_prompt.inferencers.base import Conversation
from ais_prompt.types import Completion, Prediction, Request

Recall: TypeAlias = Callable[[Request], Completion | None]
"""What was answered before: the completion for a request, or None."""


class RunningConversation:
    """Feeds one conversation, from memory as far as it reaches.

    Args:
        conversation: a conversation that was not started yet.
        recall: where earlier answers are found.

    Attributes:
        prediction: what the conversation returned; None as long as it goes on.
        recalled: True if nothing had to be asked so far.
    """

    def __init__(self, conversation: Conversation, recall: Recall) -> None:
        self.prediction: Prediction | None = None
        self.recalled = True
        self._conversation = conversation
        self._recall = recall
        # Both by the place of the request among those that were yielded together.
        self._open: dict[int, Request] = {}
        self._answers: dict[int, Completion] = {}
        self._step(None)
        self._go_on()

    def open_requests(self) -> list[Request]:
        """What must be answered before the conversation goes on; empty when it is over."""
        return list(self._open.values())

    def answer(self, request: Request, completion: Completion) -> None:
        """Give the answer to one of `open_requests`; after the last one the conversation goes on.

        Raises:
            ValueError: it is none of them.
        """
        place = next((place for place, asked in self._open.items() if asked is request), None)
        if place is None:
            raise ValueError("the answer is to nothing that is open")
        del self._open[place]
        self._answers[place] = completion
        self.recalled = False
        self._go_on()

    def _go_on(self) -> None:
        while self.prediction is None and not self._open:
            self._step([self._answers[place] for place in sorted(self._answers)])

    def _step(self, answers: list[Completion] | None) -> None:
        try:
            asked = next(self._conversation) if answers is None else self._conversation.send(answers)
        except StopIteration as stop:
            self.prediction = stop.value
            return
        self._answers.clear()
        for place, request in enumerate(asked):
            if (answer := self._recall(request)) is None:
                self._open[place] = request
            else:
                self._answers[place] = answer
