"""The options about batches, and the steps of a run at which they act; a run without any imports nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ais_prompt.models import Model
    from ais_prompt.plan import Plan
    from ais_prompt.store import RunFolder
    from ais_prompt.types import ModelSpec

BATCH: Final = click.option(
    "--batch", is_flag=True, help="Ask every model and judge through the batch API of its provider."
)
BATCH_REST: Final = click.option(
    "--batch-rest",
    type=click.Choice(["batch", "direct"]),
    help="With --batch: how requests that a batch leaves open are asked again.  [default: batch]",
)


def in_batches(spec: ModelSpec, model: Model) -> Model | None:
    """Return the model that is asked in batches, if its config says so; see `STEPS`.

    Raises:
        ConfigError: it cannot be asked in batches; the message says why.
    """
    if (batch := spec.further.get("batch")) is None:
        return None
    from ais_prompt.extensions.batch.model import batched

    return batched(batch, model)


def begin(folder: RunFolder, plan: Plan, mode: str) -> None:
    """Say where the batches of a run are recorded, and refuse to pay for those under way again; see `STEPS`.

    Raises:
        ConfigError: batches are under way, and their model is no longer asked in batches: all would be paid twice.
    """
    specs = [planned.spec for planned in (*plan.models, *plan.judges)]
    if not any("batch" in spec.further for spec in specs) and not (folder.root / "batches").exists():
        return
    from ais_prompt.extensions.batch.model import begin_run

    begin_run(folder, plan, mode)
