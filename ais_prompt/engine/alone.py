"""Ask all conversations of one task, in this thread."""

from __future__ import annotations

import asyncio

from ais_prompt.engine.batches import ask_in_batches
from ais_prompt.engine.endpoint import Endpoint
from ais_prompt.engine.job import Job
from ais_prompt.errors import AisPromptError, ModelError
from ais_prompt.models.base import AsyncModel, BatchModel


def ask_alone(job: Job) -> None:
    """Ask all of one job in this thread, whatever kind of model it asks.

    Raises:
        AisPromptError: the task failed; its files are closed.
    """
    if isinstance(job.model, AsyncModel) and not isinstance(job.model, BatchModel):
        _ask_served(job)
        return
    job.open()
    try:
        if not isinstance(job.model, BatchModel):
            raise ModelError(
                f"{type(job.model).__name__} answers neither batches nor single requests",
                fix="give it a method generate (a batch) or complete (one request)",
            )
        job.begin()
        ask_in_batches(job, job.model)
        job.conclude()
    except BaseException as error:
        job.abandon(error)
        raise
    job.close()


def _ask_served(job: Job) -> None:
    errors: list[AisPromptError] = []

    def ended(_: Job, error: AisPromptError | None) -> None:
        if error is not None:
            errors.append(error)

    async def ask() -> None:
        endpoint = Endpoint(ended)
        endpoint.submit(job)
        endpoint.finish()
        await endpoint.run()

    asyncio.run(ask())
    if errors:
        raise errors[0]
