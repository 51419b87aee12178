"""Which samples of two runs are the same question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError
from ais_prompt.plan.build import read_dataset
from ais_prompt.regression.scored_task import ScoredTask
from ais_prompt.types import DatasetSpec
from ais_prompt.utils.digest import canonical


def with_common_names(before: ScoredTask, after: ScoredTask) -> tuple[ScoredTask, ScoredTask]:
    """Return the runs with the same name for the same question, as far as that is known.

    Ids are digests of the input columns. If the runs have none in common, because they name other columns, samples are
    paired by their whole rows, or else by the input columns that both name, with the values in the data. That needs the
    data; without them the runs are returned as they are.

    Raises:
        StoreError, DataError: predictions are missing or broken.
    """
    if before.knows_only_rows != after.knows_only_rows:
        return replace(before, by_row=True), replace(after, by_row=True)
    if before.predictions.keys() & after.predictions.keys():
        return before, after
    rows = replace(before, by_row=True), replace(after, by_row=True)
    if rows[0].predictions.keys() & rows[1].predictions.keys():
        return rows
    names = _names_in(before.spec.dataset, after.spec.dataset)
    return replace(before, names=names), after


def _names_in(before: DatasetSpec, after: DatasetSpec) -> dict[str, str]:
    """Return id in the first run → id in the second."""
    columns = [name for name in after.reader.input_columns if name in before.reader.input_columns]
    if not columns:
        return {}
    try:
        ids = dict(_keys(after, columns))
        return {name: ids[key] for key, name in _keys(before, columns) if key in ids}
    except AisPromptError:
        return {}


def _keys(dataset: DatasetSpec, columns: Sequence[str]) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield what each row has in these columns, with how many rows before have the same; and its id."""
    seen: Counter[str] = Counter()
    for sample in read_dataset(dataset).test:
        key = canonical([sample.fields.get(column) for column in columns])
        yield (key, seen[key]), sample.id
        seen[key] += 1
