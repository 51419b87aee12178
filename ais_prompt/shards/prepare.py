"""Prepare a run for a runner, which starts its shards."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ais_prompt.engine.workers import gpus_of
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.models.base import BatchModel
from ais_prompt.models.server.started import StartsServer
from ais_prompt.plan.build import build_runner
from ais_prompt.plan.plan import Plan, PlannedModel
from ais_prompt.shards.partition import groups_of
from ais_prompt.shards.runner import Runner, ShardWork
from ais_prompt.store.layout import RunFolder, safe_name
from ais_prompt.types import Budget


def open_runner(plan: Plan, max_num_workers: int | None = None) -> Runner:
    """Build the runner of a config that has one.

    Args:
        plan: of a checked config.
        max_num_workers: replaces the number of shards that work at a time.

    Raises:
        ConfigError: it has no such number.
    """
    assert plan.spec.runner is not None
    runner: Runner = build_runner(plan.spec.runner, max_num_workers)
    return runner


def work_of(plan: Plan, words: Sequence[str]) -> ShardWork:
    """Return what a runner starts, with a name in place of the run folder that is still to be made.

    Args:
        plan: of a checked config.
        words: the arguments of ``aisprompt`` that name the config, without those that are a shard's own.
    """
    root = plan.spec.work_dir.absolute() / safe_name(plan.spec.name) / "NEW"
    gpus = max((_gpus(model) for model in plan.models), default=0)
    return ShardWork(RunFolder(root), plan.spec.name, tuple(words), gpus, len(groups_of(plan)))


def share_of(budget: Budget, count: int) -> Budget:
    """Return the part of a budget that each of several shards has, so that all of them together keep to it.

    Raises:
        ConfigError: there are more shards than requests or tokens.
    """
    shares = {
        "max_requests": None if budget.max_requests is None else budget.max_requests // count,
        "max_tokens_total": None if budget.max_tokens_total is None else budget.max_tokens_total // count,
    }
    if short := [name for name, share in shares.items() if share == 0]:
        what = f"{short[0]} is smaller than the number of shards, {count}"
        raise ConfigError(what, where="budget", fix="use fewer shards, or a larger budget")
    return Budget(**shares, max_cost=None if budget.max_cost is None else budget.max_cost / count)


def _gpus(planned: PlannedModel) -> int:
    """Return how many GPUs a shard needs for a model; 0 for one behind a server that runs elsewhere."""
    with suppress(AisPromptError):  # one that cannot be built ends its tasks
        model = planned.model
        if isinstance(model, BatchModel) or (isinstance(model, StartsServer) and model.server):
            return gpus_of(planned.spec)
    return 0
