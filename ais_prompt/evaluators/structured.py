"""Answers whose form is asked for: JSON that equals a value or fits a schema, and texts that match an expression."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ais_prompt.errors import ConfigError, DataError, MissingGoldError
from ais_prompt.evaluators.base import MeanEvaluator, golds_of
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import is_missing, parse_text, parse_written, require, require_installed


@EVALUATORS.register_module()
class JsonSchemaEvaluator(MeanEvaluator):
    """The share of answers that are JSON and fit a JSON schema, by the package `jsonschema`.

    Use `json_postprocess` as ``pred_postprocessor``: an answer without JSON is *unparsed* then.

    Args:
        schema: the schema of all answers, or None: the gold is the schema, as a mapping or JSON text. References to
            other files are not followed.

    Raises:
        ConfigError: ``schema`` is no JSON schema.
        MissingExtra: `jsonschema` is not installed.
    """

    def __init__(self, schema: Mapping[str, Any] | None = None) -> None:
        require_installed("jsonschema", extra="instructions", why=type(self).__name__)
        self.schema = schema
        if schema is not None:
            try:
                _validator(json.dumps(schema))
            except DataError as error:
                raise ConfigError(error.what, fix=error.fix) from None

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer fits the schema, else 0.

        Raises:
            DataError: the gold is needed, and no JSON schema.
        """
        schema = gold if self.schema is None else self.schema
        validator = _validator(schema if isinstance(schema, str) else json.dumps(schema))
        try:
            return float(validator.is_valid(parse_written(answer)))
        except (ValueError, OverflowError, RecursionError):  # the last two: numbers and nesting that it cannot check
            return 0.0


@EVALUATORS.register_module()
class JsonEqualEvaluator(MeanEvaluator):
    """Accuracy: 1 where the answer is the same JSON value as the gold. The order of keys makes no difference.

    Use `json_postprocess` as ``pred_postprocessor``: an answer without JSON is *unparsed* then. Numbers are equal by
    value (1 and 1.0), texts without white space at their ends; lists have an order.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if both are equal, else 0.

        Raises:
            MissingGoldError: there is no gold.
            DataError: the gold is a text that is no JSON.
        """
        if is_missing(gold):
            raise MissingGoldError("there is no gold answer", fix="fill it in, or name its column as output_column")
        try:
            right = parse_written(gold) if isinstance(gold, str) else gold
        except ValueError as error:
            raise DataError(f"the gold {gold!r:.60} is no JSON: {error}", fix="check the column") from None
        try:
            return float(_comparable(parse_written(answer)) == _comparable(right))
        except ValueError:
            return 0.0


def _comparable(value: Any) -> Any:
    """Return a value that equals another one where the JSON does: true is not 1, and 1 is 1.0."""
    if isinstance(value, Mapping):
        return {str(key): _comparable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(one) for one in value]
    return value.strip() if isinstance(value, str) else (type(value) is bool, value)


@EVALUATORS.register_module()
class RegexEvaluator(MeanEvaluator):
    """The share of answers that match a regular expression, Python's.

    Args:
        pattern: the expression of all answers, or None: the gold is the expression.
        whole: whether all of the answer must match, white space around it left out; else some part of it.

    Raises:
        ConfigError: ``pattern`` is no regular expression.
    """

    def __init__(self, pattern: str | None = None, whole: bool = True) -> None:
        self.pattern = pattern
        self.whole = whole
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                what = f"pattern is no regular expression: {error}"
                raise ConfigError(what, fix="put a backslash before signs that are meant literally") from None

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer matches, else 0.

        Raises:
            MissingGoldError, DataError: the gold is needed, and there is none, or it is no regular expression.
        """
        pattern = self.pattern
        if pattern is None:
            pattern, *_ = golds_of(gold)
        try:
            expression = re.compile(pattern)
        except re.error as error:
            raise DataError(f"the gold {pattern!r} is no regular expression: {error}", fix="check the column") from None
        match = expression.fullmatch if self.whole else expression.search
        return float(match(answer.strip()) is not None)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    """Return what validates against a schema, given as JSON.

    Raises:
        DataError: it is none.
    """
    jsonschema = require("jsonschema", extra="instructions", why="JsonSchemaEvaluator")
    try:
        found = parse_text(schema)
        kind = jsonschema.validators.validator_for(found, default=jsonschema.Draft202012Validator)
        kind.check_schema(found)
    except (ValueError, jsonschema.SchemaError) as error:
        what = f"this is no JSON schema: {getattr(error, 'message', error)}"
        raise DataError(what, fix="write a JSON schema: {'type': 'object', ...}") from None
    # A registry without a retriever: references to other files are errors, and nothing is downloaded.
    return kind(found, registry=require("referencing", extra="instructions", why="JsonSchemaEvaluator").Registry())
