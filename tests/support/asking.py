"""Ask one job, as a run asks many."""

from __future__ import annotations

from ais_prompt.engine import Endpoint, TaskJob, ask_in_memory
from ais_prompt.errors import AisPromptError
from ais_prompt.models import AsyncModel, BatchModel
from ais_prompt.processes import run_coroutine


def ask_alone(job: TaskJob) -> None:
    """Ask one job in this thread, for any kind of model.

    Raises:
        AisPromptError: the task failed; its files are closed.
    """
    if not isinstance(job.model, AsyncModel) or isinstance(job.model, BatchModel):
        ask_in_memory(job, lambda model: model.load())
        return
    errors: list[AisPromptError] = []

    def ended(_: TaskJob, error: AisPromptError | None) -> None:
        if error is not None:
            errors.append(error)

    async def ask() -> None:
        endpoint = Endpoint(ended)
        endpoint.submit(job)
        endpoint.finish()
        await endpoint.run()

    run_coroutine(ask())
    if errors:
        raise errors[0]
