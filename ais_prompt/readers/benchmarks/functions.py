"""Function calling: the questions of BFCL, with the functions that a model may call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.table import Row
from ais_prompt.readers.benchmarks.files import Numbered, jsonl
from ais_prompt.readers.benchmarks.layout import Call, Layout

_DOCUMENTS: Final = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Class whose methods a conversation may call → file that describes them. Source: bfcl-eval 2025.6.14."""
_SOURCE: Final = "pip install --no-deps bfcl-eval==2025.6.14, whose data are those of version 3"
_NO_CALL: Final = ["relevance_mock_gt"]
"""The gold of questions that only ask whether a function is called at all, as AISBench has it."""
_TEXTS: Final = ("question", "ground_truth", "function", "missed_function", "involved_classes", "initial_config")
"""Columns that hold JSON."""


def _questions(path: Path) -> Iterator[Numbered]:
    """Yield the questions of a category, each with its gold and, for a conversation, its functions."""
    rows = list(jsonl(path))
    golds = _golds(path, len(rows))
    for (line, row), gold in zip(rows, golds, strict=True):
        if gold is not None and gold["id"] != row["id"]:
            fix = "copy both files from one version of bfcl-eval"
            raise DataError(f"{row['id']!r} has the answer of {gold['id']!r}", where=f"{path}:{line}", fix=fix)
        answered = {**row, "ground_truth": _NO_CALL if gold is None else gold["ground_truth"]}
        yield line, _with_functions(answered, path.parent) if "multi_turn" in row["id"] else answered


def _golds(path: Path, count: int) -> list[Any]:
    """Return the golds of a file; None for each question whose category has none."""
    if "relevance" in path.stem:
        return [None] * count
    file = path.parent / "possible_answer" / path.name
    golds = [gold for _, gold in jsonl(file)]
    if len(golds) != count:
        fix = "copy both files from one version of bfcl-eval"
        raise DataError(f"{count:,} questions, but {len(golds):,} answers in {file}", where=str(path), fix=fix)
    return golds


def _with_functions(row: Row, folder: Path) -> Row:
    """Return a row with the functions of its classes; those that are shown only in a later turn are set apart."""
    functions: list[Any] = []
    for name in row["involved_classes"]:
        functions += [function for _, function in jsonl(folder / "multi_turn_func_doc" / f"{_DOCUMENTS[name]}.json")]
    later = {}
    for turn, names in row.get("missed_function", {}).items():
        later[turn] = [function for name in names for function in functions if function["name"] == name]
        functions = [function for function in functions if function["name"] not in names]
    changed = {"missed_function": later} if "missed_function" in row else {}
    return {**row, **changed, "function": functions}


def _as_texts(values: Iterator[Any], call: Call) -> Iterable[Row]:
    wanted = call.arguments["test_ids"]
    for value in values:
        if not wanted or value["id"] in wanted:
            yield {name: _text(content) if name in _TEXTS else content for name, content in value.items()}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


LAYOUTS: Final[Mapping[str, Layout]] = {
    "BFCLDataset": Layout(
        {"test": "BFCL_v3_{category}.json"}, _as_texts, _questions, defaults={"test_ids": None}, source=_SOURCE
    ),
}
