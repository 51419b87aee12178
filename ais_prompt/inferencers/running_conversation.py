"""`RunningConversation`: the state of one conversation: its open requests, their answers, and its prediction.

The functions below contain what parts and servers do: an error about one sample fails that sample alone, and answers
hold no secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.inferencers.base import Conversation
from ais_prompt.parts import part_error
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Completion, Failure, Prediction, Request

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


RAISED: Final = "raised"
"""The kind of failure of a sample for which a part raised an error, or returned a value of the wrong type."""
UNUSABLE_ROW: Final = "unusable_row"
"""The kind of failure of a sample whose row cannot be asked: a column is missing, or holds another kind of value."""
RETRY_HINT: Final = "fix the cause and go on with `-r`: what was answered is kept"


def ends_task(error: Exception) -> bool:
    """Return whether an error ends its task, because it is not about a single sample."""
    return isinstance(error, MemoryError) or (isinstance(error, AisPromptError) and not isinstance(error, PartError))


def failure_of(error: BaseException, name: str) -> Failure:
    """Return the failure of a sample for which a part raised an error.

    Args:
        error: the error.
        name: the part that raised it, for errors that do not name it.
    """
    known = error if isinstance(error, PartError) else part_error(error, name, None)
    return Failure(RAISED, known.what, where=known.where)


def without_secrets(completion: Completion) -> Completion:
    """Return the completion with ``***`` in place of secrets, and their number in ``redacted``.

    The redacted text is recorded, scored and sent in the next turn, so that a resumed run sends the same requests.
    """
    text, in_text = SECRETS.hide_and_count(completion.text)
    reasoning, in_reasoning = SECRETS.hide_and_count(completion.reasoning)
    calls, in_calls = completion.tool_calls, 0
    if calls:
        hidden = [SECRETS.hide_and_count(call.arguments) for call in calls]
        calls = tuple(replace(call, arguments=text) for call, (text, _) in zip(calls, hidden, strict=True))
        in_calls = sum(count for _, count in hidden)
    if failure := completion.failure:
        failure = replace(failure, message=SECRETS.hide_in_message(failure.message))
    redacted = in_text + in_reasoning + in_calls
    if not (redacted or failure):
        return completion
    tokens = () if redacted else completion.tokens  # a secret may be in pieces
    changes = {"text": text, "reasoning": reasoning, "failure": failure, "redacted": redacted, "tool_calls": calls}
    return replace(completion, tokens=tokens, **changes)
