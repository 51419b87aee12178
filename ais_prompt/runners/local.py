"""Runs tasks one after the other in this process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from ais_prompt.errors import AisPromptError, InternalError, ModelError, PartError, StoreError
from ais_prompt.models.base import Model
from ais_prompt.plan.plan import Task
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.places import last_line_in

logger = logging.getLogger(__name__)


def run_local(tasks: Iterable[Task], work: Callable[[Task], None]) -> Iterator[tuple[Task, AisPromptError | None]]:
    """Do every task; a task that cannot go on does not stop the others.

    Neighbouring tasks of one model share it, so that it is loaded once.

    Args:
        tasks: all tasks of a model together.
        work: does one task.

    Yields:
        Each task when it is over, with the error that ended it, or None.

    Raises:
        StoreError: answers can no longer be written down.
    """
    for _, group in groupby(tasks, key=lambda task: task.spec.model):
        first, *others = group
        try:
            model = first.model
        except AisPromptError as error:
            yield from ((task, error) for task in (first, *others))
            continue
        try:
            for task in (first, *others):
                yield task, _attempt(work, task)
        finally:
            _close(model)


def _attempt(work: Callable[[Task], None], task: Task) -> AisPromptError | None:
    try:
        work(task)
    except StoreError:  # a full disk is full for all tasks
        raise
    except AisPromptError as error:
        return error
    except Exception as error:
        return internal_error(error)
    return None


def internal_error(error: Exception) -> AisPromptError:
    """The error for an exception that nothing foresaw, and for the end of the memory."""
    if isinstance(error, MemoryError):
        return ModelError("no memory left", fix="use a smaller batch_size or max_concurrency, and go on with -r")
    logger.info("unforeseen", exc_info=error)
    return InternalError(
        f"unexpected {exception_line(error)}",
        where=last_line_in(error, lambda _: True),
        fix="this is a bug of aisprompt; logs/run.log has the traceback",
    )


def _close(model: Model) -> None:
    """Close a model. Its answers are there already, so that nothing it raises matters to them."""
    try:
        model.close()
    except PartError as error:
        logger.warning("%s", "\n  ".join(error.lines()))
