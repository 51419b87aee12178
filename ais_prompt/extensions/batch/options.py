"""``batch=dict(...)`` of a model, and the options of the command line that give it to every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import click
from msgspec import Meta, Struct

from ais_prompt.config import KeyTable, Note, SectionForm
from ais_prompt.types import Count, Key

Seconds: TypeAlias = Annotated[float, Meta(gt=0)]
SECONDS: Final = "a number of seconds above 0"
Rest: TypeAlias = Literal["batch", "direct"]


class BatchSpec(Struct, frozen=True):
    """How a model is asked through the batch API of its provider. No answer depends on it.

    Attributes:
        rest: how requests are asked again that expired, were cancelled, or failed for a moment: in a further `batch`,
            or `direct`, one by one at the full price.
        rounds: batches that a request goes into before it counts as failed, or is asked directly.
        max_requests: most requests of a batch, and most samples that are under way at a time. Each keeps about 10 kB
            of memory besides its prompt.
        max_bytes: most bytes of a batch.
        gather: seconds without a further request after which a batch is sent.
        poll: seconds until the first look at a batch. The pause grows by half with each look.
        longest_poll: the longest pause.
    """

    rest: Annotated[Rest, Key("'batch' or 'direct'")] = "batch"
    rounds: Annotated[Count, Key("a number from 1")] = 3
    max_requests: Annotated[Count | None, Key("a number from 1", default="what the provider takes")] = None
    max_bytes: Annotated[Count | None, Key("a number from 1", default="what the provider takes")] = None
    gather: Annotated[Seconds, Key(SECONDS)] = 5.0
    poll: Annotated[Seconds, Key(SECONDS)] = 15.0
    longest_poll: Annotated[Seconds, Key(SECONDS)] = 300.0


FORM: Final = SectionForm(KeyTable("How a model is asked in batches", "models[i].batch", BatchSpec))

BATCH: Final = click.option(
    "--batch", is_flag=True, help="Ask every model and judge through the batch API of its provider."
)
BATCH_REST: Final = click.option(
    "--batch-rest",
    type=click.Choice(["batch", "direct"]),
    help="With --batch: how requests that a batch leaves open are asked again.  [default: batch]",
)


def with_batches(
    values: dict[str, Any],
    options: Mapping[str, Any],
    *,
    foreign_summary: bool,  # noqa: ARG001
    folder: Path | None,  # noqa: ARG001
    place: Callable[[str], str],  # noqa: ARG001
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config with ``batch`` in every model and judge, if the command line says so; see `STEPS`."""
    rest = options.get("batch_rest")
    if not options.get("batch") and rest is None:
        return values, ()
    given = {} if rest is None else {"rest": rest}

    def changed(model: Any) -> Any:
        return {**model, "batch": {**(model.get("batch") or {}), **given}} if isinstance(model, Mapping) else model

    def with_judges(value: Any) -> Any:
        """Change the judges, wherever they are in a dataset."""
        if isinstance(value, Mapping):
            return {
                key: _each(changed, inner) if key in _JUDGES else with_judges(inner) for key, inner in value.items()
            }
        return [with_judges(one) for one in value] if isinstance(value, list) else value

    models = _each(changed, values.get("models"))
    datasets = values.get("datasets")
    if isinstance(datasets, list | tuple):
        datasets = [
            {**one, "eval_cfg": with_judges(one["eval_cfg"])} if isinstance(one, Mapping) and "eval_cfg" in one else one
            for one in datasets
        ]
    return {**values, "models": models, **({} if datasets is None else {"datasets": datasets})}, ()


_JUDGES: Final = ("judge_cfg",)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    return list(map(change, value)) if isinstance(value, list | tuple) else change(value)
