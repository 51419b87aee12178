"""Run tasks in this process: served models side by side, models in its memory one after the other."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import groupby

from ais_prompt.engine.alone import ask_alone
from ais_prompt.engine.engine import Engine
from ais_prompt.engine.failures import error_of
from ais_prompt.engine.infer import TaskJob
from ais_prompt.engine.job import Job
from ais_prompt.errors import AisPromptError, PartError, StoreError
from ais_prompt.models.base import AsyncModel, BatchModel, Model
from ais_prompt.plan.plan import Task

logger = logging.getLogger(__name__)


def run_local(
    tasks: Sequence[Task],
    job_of: Callable[[Task], TaskJob],
    ended: Callable[[Task, TaskJob | None, AisPromptError | None], None],
) -> None:
    """Ask about every task; one that cannot go on does not stop the others.

    A model in this process's memory is closed after the last of its tasks, so that two of them never share a device.

    Args:
        tasks: in the order in which they are to start, all tasks of a model together.
        job_of: makes the job of a task.
        ended: called in any thread when a task is over, with its job unless the model could not be built, and with the
            error that ended it, or None.

    Raises:
        StoreError: answers can no longer be written down.
    """
    left = Counter(id(task.dataset) for task in tasks)
    lock = threading.Lock()

    def job_ended(job: Job, error: AisPromptError | None) -> None:
        assert isinstance(job, TaskJob)
        ended(job.task, job, error)
        with lock:
            left[id(job.task.dataset)] -= 1
            if not left[id(job.task.dataset)] and job.task.dataset.judge is None:  # a judge asks about its rows
                job.task.dataset.release()

    local: list[tuple[Model, list[TaskJob]]] = []
    with ExitStack() as served, Engine(job_ended) as engine:
        for _, group in groupby(tasks, key=lambda task: task.spec.model):
            of_model = list(group)
            try:
                model = of_model[0].model
                is_served = isinstance(model, AsyncModel) and not isinstance(model, BatchModel)  # reads its attributes
            except AisPromptError as error:
                for task in of_model:
                    ended(task, None, error)
                continue
            jobs = list(map(job_of, of_model))
            if is_served:
                served.callback(_close, model)
                for job in jobs:
                    engine.submit(job)
            else:
                local.append((model, jobs))
        while local:
            _ask_here(*local.pop(0), job_ended)
        engine.wait()


def _ask_here(model: Model, jobs: Sequence[TaskJob], ended: Callable[[Job, AisPromptError | None], None]) -> None:
    try:
        for job in jobs:
            error = None
            try:
                ask_alone(job)
            except StoreError:  # a full disk is full for all tasks
                raise
            except Exception as raised:
                error = error_of(raised)
            ended(job, error)
    finally:
        _close(model)


def _close(model: Model) -> None:
    """Close a model. Its answers are there already, so that nothing it raises matters to them."""
    try:
        model.close()
    except PartError as error:
        logger.warning("%s", "\n  ".join(error.lines()))
