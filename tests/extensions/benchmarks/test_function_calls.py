"""Calls of tools are compared by the rule of BFCL."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.extensions.benchmarks.function_calls import Language, ToolCallEvaluator
from ais_prompt.extensions.benchmarks.get import get

FUNCTION = {
    "name": "trip.book",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "price": {"type": "float"},
            "stops": {"type": "array", "items": {"type": "string"}},
            "guest": {"type": "dict", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
        },
        "required": ["city", "days"],
    },
}
ACCEPTED = {
    "city": ["New York", "NYC"],
    "days": [3],
    "price": ["", 10.0],
    "stops": ["", ["A-Town", "B"]],
    "guest": ["", {"name": ["Ann"], "age": [7, ""]}],
}
GOLD = {"functions": [FUNCTION], "answers": [{"trip.book": ACCEPTED}]}
RIGHT = {"city": "new york", "days": 3}


def value(*calls: Any, gold: Mapping[str, Any] = GOLD) -> float:
    return ToolCallEvaluator().score(json.dumps(calls), gold)["accuracy"]


@pytest.mark.parametrize("price", [10**400, -(10**400), 10**4000])
def test_a_number_beyond_a_float_is_wrong(price: int) -> None:
    assert value({"name": "trip.book", "arguments": {**RIGHT, "price": price}}) == 0.0


@pytest.mark.parametrize("answer", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '[{"name": "trip.book"}', "[1]", "3"])
def test_what_is_no_list_of_calls_is_wrong(answer: str) -> None:
    assert ToolCallEvaluator().score(answer, GOLD) == {"accuracy": 0.0}


def test_the_arguments_of_a_call() -> None:
    cases = [
        ({}, 1.0),
        ({"city": "nyc"}, 1.0),
        ({"price": 10}, 1.0),  # a whole number is also a fraction
        ({"price": 10.0}, 1.0),
        ({"price": "10"}, 0.0),
        ({"city": "Boston"}, 0.0),
        ({"city": 3}, 0.0),
        ({"days": 3.0}, 0.0),
        ({"days": True}, 0.0),
        ({"days": "3"}, 0.0),
        ({"stops": ["a town", "b"]}, 1.0),
        ({"stops": ["b", "a town"]}, 0.0),
        ({"stops": [1, 2]}, 0.0),
        ({"guest": {"name": "ann"}}, 1.0),
        ({"guest": {"name": "ann", "age": 8}}, 0.0),
        ({"guest": {"age": 7}}, 0.0),
        ({"guest": {"name": "ann", "pet": "cat"}}, 0.0),
        ({"hotel": "Ritz"}, 0.0),
    ]
    for change, right in cases:
        assert value({"name": "trip_book", "arguments": {**RIGHT, **change}}) == right
        assert value({"name": "trip.book", "arguments": {**RIGHT, **change}}) == right


def test_names_numbers_and_what_is_missing() -> None:
    call = {"name": "trip_book", "arguments": RIGHT}
    assert value() == 0
    assert value(call, call) == 0
    assert value({"name": "book_trip", "arguments": RIGHT}) == 0
    assert value({"name": "trip_book", "arguments": {"city": "NYC"}}) == 0
    assert value({"name": "trip_book", "arguments": None}) == 0
    assert value("no call") == 0


def test_parallel_calls_in_any_order_and_irrelevance() -> None:
    other = {**ACCEPTED, "city": ["Oslo"]}
    gold = {"functions": json.dumps([FUNCTION]), "answers": json.dumps([{"trip.book": ACCEPTED}, {"trip.book": other}])}
    first, second = ({"name": "trip_book", "arguments": {"city": city, "days": 3}} for city in ("Oslo", "NYC"))
    assert value(first, second, gold=gold) == value(second, first, gold=gold) == 1
    assert value(first, first, gold=gold) == 0
    nothing = {"functions": [FUNCTION], "answers": []}
    assert value(gold=nothing) == 1
    assert value(first, gold=nothing) == 0


@pytest.mark.parametrize("gold", [None, {}, {"functions": "[", "answers": []}, {"functions": [{}], "answers": []}])
def test_golds_that_cannot_be_used(gold: Any) -> None:
    with pytest.raises(DataError, match="no functions and answers"):
        value(gold=gold)


@pytest.mark.parametrize(
    ("language", "kinds", "right", "wrong"),
    [
        ("java", ("long", "Array"), ("3L", "new int[]{1, 2}"), ("3", "new int[]{2, 1}")),
        ("javascript", ("Bigint", "array"), ("3n", "[1, 2]"), ("3.0", "[1, 3]")),
    ],
)
def test_values_of_other_languages_are_texts(
    language: Language, kinds: tuple[str, str], right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    properties = {"n": {"type": kinds[0]}, "list": {"type": kinds[1], "items": {"type": "integer"}}}
    function = {"name": "f", "parameters": {"type": "dict", "properties": properties, "required": ["n"]}}
    gold = {"functions": [function], "answers": [{"f": {"n": [3], "list": [[1, 2], ""]}}]}

    def score(**arguments: Any) -> float:
        calls = json.dumps([{"name": "f", "arguments": arguments}])
        return ToolCallEvaluator(language).score(calls, gold)["accuracy"]

    assert score(n=right[0]) == score(n=right[0], list=right[1]) == 1
    assert score(n=wrong[0]) == score(n=right[0], list=wrong[1]) == 0
    assert score(n=3) == score(n=right[0], list=[1, 2]) == 0  # no texts


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(ConfigError, match="there is no language 'Java'"):
        ToolCallEvaluator("Java")  # type: ignore[arg-type]


SPEC = importlib.util.find_spec("bfcl_eval")
CONTRADICTORY = {"live_simple": 2, "live_multiple": 2}
"""Questions whose own functions refuse every call that their answers accept: no value is accepted for a required
parameter, or the answer names a parameter that the function lacks."""


def best(accepted: list[Any], *, required: bool) -> Any:
    """An accepted value; None if it may be left out."""
    if "" in accepted and not required:
        return None
    return next((one for one in accepted if one != ""), "")


def call_of(answer: Mapping[str, Any], functions: list[dict[str, Any]]) -> dict[str, Any]:
    """The call that an answer of BFCL accepts."""
    [(name, accepted)] = answer.items()
    function = next(one for one in functions if one["name"] == name)
    required = function["parameters"].get("required", [])
    found = {}
    for parameter, values in accepted.items():
        value = best(values, required=parameter in required)
        if value is None and "" in values:
            continue
        found[parameter] = plain(value)
    return {"name": name.replace(".", "_"), "arguments": found}


def plain(value: Any) -> Any:
    """A value in which objects have one value for each key."""
    if isinstance(value, dict):
        chosen = {name: best(values, required=False) for name, values in value.items()}
        return {name: one for name, one in chosen.items() if one is not None}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [plain(one) for one in value]
    return value


def broken(calls: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Wrong forms of calls: a type, a name, a missing and a further argument."""
    first, *others = calls
    arguments = first["arguments"]
    yield [{**first, "name": "no_such_function"}, *others]
    yield [{**first, "arguments": {**arguments, "no_such_argument": 1}}, *others]
    yield calls[:-1]
    if arguments:
        name = next(iter(arguments))
        wrong: Any = 271828 if isinstance(arguments[name], str) else {"no": "such value"}
        yield [{**first, "arguments": {**arguments, name: wrong}}, *others]


