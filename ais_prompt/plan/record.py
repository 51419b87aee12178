"""Prepare the record of a session, for every verb that writes a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ais_prompt.config.render import render_config
from ais_prompt.plan.plan import Plan
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.run_record import RunRecord


def record_of(
    plan: Plan,
    folder: RunFolder,
    command: str,
    addresses: Mapping[str, str] | None = None,
    *,
    asks: bool = False,
    notes: Sequence[str] = (),
) -> RunRecord:
    """Return the record of a session of a plan; the arguments are those of `RunRecord`.

    Raises:
        StoreError: as `RunRecord`.
    """
    config = render_config(plan.spec.resolved)
    return RunRecord(folder, config, command, addresses, asks=asks, notes=notes, trusted=plan.spec.trusted)
