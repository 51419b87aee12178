"""What all shards of a run must agree on, and what the config of a merge must agree with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import asdict

from ais_prompt.engine.conversations import conversations
from ais_prompt.errors import AisPromptError
from ais_prompt.plan.plan import Plan, Task
from ais_prompt.store.request_keys import RequestKeys
from ais_prompt.types import Request
from ais_prompt.utils.jsonl import decode_own, encode
from ais_prompt.utils.secrets import SECRETS
from ais_prompt.utils.versions import versions


def agreement(plan: Plan, tasks: Iterable[Task]) -> dict[str, Any]:
    """Return what is asked of which rows in some tasks of a plan; not where a server is, or how fast.

    Parts that cannot be used are None: they end their tasks. Secrets are hidden, and all values are those that
    their JSON is read back as, so that they can be compared with what other shards have written.
    """
    names = [task.name for task in plan.spec.tasks]
    agreed: dict[str, Any] = {"version": versions().get("ais-prompt", ""), "tasks": names}
    agreed |= {"models": {}, "datasets": {}, "decoding": {}, "rows": {}, "requests": {}}
    sections = dict(zip((dataset.abbr for dataset in plan.spec.datasets), plan.spec.resolved["datasets"], strict=True))
    for task in tasks:
        model, dataset = task.spec.model.abbr, task.spec.dataset.abbr
        agreed["datasets"][dataset] = {key: value for key, value in sections[dataset].items() if key != "eval_cfg"}
        agreed["models"][model] = agreed["rows"][dataset] = None
        agreed["decoding"][task.name] = agreed["requests"][task.name] = None
        with suppress(AisPromptError):
            agreed["models"][model] = dict(task.model.identity())
        with suppress(AisPromptError):
            agreed["rows"][dataset] = task.data.digest
        with suppress(AisPromptError):
            first, key_of = _first_requests(task), RequestKeys(task.model.identity())
            agreed["decoding"][task.name] = asdict(first[0].decoding) if first else {}
            agreed["requests"][task.name] = [key_of(request) for request in first]
    return dict(decode_own(SECRETS.hide_in_json(encode(agreed))))


def agreement_on(agreed: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Return the part of an agreement that one task is about."""
    model, dataset = task.spec.model.abbr, task.spec.dataset.abbr
    places = {"models": model, "datasets": dataset, "decoding": task.name, "rows": dataset, "requests": task.name}
    return {"version": agreed.get("version"), **{kind: agreed.get(kind, {}).get(name) for kind, name in places.items()}}


def _first_requests(task: Task) -> list[Request]:
    """Return the first requests of a task, whose keys hold its prompt."""
    for conversation in conversations(task, lambda _: None, task.data.test[:1]):
        return conversation.open_requests()
    return []
