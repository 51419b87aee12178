"""``--control``: the same config with spoiled questions, in a run of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.utils import listed

KINDS: Final = ("blank", "swap", "shuffle")
_USUAL: Final[Mapping[str, Sequence[str]]] = {
    "blank": ("question", "problem", "query", "input", "prompt"),
    "swap": ("passage", "context", "article", "document", "paragraph", "story"),
    "shuffle": ("choices", "options"),
}
"""What the columns are usually called."""


def with_control(values: Mapping[str, Any], text: str, name: str) -> dict[str, Any]:
    """Return the values of a config with ``control`` in the ``reader_cfg`` of each dataset, and a name of its own.

    Args:
        values: of the config, in terms of this program.
        text: a kind, or ``kind=column,column``. Each dataset takes those of the columns that it has.
        name: of the config.

    Raises:
        ConfigError: there is no such kind, or a dataset has none of the columns, or has no column of a usual name.
    """
    kind, _, named = text.partition("=")
    if kind not in KINDS:
        raise ConfigError(f"there is no control {kind!r}", where="--control", fix=f"give one of {listed(KINDS)}")
    columns = [column.strip() for column in named.split(",") if column.strip()]
    datasets = []
    for number, dataset in enumerate(values.get("datasets") or ()):
        reader = dataset.get("reader_cfg") if isinstance(dataset, Mapping) else None
        if not isinstance(reader, Mapping):
            datasets.append(dataset)  # its fault is said later
            continue
        inputs = reader.get("input_columns") or ()
        has = [inputs] if isinstance(inputs, str) else list(inputs)
        found = [column for column in columns if column in has] if columns else _usual_columns(kind, has)
        if not found:
            what = f"the dataset has no column {listed(columns)}" if columns else f"no column says what to {kind}"
            where = f"--control {text}, datasets[{number}]"
            raise ConfigError(
                what, where=where, fix=f"name some of its input_columns: --control {kind}={','.join(has)}"
            )
        datasets.append({**dataset, "reader_cfg": {**reader, "control": {"type": kind, "columns": found}}})
    return {**values, "datasets": datasets, "run_name": f"{values.get('run_name') or name}-{kind}"}


def _usual_columns(kind: str, has: Sequence[str]) -> list[str]:
    """Return the columns that a control is about; empty if their names do not tell."""
    letters = [column for column in has if len(column) == 1 and column.isupper()]
    if kind == "shuffle" and len(letters) > 1:
        return letters
    found = [column for column in has if column.lower() in _USUAL[kind]]
    return list(has) if kind == "blank" and len(has) == 1 else found[:1]
