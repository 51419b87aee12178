"""Filter, search and sort the samples of a run: a `Query` of the page, and the SQL that answers it."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.report.web.index import STATES, SampleIndex, json_text

WORST_FIRST: Final = ("wrong", "unparsed", "truncated", "no_gold", "failed", "partial", "scored", "answered", "right")
"""In the order in which they are sorted."""
ORDERS: Final = {
    "state": f"CASE state {' '.join(f'WHEN {STATES.index(one)} THEN {at}' for at, one in enumerate(WORST_FIRST))} END",
    **{name: name for name in ("question", "extracted", "gold", "value", "seconds", "model", "dataset")},
    "index": '"index"',
    "length": "CASE unit WHEN 'tokens' THEN tokens ELSE characters END",
}
"""What the page sorts by, and its expression in SQL."""
MOST_TRIGRAMS: Final = 30
"""Trigrams of a text that choose the samples to look into."""


class Query(Struct, frozen=True):
    """Which samples are wanted, in which order.

    Attributes:
        models, datasets: their ``abbr``; empty for all.
        states: of `STATES`; empty for all.
        columns: column of the data → its value as JSON, since 1 and true are equal in Python.
        text: what a sample contains, in upper or lower case; empty for all. Of prompts, only the lines that differ from
            the previous sample's are searched.
        sort: one of `ORDERS`; empty for the order of the data.
        down: from the largest to the smallest.
    """

    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
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
            tuple(values.get("model", ())),
            tuple(values.get("dataset", ())),
            tuple(state for state in values.get("state", ()) if state in STATES),
            columns,
            first.get("query", ""),
            sort if sort in ORDERS else "",
            first.get("down") == "true",
        )


class FoundSamples(Struct, frozen=True):
    """The samples that pass a query.

    Attributes:
        numbers: in the index, in order.
        states: number of samples in each state that pass all filters but that of states.
    """

    numbers: array[int]
    states: Mapping[str, int]


def find(index: SampleIndex, query: Query, size: int) -> FoundSamples:
    """Return which of the first ``size`` samples of an index pass a query.

    Raises:
        StoreError: the index is broken.
    """
    where, values = conditions(index, query, size)
    order = f"{ORDERS[query.sort]} IS NULL, {ORDERS[query.sort]} {'DESC' if query.down else ''}, " if query.sort else ""
    statement = f"SELECT number, state FROM samples JOIN tasks USING (task) WHERE {where} ORDER BY {order}number"
    found = index.select(statement, values)
    counts = Counter(state for _, state in found)
    wanted_states = {STATES.index(state) for state in query.states or STATES}
    return FoundSamples(
        array("q", (number for number, state in found if state in wanted_states)),
        {STATES[state]: counts[state] for state in sorted(counts)},
    )


def conditions(index: SampleIndex, query: Query, size: int) -> tuple[str, list[Any]]:
    """Return the condition in SQL that samples pass a query, whatever their state, and its values."""
    found, values = ["number < ?"], list[Any]([size])
    for name, chosen in (("model", query.models), ("dataset", query.datasets)):
        if chosen:
            found.append(f"{name} IN ({', '.join('?' * len(chosen))})")
            values += chosen
    for name, value in query.columns:
        found.append("instr(columns, ?)")
        values.append(f",{json_text(name)}:{value},")
    if query.text:
        text = query.text.lower()
        texts, trigrams = "instr(text, ?)", _trigrams(text)
        if index.has_trigrams and trigrams:
            texts = f"number IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?) AND {texts}"
            values.append(trigrams)
        found.append(f"number IN (SELECT number FROM texts WHERE {texts})")
        values.append(text)
    return " AND ".join(found), values


def _trigrams(text: str) -> str:
    """Return a query for samples with the first trigrams of a text; empty if it has none."""
    found = {text[start : start + 3].replace('"', '""') for start in range(min(len(text) - 2, MOST_TRIGRAMS))}
    return " AND ".join(f'"{trigram}"' for trigram in sorted(found) if "\0" not in trigram)
