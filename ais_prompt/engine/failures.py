"""Failures that end a task, or all tasks of a model, an address or a run.

`FailureWatch` gives up a model that cannot be used. The functions below it tell the errors of one task from those of
all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ais_prompt.errors import (
    AisPromptError,
    InternalError,
    ModelError,
    ReadError,
    Refusal,
    StoreError,
)
from ais_prompt.inferencers import RETRY_HINT
from ais_prompt.parts import exception_line, last_line_in
from ais_prompt.store import system_error
from ais_prompt.types import Completion, Failure, ServerFailure

logger = logging.getLogger(__name__)

MAX_SAME_FAILURES: Final = 10
"""Failures of one kind, with no answer before them, after which a model is given up."""
MAX_REFUSALS: Final = 100
"""The same for requests that a model refuses: the cause may be the prompts of the first samples."""

UNREACHABLE: Final = "unreachable"
_OF_ONE_PROMPT: Final = {"too_long", "content_filter", "empty_prompt", "no_tokens"}
"""Kinds of failures that say nothing about other prompts."""
_OF_ONE_TASK: Final = {"long_choice", "cannot_score"}
"""Kinds of fatal failures whose cause is the dataset: the model may answer the questions of others."""
_REFUSALS: Final = {"http_400", "http_415", "http_422", "out_of_memory", "generation", "scoring"}
"""Kinds of failures whose cause is the prompt or the config; the message says which, in no common form."""


class FailureWatch:
    """Watches the completions of a task, and gives the model up when asking on makes no sense.

    Args:
        has_answered: whether the model has answered earlier requests of the task, so that it is known to be usable.
    """

    def __init__(self, *, has_answered: bool) -> None:
        self._has_answered = has_answered
        self._answered = False
        self._of_one_prompt = 0
        self._failures: list[str] = []
        self._last: Failure | None = None

    def check(self, completion: Completion) -> None:
        """Take the next completion into account.

        Raises:
            ModelError: every request would fail, or all have failed in the same way.
        """
        failure = completion.failure
        # Usable: whatever fails from now on is a matter of single samples, or of an outage.
        if failure is None:
            self._answered = True
            return
        # Says nothing about other prompts.
        if failure.kind in _OF_ONE_PROMPT:
            self._of_one_prompt += 1
            return
        self._failures.append(failure.kind)
        self._last = failure
        # Not there: it was tried again for a while already.
        if failure.kind == UNREACHABLE:
            self.conclude()
        # Unusable: a wrong key, no such model.
        if failure.fatal:
            what = f"every request would fail: {failure.kind}: {failure.message}"
            raise ModelError(what, where=failure.where, fix=RETRY_HINT, refusal=_refusal_of(failure))
        # In doubt: refused from the first request on, perhaps because of the prompts, of which others are tried first.
        if len(self._failures) >= (MAX_REFUSALS if _is_refusal(failure) else MAX_SAME_FAILURES):
            self.conclude()

    @property
    def in_doubt(self) -> bool:
        """Whether the model has answered nothing, and refused so much that prompts of other samples should be tried."""
        refused = self._last is not None and _is_refusal(self._last)
        return refused and not self._answered and len(self._failures) >= MAX_SAME_FAILURES

    def conclude(self) -> None:
        """Give the model up if it has failed in one way only, and never answered.

        Earlier answers speak for the model, and against the samples that are left; but not for a server that is down.
        Failures that belong to one prompt, such as an overlong prompt, say nothing about the model.

        Raises:
            ModelError: it is given up.
        """
        kinds, count = set(self._failures), len(self._failures)
        usable = self._answered or (self._has_answered and kinds != {UNREACHABLE})
        if self._last is not None and not usable and len(kinds) == 1:
            other = "other " if self._of_one_prompt else ""
            only = "first" if self._last.kind == UNREACHABLE else "only"  # others may be under way
            number = f"the {only} {other}request" if count == 1 else f"all {count} {other}requests so far"
            what = f"{number} failed: {self._last.kind}: {self._last.message}"
            raise ModelError(what, where=self._last.where, fix=RETRY_HINT, refusal=_refusal_of(self._last))


def is_of_model(failure: Failure) -> bool:
    """Return whether a failure that ended a task would end each task of its model: a wrong key, no such model."""
    return (failure.fatal and failure.kind not in _OF_ONE_TASK) or failure.kind == UNREACHABLE


def is_of_endpoint(failure: Failure) -> bool:
    """Return whether a failure says the same of all models that are asked at an address with one key."""
    return failure.kind in ("http_401", UNREACHABLE)


def _refusal_of(failure: Failure) -> Refusal | None:
    """Return what a server says to every request, or why it is not reached; None for other failures."""
    if not isinstance(failure, ServerFailure):
        return None
    if failure.kind == UNREACHABLE:
        return Refusal("", failure.words, failure.address, failure.hint)
    kind, _, status = failure.kind.partition("_")
    return Refusal(status, failure.words, failure.address, failure.hint) if kind == "http" and failure.fatal else None


def _is_refusal(failure: Failure) -> bool:
    return failure.kind in _REFUSALS or failure.kind.startswith("response_")


def ends_run(error: BaseException) -> bool:
    """Return whether an error ends all tasks: a full disk is full for every task."""
    return isinstance(error, StoreError) and not isinstance(error, ReadError)


def fault_of(action: Callable[[], None]) -> AisPromptError | None:
    """Do something for a job, and return the error that ends it; raise an error that ends all jobs."""
    try:
        action()
    except Exception as error:
        if ends_run(error):
            raise
        return error_of(error)
    return None


def error_of(error: BaseException) -> AisPromptError:
    """Return the error that a task ends with: the raised error, or an `InternalError` for an unforeseen exception."""
    if isinstance(error, AisPromptError):
        return error
    if refused := system_error(error):
        return refused
    logger.info("unforeseen", exc_info=error)
    return InternalError(
        f"unexpected {exception_line(error)}",
        where=last_line_in(error, lambda _: True),
        fix="this is a bug of aisprompt; logs/run.log has the traceback",
    )
