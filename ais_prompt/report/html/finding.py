"""Filter, search and sort the samples of an index."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import numpy as np
from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.report.html.full_text import FullText
from ais_prompt.report.html.index import STATES, Index, json_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

SORTED_BY: Final = frozenset(
    ["state", "question", "extracted", "gold", "value", "length", "seconds", "model", "dataset", "index"]
)


class Query(Struct, frozen=True):
    """Which samples are wanted, in which order.

    Attributes:
        model, dataset: their ``abbr``; empty for all.
        states: of `STATES`; empty for all.
        columns: column of the data → its value as JSON, since 1 and true are equal in Python.
        text: what a sample contains; empty for all.
        sort: one of `SORTED_BY`; empty for the order of the data.
        down: from the largest to the smallest.
    """

    model: str = ""
    dataset: str = ""
    states: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    text: str = ""
    sort: str = ""
    down: bool = False

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read the query part of an address, as the page writes it.

        Raises:
            ConfigError: it is not one.
        """
        values = parse_qs(text)
        try:
            pairs = [json.loads(text) for text in values.get("column", ())]
            columns = tuple((str(name), json_text(value)) for name, value in pairs)
        except (TypeError, ValueError):
            raise ConfigError("the address has a column that is no pair", fix="open the report again") from None
        first = {name: found[0] for name, found in values.items()}
        sort = first.get("sort", "")
        return cls(
            first.get("model", ""),
            first.get("dataset", ""),
            tuple(state for state in values.get("state", ()) if state in STATES),
            columns,
            first.get("query", ""),
            sort if sort in SORTED_BY else "",
            first.get("down") == "true",
        )


class Found(Struct, frozen=True):
    """The samples that pass a query.

    Attributes:
        rows: their numbers in the index, in order.
        states: number of samples in each state that pass all filters but that of states.
        share: how much of the texts was searched, 0 to 1.
    """

    rows: NDArray[np.int64]
    states: Mapping[str, int]
    share: float


class Finder:
    """Answer queries to one index, and keep the latest answers."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._passing = lru_cache(maxsize=16)(self._find_passing)
        self._sorted = lru_cache(maxsize=16)(self._sort)
        self._ranks = lru_cache(maxsize=len(SORTED_BY))(self._rank)
        self._texts = lru_cache(maxsize=4)(lambda text: FullText(index, text))

    def find(self, query: Query) -> Found:
        """Return the samples that pass a query; while texts are searched, those found so far."""
        share = 1.0
        passing = self._passing(Query(query.model, query.dataset, (), query.columns))
        if query.text:
            texts = self._texts(query.text.lower())
            texts.go_on()
            share = texts.share  # before the matches, which are complete if it is 1
            passing = passing & texts.matches
        states = np.bincount(self.index.states[passing], minlength=len(STATES))
        counted = {state: int(number) for state, number in zip(STATES, states, strict=True) if number}
        if query.states:
            passing = passing & np.isin(self.index.states, [STATES.index(state) for state in query.states])
        return Found(self._in_order(passing, query.sort, query.down), counted, share)

    def position(self, found: Found, model: str, dataset: str, sample_id: str) -> tuple[int, int]:
        """Return the number of a sample in the index, and its position among those found; -1 where it is not."""
        import pyarrow.compute as pc

        passing = self._passing(Query(model, dataset))
        same = pc.equal(self.index.table.column("id"), sample_id).to_numpy() & passing
        numbers = np.flatnonzero(same)
        if not len(numbers):
            return -1, -1
        places = np.flatnonzero(found.rows == numbers[0])
        return int(numbers[0]), int(places[0]) if len(places) else -1

    def others(self, number: int) -> list[int]:
        """Return the same sample under other models."""
        import pyarrow.compute as pc

        task = self.index.overview["tasks"][self.index.tasks[number]]
        of_dataset = self._passing(Query(dataset=task["dataset"]))
        [sample_id] = self.index.table.column("id").take([number]).to_pylist()
        same = pc.equal(self.index.table.column("id"), sample_id).to_numpy() & of_dataset
        return [int(other) for other in np.flatnonzero(same) if other != number]

    def _find_passing(self, query: Query) -> NDArray[np.bool_]:
        """Return for each sample whether it passes the filters of tasks and columns."""
        import pyarrow.compute as pc

        tasks = [
            number
            for number, task in enumerate(self.index.overview["tasks"])
            if query.model in ("", task["model"]) and query.dataset in ("", task["dataset"])
        ]
        passing: NDArray[np.bool_] = np.isin(self.index.tasks, tasks)
        for name, value in query.columns:
            # A quote inside a text is escaped, so that a pair is found only where it is one.
            pair = re.escape(f"{json_text(name)}:{value}")
            found = pc.match_substring_regex(self.index.table.column("columns"), f"[{{,]{pair}[,}}]")
            passing &= found.to_numpy()
        return passing

    def _in_order(self, passing: NDArray[np.bool_], sort: str, down: bool) -> NDArray[np.int64]:
        if not sort:
            return np.flatnonzero(passing)
        order = self._sorted(sort, down)
        found: NDArray[np.int64] = order[passing[order]]
        return found

    def _sort(self, name: str, down: bool) -> NDArray[np.int64]:
        """Return all samples in order of a column; those without a value come last."""
        import pyarrow as pa
        import pyarrow.compute as pc

        keys = [("key", "descending" if down else "ascending"), ("number", "ascending")]
        table = pa.table({"key": self._ranks(name), "number": np.arange(self.index.table.num_rows)})
        found: NDArray[np.int64] = pc.sort_indices(table, sort_keys=keys).to_numpy()
        return found.astype(np.int64)

    def _rank(self, name: str) -> Any:
        """Return the values to sort by."""
        import pyarrow as pa

        tasks = self.index.overview["tasks"]
        if name in ("model", "dataset"):
            names = sorted({task[name] for task in tasks})
            ranks = np.array([names.index(task[name]) for task in tasks] or [0])
            return pa.array(ranks[self.index.tasks])
        if name != "length":
            return self.index.table.column(name)
        in_tokens = np.array([task["unit"] == "tokens" for task in tasks] or [True])[self.index.tasks]
        columns = [self.index.table.column(unit).to_numpy().astype(float) for unit in ("tokens", "characters")]
        return pa.array(np.where(in_tokens, *columns), from_pandas=True)
