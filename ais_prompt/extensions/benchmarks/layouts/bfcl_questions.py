"""Function calling: the questions of BFCL, with the functions that a model may call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ais_prompt.data import Row
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.layouts.file_layout import Call, Layout, Numbered, jsonl
from ais_prompt.utils import counted

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
_MORE_FUNCTIONS: Final = "I have updated some more functions you can choose from. What about now?"
"""What the user says when functions are added. Source: bfcl-eval 2025.6.14."""
_TEXTS: Final = ("question", "ground_truth", "function", "missed_function", "involved_classes", "initial_config")
"""Columns that hold JSON."""
_SYNTAX: Final = {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
"""Language → what the description of a function calls its syntax."""
_NAMES: Final = {"java": "Java", "javascript": "JavaScript"}
"""Language whose values are texts → its name."""
_FLOAT: Final = " This is a float type value."
_TYPES: Final = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""Type in a description of BFCL → type of JSON schemas; any other is a text. Source: its ``GORILLA_TO_OPENAPI``."""


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
        what = f"{counted(count, 'question')}, but {counted(len(golds), 'answer')} in {file}"
        raise DataError(what, where=str(path), fix="copy both files from one version of bfcl-eval")
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
    wanted, as_tools = call.arguments["test_ids"], call.arguments["as_tools"]
    for value in values:
        if not wanted or value["id"] in wanted:
            if as_tools and "multi_turn" in value["id"]:
                value = _with_turns(value)
            elif as_tools:
                value = _with_tools(value, language_of(str(call.arguments["category"])))
            yield {name: _text(content) if name in _TEXTS else content for name, content in value.items()}


def language_of(category: str) -> str:
    """Return the language of the functions of a category: ``python``, ``java`` or ``javascript``."""
    return next((language for language in ("javascript", "java") if language in category), "python")


def _with_turns(row: Row) -> Row:
    """Return a conversation with the columns of `SimulatedToolCallInferencer`.

    A turn that brings functions which were missing before says so, and says nothing else.
    """
    turns: list[dict[str, Any]] = []
    for number, messages in enumerate(row["question"]):
        new = row.get("missed_function", {}).get(str(number))
        turn = {"messages": messages if new is None else [{"role": "user", "content": _MORE_FUNCTIONS}]}
        if new is not None or not number:
            turn["tools"] = [as_tool(function) for function in [*row["function"], *(new or ())]]
        turns.append(turn)
    return {**row, "messages": turns[0]["messages"], "turns": _text(turns)}


def _with_tools(row: Row, language: str) -> Row:
    """Return a question of a single turn with the columns of the benchmark ``bfcl``, most of them as JSON."""
    answers = [] if row["ground_truth"] == _NO_CALL else row["ground_truth"]
    return {
        **row,
        "messages": [{"role": one["role"], "content": one["content"]} for one in row["question"][0]],
        "tools": _text([as_tool(function, language) for function in row["function"]]),
        "functions": _text(row["function"]),
        "answers": _text(answers),
    }


def as_tool(function: Mapping[str, Any], language: str = "python") -> dict[str, Any]:
    """Return a description of BFCL in the form of the OpenAI API, in the very words that AISBench sends.

    Source: ``func_doc_language_specific_pre_processing`` and ``convert_to_tool`` of bfcl-eval 2025.6.14.

    Args:
        function: its description.
        language: of the function. Values for any other than ``python`` are texts.
    """
    parameters = function["parameters"]
    properties = parameters["properties"]
    if language in _NAMES:
        properties = {name: _as_text(value, _NAMES[language]) for name, value in properties.items()}
    schema = {**parameters, "type": "object", "properties": _schemas(properties)}
    described = f"{function['description']} Note that the provided function is in {_SYNTAX[language]} syntax."
    return {
        "type": "function",
        "function": {
            **function,
            "description": described,
            "parameters": schema,
            "name": function["name"].replace(".", "_"),
        },
    }


def _as_text(value: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return the description of a parameter whose values are texts in the syntax of a language."""
    kind, kept = value["type"], dict(value)
    text = f"{value['description']} This is {language} {kind} type parameter in string representation."
    if kind == "any":
        text = (
            f"{value['description']} This parameter can be of any type of {language} object in string representation."
        )
    if kind in ("Array", "ArrayList", "array"):
        items = kept.pop("items")["type"]
        text += f" The list elements are of type {items}; they are not in string representation."
    if kind == "dict" and "properties" in kept:
        entries = json.dumps(kept.pop("properties"))
        text += f" The dictionary entries have the following schema; they are not in string representation. {entries}"
    return {**kept, "description": text, "type": "string"}


def _schemas(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of each parameter."""
    found = {}
    for name, value in properties.items():
        schema = _nested({**value, "type": _TYPES.get(value.get("type", ""), "string")})
        if value.get("type") == "float":
            schema |= {"format": "float", "description": value["description"] + _FLOAT}
        found[name] = schema
    return found


def _nested(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose entries or items are schemas too: items of items, and entries of items."""
    if schema["type"] not in ("array", "object"):
        return schema
    if "properties" in schema:
        return {**schema, "properties": _schemas(schema["properties"])}
    if "items" in schema:
        items = schema["items"]
        return {**schema, "items": _nested({**items, "type": _TYPES.get(items["type"], "string")})}
    return schema


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


LAYOUTS: Final[Mapping[str, Layout]] = {
    "BFCLDataset": Layout(
        {"test": "BFCL_v3_{category}.json"},
        _as_texts,
        _questions,
        defaults={"test_ids": None, "as_tools": False},
        source=_SOURCE,
    ),
}