def required_of(row: Mapping[str, Any], call: dict[str, Any]) -> list[str]:
    functions = {one["name"].replace(".", "_"): one for one in json.loads(row["functions"])}
    return list(functions[call["name"]]["parameters"].get("required", []))


@pytest.mark.thorough
@pytest.mark.skipif(SPEC is None, reason="pip install --no-deps bfcl-eval")
def test_the_possible_answers_of_bfcl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SPEC
    assert SPEC.submodule_search_locations
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path))
    get("bfcl", Path(SPEC.submodule_search_locations[0]))
    refused: dict[str, int] = {}
    checked = 0
    for row in CatalogDataset("bfcl").read("test"):
        gold = {name: row[name] for name in ("functions", "answers")}
        score: Callable[..., float] = lambda *calls, gold=gold: value(*calls, gold=gold)  # noqa: E731
        calls = [call_of(one, json.loads(row["functions"])) for one in json.loads(row["answers"])]
        if not calls:
            assert score() == 1
            assert score({"name": "any", "arguments": {}}) == 0
            continue
        checked += 1
        if score(*calls) != 1:
            refused[row["category"]] = refused.get(row["category"], 0) + 1
            continue
        for wrong in broken(calls):
            assert score(*wrong) == 0, (row["category"], calls, wrong)
        for name in required_of(row, calls[0]):
            less = {key: one for key, one in calls[0]["arguments"].items() if key != name}
            assert score({**calls[0], "arguments": less}, *calls[1:]) == 0
    assert refused == CONTRADICTORY
    assert checked == 2351
