"""A conversation under way: what it has asked, what is answered, and whether it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ais_prompt.inferencers.base import Conversation
from ais_prompt.types import Completion, Prediction, Request

Recall: TypeAlias = Callable[[Request], Completion | None]
"""What was answered before: the completion for a request, or None."""


class Dialogue:
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
        self._asked: list[Request] = []
        self._answers: list[Completion | None] = []
        self._step(None)

    def open_requests(self) -> list[Request]:
        """What must be answered before the conversation goes on; empty when it is over."""
        return [request for request, answer in zip(self._asked, self._answers, strict=True) if answer is None]

    def answer(self, request: Request, completion: Completion) -> None:
        """Give the answer to one of `open_requests`; after the last one the conversation goes on."""
        self.recalled = False
        for place, asked in enumerate(self._asked):
            if asked is request and self._answers[place] is None:
                self._answers[place] = completion
                break
        self._go_on()

    def _go_on(self) -> None:
        while self.prediction is None:
            answers = [answer for answer in self._answers if answer is not None]
            if len(answers) < len(self._asked):
                return
            self._step(answers)

    def _step(self, answers: list[Completion] | None) -> None:
        try:
            asked = next(self._conversation) if answers is None else self._conversation.send(answers)
        except StopIteration as stop:
            self.prediction = stop.value
            self._asked, self._answers = [], []
            return
        self._asked = list(asked)
        self._answers = [self._recall(request) for request in self._asked]
        if answers is None:
            self._go_on()
