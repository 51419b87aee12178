"""JSON that fits a schema, texts that match a regular expression."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, DataError, MissingGoldError
from ais_prompt.evaluators import JsonEqualEvaluator, JsonSchemaEvaluator, RegexEvaluator
from ais_prompt.postprocess import json_postprocess

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 0}},
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("answer", "fits"),
    [
        ('{"city": "Rome", "people": 3}', 1.0),
        ('{"city": "Rome", "people": -3}', 0.0),
        ('{"people": 3}', 0.0),
        ('{"city": "Rome", "river": "Tiber"}', 0.0),
        ('["Rome"]', 0.0),
        ("Rome", 0.0),
    ],
)
def test_a_schema_of_the_config_or_of_the_gold(answer: str, fits: float) -> None:
    assert JsonSchemaEvaluator(SCHEMA).score(answer, None) == {"accuracy": fits}
    assert JsonSchemaEvaluator().score(answer, json.dumps(SCHEMA)) == {"accuracy": fits}
    assert JsonSchemaEvaluator().score(answer, SCHEMA) == {"accuracy": fits}


@pytest.mark.parametrize(
    "answer",
    [
        '{"city": "Rome", "people": NaN}',
        '{"city": "Rome", "people": -Infinity}',
        '{"city": "Rome", "people": 1e999}',
        f'{{"city": "Rome", "people": {"9" * 5000}}}',
        "[" * 100_000 + "]" * 100_000,
        '{"city": ' * 100_000,
    ],
)
def test_odd_json_is_wrong_and_no_answer(answer: str) -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "people": {"multipleOf": 0.5}}}  # type: ignore[dict-item]
    assert JsonSchemaEvaluator(schema).score(answer, None) == {"accuracy": 0.0}
    assert json_postprocess(answer) is None


def test_what_the_package_cannot_compute_is_wrong() -> None:
    nested = {"$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}, "$ref": "#/$defs/list"}
    assert JsonSchemaEvaluator(nested).score("[" * 400 + "]" * 400, None) == {"accuracy": 0.0}
    assert JsonSchemaEvaluator({"multipleOf": 0.5}).score("9" * 400, None) == {"accuracy": 0.0}


@pytest.mark.parametrize("gold", ["{", {"type": "no such type"}, None])
def test_a_gold_that_is_no_schema(gold: Any) -> None:
    if gold is None:
        gold = "no JSON"
    with pytest.raises(DataError, match="no JSON schema"):
        JsonSchemaEvaluator().score("{}", gold)
    with pytest.raises(ConfigError, match="no JSON schema"):
        JsonSchemaEvaluator({"type": "no such type"})


def test_references_to_other_files_are_not_followed() -> None:
    with pytest.raises(Exception, match="example"):
        JsonSchemaEvaluator({"$ref": "http://example.invalid/schema.json"}).score("{}", None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Sure!\n```json\n{"a": [1, 2]}\n```\nDone.', '{"a": [1, 2]}'),
        ('First {"a": 1}, then {"a": 1, "b": {"c": 2}}.', '{"a": 1, "b": {"c": 2}}'),
        ('<think>{"x": 1}</think> {"a": 1}', '{"a": 1}'),
        ("17", "17"),
        ("no JSON {here}", None),
        ('{"a": ', None),
        ("[" * 100_000, None),
        ('{"a": ' * 100_000, None),
        ("{ " * 100_000, None),
    ],
)
def test_json_is_found_in_answers(text: str, found: str | None) -> None:
    extracted = json_postprocess(text)
    assert (None if extracted is None else str(extracted)) == found


def test_regular_expressions() -> None:
    date = r"\d{4}-\d{2}-\d{2}"
    assert RegexEvaluator(date).score(" 2024-05-17\n", None) == {"accuracy": 1.0}
    assert RegexEvaluator(date).score("On 2024-05-17", None) == {"accuracy": 0.0}
    assert RegexEvaluator(date, whole=False).score("On 2024-05-17", None) == {"accuracy": 1.0}
    assert RegexEvaluator().score("7", "[0-9]") == {"accuracy": 1.0}
    with pytest.raises(DataError, match="no regular expression"):
        RegexEvaluator().score("7", "[0-9")
    for none in (None, "", " ", []):
        with pytest.raises(MissingGoldError):
            RegexEvaluator().score("7", none)
    with pytest.raises(ConfigError, match="no regular expression"):
        RegexEvaluator("(")


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ('{"b": 1, "a": "x"}', {"a": "x", "b": 1}, 1),
        ('{"a": 1.0}', '{"a": 1}', 1),
        ('{"a": true}', {"a": 1}, 0),
        ('{"a": " x "}', {"a": "x"}, 1),
        ("[1, 2]", [2, 1], 0),
        ('{"a": 1, "b": 2}', {"a": 1}, 0),
        ("no JSON", {"a": 1}, 0),
    ],
)
def test_json_is_equal_whatever_the_order_of_its_keys(answer: str, gold: Any, value: float) -> None:
    assert JsonEqualEvaluator().value(answer, gold) == value


def test_a_gold_that_is_no_json_is_an_error() -> None:
    with pytest.raises(DataError, match="is no JSON"):
        JsonEqualEvaluator().value("{}", "Rome")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{'a': 0, 'b': None}", '{"a": 0, "b": null}'),
        ('It is {"a": [1, 2,], "b": "x",}.', '{"a": [1, 2], "b": "x"}'),
        ("```json\n{'a': True}\n```", '{"a": true}'),
        ("{\"a\": 1} or {'a': 2}", '{"a": 1}'),
        ("{a: 1}", None),
        ("Use {x} and [y].", None),
        ("{'a': set()}", None),
        ("{" * 30_000, None),
    ],
)
def test_json_with_mistakes_is_read_on_demand(text: str, found: str | None) -> None:
    assert json_postprocess(text, lenient=True) == found
