"""Options that change the questions of all datasets of a config.

``--sample`` draws them at random. ``--control`` spoils them, in a run of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.config import Options
from ais_prompt.data import allot, number_drawn
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.plan.build import read_dataset
from ais_prompt.types import DRAW_EXAMPLES, DatasetSpec, DrawSpec, RunSpec, SummaryGroup, parse_draw
from ais_prompt.utils import listed

KINDS: Final = ("blank", "swap", "shuffle")
_USUAL: Final[Mapping[str, Sequence[str]]] = {
    "blank": ("question", "problem", "query", "input", "prompt"),
    "swap": ("passage", "context", "article", "document", "paragraph", "story"),
    "shuffle": ("choices", "options"),
}
"""Kind of control → what the columns are usually called."""


def with_sample(values: Mapping[str, Any], spec: RunSpec, options: Options) -> dict[str, Any]:
    """Return the values of a config with ``sample`` in the ``reader_cfg`` of each dataset.

    Datasets of one group of the summary divide the number of questions in proportion to their sizes, at least one each.
    Any other dataset has the number for itself.

    Args:
        values: of the config, in terms of this program.
        spec: parsed from the values.
        options: draw ``sample`` of the questions of each dataset, or of the first ``num_prompts``.

    Raises:
        ConfigError: the options say no number of questions, or less than one for each dataset of a group.
    """
    try:
        draw = parse_draw({"size": options.sample})
    except ValueError as error:
        what = f"--sample cannot be {options.sample!r}: {error}"
        raise ConfigError(what, where="--sample", fix=f"give {DRAW_EXAMPLES}") from None
    sizes: dict[str, int | str] = {}
    for datasets in _units(spec.datasets, spec.summary.groups):
        shares = _shares(datasets, draw, options.num_prompts) if len(datasets) > 1 else None
        sizes |= [(one.abbr, draw.size or str(options.sample)) for one in datasets] if shares is None else shares
    more = {"seed": options.sample_seed or 0, **({"by": options.sample_by} if options.sample_by else {})}
    drawn = [
        {**dataset, "reader_cfg": {**dataset["reader_cfg"], "sample": {"size": sizes[one.abbr], **more}}}
        for dataset, one in zip(values["datasets"], spec.datasets, strict=True)
    ]
    return {**values, "datasets": drawn}


def _units(datasets: Sequence[DatasetSpec], groups: Sequence[SummaryGroup]) -> list[list[DatasetSpec]]:
    """Return the datasets, together those that groups connect."""
    members: dict[str, set[str]] = {dataset.abbr: {dataset.abbr} for dataset in datasets}
    of_group: dict[str, set[str]] = {}
    for group in groups:  # each after the groups that it is made of
        named = [of_group.get(entry.name) or members.get(entry.name, set()) for entry in group.subsets]
        joined = of_group[group.name] = set().union(*named)
        for abbr in list(joined):
            joined |= members[abbr]
        members |= dict.fromkeys(joined, joined)
    units: dict[int, list[DatasetSpec]] = {}
    for dataset in datasets:
        units.setdefault(id(members[dataset.abbr]), []).append(dataset)
    return list(units.values())


def _shares(datasets: Sequence[DatasetSpec], draw: DrawSpec, limit: int | None) -> dict[str, int] | None:
    """Return the number of questions of each dataset of a group; None if one cannot be read, as the check will say.

    Raises:
        ConfigError: there are more datasets than questions.
    """
    whole = [replace(dataset, reader=replace(dataset.reader, sample=None)) for dataset in datasets]
    try:
        rows = [len(read_dataset(dataset).test[:limit]) for dataset in whole]
    except AisPromptError:
        return None
    if 0 in rows:
        return None
    total = number_drawn(draw, sum(rows))
    try:
        counts = allot(total, rows)
    except ValueError as error:
        names = listed([dataset.abbr for dataset in datasets], 3)
        what = f"{error}: datasets of a group divide the questions ({names})"
        raise ConfigError(what, where="--sample", fix=f"draw {len(rows)} or more") from None
    return {dataset.abbr: count for dataset, count in zip(datasets, counts, strict=True)}


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
