"""Rows that take the place of a dataset's loader, with the columns that its config names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from ais_prompt.readers.arrow.batches import ArrowBatches
from ais_prompt.readers.arrow.table import Table
from ais_prompt.types import DatasetSpec

TRAIN_ROWS: Final = 64
TEST_ROWS: Final = 4

SHAPES: Final[Mapping[str, Any]] = {
    "letter": "A",
    "number": "3",
    "texts": ["A", "B"],
    "integer": 0,
    "solution": "so\n#### 3",
    "object": {"answer": "A", "text": ["A"], "answers": ["A"]},
    "json": json.dumps({"answer": "A"}),
    "nested": [["A"], ["B"]],
    "keywords": "A*B",
    "keywords and depths": "A*B#10*20",
    "rotated": "question--A--0",
    "program": "def f(x):\n    return x\n",
}
"""Name → what the gold and unknown columns hold; the shape that an evaluator expects is not known beforehand."""

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


class MadeUpRows:
    """Read rows that were made up.

    Args:
        columns: names of the columns that hold texts.
        gold: name of the column with the answer; None if there is none.
        shape: a key of `SHAPES`.
        unknown: columns that only the evaluator reads; they have the shape of the gold.
        golds: what the gold is one of, where the config says it, such as labels.
        splits: names of the splits; the last one is the test split.
    """

    def __init__(
        self,
        columns: Sequence[str],
        gold: str | None,
        shape: str,
        unknown: Sequence[str] = (),
        golds: Sequence[Any] = (),
        splits: Sequence[str] = ("train", "test"),
    ) -> None:
        self._columns = columns
        self._gold = gold
        self._value = SHAPES[shape]
        self._unknown = unknown
        self._golds = list(golds)
        self._splits = tuple(splits)

    def splits(self) -> tuple[str, ...]:
        """Return the splits that the config names."""
        return self._splits

    def read(self, split: str) -> Table:
        """Return the rows of a split."""
        is_only_test = split == self._splits[-1] and len(self._splits) > 1
        count = TEST_ROWS if is_only_test else TRAIN_ROWS
        rows = pa.Table.from_pylist([self._row(split, number) for number in range(count)])
        return Table(ArrowBatches(rows), ["made-up rows"])

    def _row(self, split: str, number: int) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(self._unknown, self._value)
        row |= {column: f"{column} {number} of {split}" for column in self._columns}
        if self._gold is not None and self._gold not in self._columns:
            row[self._gold] = self._golds[number % len(self._golds)] if self._golds else self._value
        return row


def made_up(dataset: DatasetSpec, shape: str, unknown: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `MadeUpRows` for a dataset."""
    reader, infer = dataset.reader, dataset.infer
    templates = [part.args for part in (infer.ice_template, infer.prompt_template) if part is not None]
    named = [name for args in templates for name in _PLACEHOLDER.findall(json.dumps(args, default=str))]
    columns = [*reader.input_columns, *reader.gold_columns, *named]
    gold = reader.output_column
    return {
        "columns": [name for name in dict.fromkeys(columns) if name != gold or name in reader.input_columns],
        "gold": gold,
        "shape": shape,
        "unknown": [name for name in unknown if name != gold],
        "golds": _labels(templates),
        "splits": list(dict.fromkeys([reader.train_split, reader.test_split])),
    }


def _labels(templates: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the labels of a template that has a text for each; none for any other."""
    for args in templates:
        template = args.get("template")
        if isinstance(template, Mapping) and not {"round", "begin", "end"} & set(template):
            return list(template)
    return []
