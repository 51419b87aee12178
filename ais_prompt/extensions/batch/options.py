"""``batch=dict(...)`` of a model, which the command line may give to every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

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


def translate(
    values: dict[str, Any],
    options: Mapping[str, Any],
    *,
    foreign_summary: bool,  # noqa: ARG001
    folder: Path | None,  # noqa: ARG001
    place: Callable[[str], str],  # noqa: ARG001
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config with ``batch`` in each model and judge if the command line says so, and with known prices.

    See `STEPS`.

    Raises:
        MissingExtra: a price is ``'auto'``, and the package that knows prices is not installed.
    """
    notes: list[Note] = []
    if options.get("batch") or options.get("batch_rest"):
        rest = options.get("batch_rest")
        given = {} if rest is None else {"rest": rest}
        values = _each_model(values, lambda model, _: {**model, "batch": {**(model.get("batch") or {}), **given}})
    if _has_auto(values):
        from ais_prompt.extensions.batch.prices import with_price

        values = _each_model(values, partial(with_price, notes))
    return values, tuple(notes)


Change: TypeAlias = Callable[[Mapping[str, Any], str], Mapping[str, Any]]
"""(model, its config path) → the model as it is to be."""


def _each_model(values: dict[str, Any], change: Change) -> dict[str, Any]:
    """Return the config with every model and judge changed."""
    changed = {**values, "models": _each(change, values.get("models"), "models")}
    if isinstance(datasets := values.get("datasets"), list | tuple):
        changed["datasets"] = [_judges_of(one, f"datasets[{index}]", change) for index, one in enumerate(datasets)]
    return changed


def _judges_of(value: Any, where: str, change: Change) -> Any:
    """Change the judges, wherever they are in a dataset."""
    if isinstance(value, Mapping):
        return {
            key: _each(change, inner, f"{where}.{key}")
            if key == _JUDGE
            else _judges_of(inner, f"{where}.{key}", change)
            for key, inner in value.items()
        }
    return [_judges_of(one, where, change) for one in value] if isinstance(value, list) else value


def _each(change: Change, value: Any, where: str) -> Any:
    if isinstance(value, list | tuple):
        return [_each(change, one, f"{where}[{index}]") for index, one in enumerate(value)]
    return change(value, where) if isinstance(value, Mapping) else value


def _has_auto(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("price") == AUTO or any(map(_has_auto, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_auto, value))


AUTO: Final = "auto"
_JUDGE: Final = "judge_cfg"
