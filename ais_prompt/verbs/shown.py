"""What the progress of a run shows: its tasks and the endpoints that are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from ais_prompt.errors import AisPromptError
from ais_prompt.models.base import AsyncModel, Model, address_of, endpoint_of
from ais_prompt.plan.plan import Plan, PlannedModel
from ais_prompt.report.run_tally import EndpointView, RunTally
from ais_prompt.types import Activity, Used


def run_tally(
    plan: Plan, *, asks_models: bool, asks_judges: bool, used: Callable[[], Used], scoring: Callable[[], str]
) -> RunTally:
    """Return the counts of a run that is about to start.

    Args:
        plan: of the run.
        asks_models, asks_judges: who is asked.
        used, scoring: as for `RunTally`.
    """
    asked = [*(plan.models if asks_models else ()), *(plan.judges if asks_judges else ())]
    sizes = {task.name: task.dataset.size for task in plan.tasks} if asks_models else {}
    return RunTally(sizes, _endpoints(asked), used, scoring)


def _endpoints(asked: Sequence[PlannedModel]) -> list[EndpointView]:
    """Return the endpoints of models; a model that cannot be built has none, and its tasks end at once."""
    groups: dict[str, list[tuple[str, Model]]] = {}
    for planned in asked:
        with suppress(AisPromptError):
            groups.setdefault(endpoint_of(planned.model), []).append((planned.spec.abbr, planned.model))
    addresses = [address_of(models[0][1]) for models in groups.values()]
    return [
        EndpointView(
            _name(address, models, several=addresses.count(address) > 1),
            frozenset(abbr for abbr, _ in models),
            partial(_activity, models),
        )
        for address, models in zip(addresses, groups.values(), strict=True)
    ]


def _name(address: str | None, models: Sequence[tuple[str, Model]], *, several: bool) -> str:
    """Return ``127.0.0.1:8000``, with the models' names if several accounts ask there.

    A server that is started, several servers and a local model are called after the models.
    """
    url, names = urlsplit(address or ""), ", ".join(abbr for abbr, _ in models)
    if url.scheme not in ("http", "https") or "," in url.geturl() or " " in url.geturl():
        return names
    return f"{url.netloc} ({names})" if several else url.netloc


def _activity(models: Sequence[tuple[str, Model]]) -> Activity:
    """Return what the models of one endpoint are doing together."""
    found = []
    for _, model in models:
        with suppress(AisPromptError):  # a user-defined model; the display goes on without it
            found += [model.activity()] if isinstance(model, AsyncModel) else []
    waiting = min((one for one in found if one.waiting), key=lambda one: one.seconds, default=Activity())
    return Activity(
        sum(one.in_flight for one in found),
        sum(one.waiting for one in found),
        waiting.reason,
        waiting.seconds,
        tuple(dict(away for one in found for away in one.away).items()),
    )
