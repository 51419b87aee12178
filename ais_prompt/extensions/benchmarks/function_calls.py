"""Are the calls of tools that an answer makes the right ones?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators.base import MeanEvaluator
from ais_prompt.extensions.benchmarks.foreign_values import READERS
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils.jsonl import parse_written
from ais_prompt.utils.text import advice

Language: TypeAlias = Literal["python", "java", "javascript"]
_TYPES: Final[Mapping[Language, Mapping[str, type]]] = {
    "python": {
        **{"string": str, "integer": int, "float": float, "number": float, "boolean": bool, "any": str},
        **{"array": list, "tuple": list, "dict": dict, "object": dict},
    },
    "java": {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **{"float": float, "double": float, "boolean": bool, "HashMap": dict, "Array": list, "ArrayList": list},
    },
    "javascript": {"integer": int, "Bigint": int, "float": float, "Boolean": bool, "dict": dict, "array": list},
}
"""Language → type in the description of a function → type of a value; a type that is not there is a text."""
_LEFT_OUT: Final = ""
"""Among the accepted values of a parameter: it may be missing."""
_IGNORED: Final = re.compile(r"[ ,./\-_*^]")


@EVALUATORS.register_module()
class ToolCallEvaluator(MeanEvaluator):
    """The share of answers with the right calls, by the rule of BFCL.

    - As many calls as the gold has, in any order; none where the gold has none.
    - The name of each function is right; a dot in it equals an underline, which APIs ask for.
    - Every required parameter is there, and none that the function or the gold does not have. A parameter may be
      missing if the gold accepts that.
    - The value has the type of the parameter (a whole number is also a fraction) and is one of the accepted values.
      Texts are compared without upper case, blanks and ``,./-_*^``.
    - Values for functions in Java and JavaScript are texts in the syntax of that language: ``5L``, ``new int[]{1, 2}``.

    The gold is a mapping: ``reader_cfg=dict(gold_columns=['functions', 'answers'], ...)``, each a list or JSON.
    ``functions`` are descriptions with ``name`` and ``parameters``, ``answers`` a list of
    ``{function: {parameter: [accepted values]}}``. The extracted answer is the JSON of `ToolCallInferencer`; use
    `tool_calls_postprocess`, so that calls that are no JSON are *unparsed*.

    Args:
        language: of the functions: ``python``, ``java`` or ``javascript``.

    Raises:
        ConfigError: there is no such language.

    Source: Patil et al. 2025, "The Berkeley Function Calling Leaderboard", the checker ``ast_checker`` of `bfcl-eval`
    2026.3.23.
    """

    def __init__(self, language: Language = "python") -> None:
        if language not in _TYPES:
            raise ConfigError(f"there is no language {language!r}", where="language", fix=advice(language, _TYPES))
        self._language: Language = language

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if all calls are right, else 0.

        Raises:
            DataError: the gold has no functions and answers.
        """
        functions, answers = _columns(gold)
        try:
            calls = parse_written(answer)
        except ValueError:
            return 0.0
        if not isinstance(calls, list) or len(calls) != len(answers):
            return 0.0
        left = [(str(call.get("name")), call.get("arguments")) for call in calls if isinstance(call, Mapping)]
        for one in answers:
            [(name, accepted)] = one.items()
            function = functions.get(_same(name))
            match = next((call for call in left if _is_right(call, function, accepted, self._language)), None)
            if match is None:
                return 0.0
            left.remove(match)
        return 1.0


def _columns(gold: Any) -> tuple[dict[str, Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the functions by name, and the right calls."""
    try:
        functions, answers = (
            json.loads(gold[name]) if isinstance(gold[name], str) else gold[name] for name in ("functions", "answers")
        )
        if any(not isinstance(one, Mapping) or len(one) != 1 for one in answers):
            raise TypeError("an answer is not an object of one function")
        return {_same(one["name"]): one for one in functions}, list(answers)
    except (KeyError, TypeError, ValueError) as error:
        fix = "reader_cfg=dict(gold_columns=['functions', 'answers'], ...)"
        raise DataError(f"the gold has no functions and answers: {error}", fix=fix) from None


def _same(name: str) -> str:
    return name.replace(".", "_")


def _is_right(
    call: tuple[str, Any], function: Mapping[str, Any] | None, accepted: Mapping[str, Any], language: Language
) -> bool:
    """Return whether a call is the one that the gold describes."""
    name, arguments = call
    if function is None or _same(name) != _same(function["name"]) or not isinstance(arguments, Mapping):
        return False
    described = function["parameters"]["properties"]
    if any(parameter not in arguments for parameter in function["parameters"].get("required", ())):
        return False
    if any(parameter not in described or parameter not in accepted for parameter in arguments):
        return False
    if any(name not in arguments and _LEFT_OUT not in values for name, values in accepted.items()):
        return False
    return all(_fits(value, described[name], accepted[name], language) for name, value in arguments.items())


def _fits(value: Any, described: Mapping[str, Any], accepted: Sequence[Any], language: Language) -> bool:
    """Return whether a value has the type of its parameter and is one of the accepted values."""
    types, name = _TYPES[language], str(described["type"])
    kind = types.get(name, str)
    item = described.get("items", {}).get("type") if kind is list else None
    items = types.get(item, str) if item else None
    if read := READERS.get(language):
        if not isinstance(value, str):
            return False
        value = read(value, name, item)
    elif kind is float and type(value) is int:
        value = _as_float(value)
    gold_kind = _kind_of(accepted)
    # A gold of another type than described is the name of a variable, which is compared as it is.
    is_variable = gold_kind is not None and gold_kind is not kind
    if type(value) is kind:
        if items is not None and not any(_have_type(value, items, one) for one in accepted):
            return False
    elif type(value) is gold_kind:
        is_variable = True
    else:
        return False
    if is_variable:
        return value in accepted
    return any(_equal(value, one, items) for one in accepted)


def _as_float(value: int) -> float:
    """Return a whole number as a fraction; one beyond the range of a float is no accepted value."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _kind_of(accepted: Sequence[Any]) -> type | None:
    """Return the type of the accepted values; None if a missing value is all that is accepted."""
    return next((type(one) for one in accepted if one != _LEFT_OUT), None)


def _have_type(values: Any, items: type, accepted: Any) -> bool:
    """Return whether the items of a list have their type, or that of an accepted list."""
    if not isinstance(accepted, list):
        return True
    return all(type(one) is items or type(one) is _kind_of(accepted) for one in values)


def _equal(value: Any, accepted: Any, items: type | None) -> bool:
    if isinstance(value, Mapping):
        return isinstance(accepted, Mapping) and _equal_objects(value, accepted)
    if items is dict:
        pairs = isinstance(accepted, list) and len(accepted) == len(value)
        return pairs and all(_equal(one, other, None) for one, other in zip(value, accepted, strict=True))
    if isinstance(value, list):
        return isinstance(accepted, list) and list(map(_plain, value)) == list(map(_plain, accepted))
    return bool(_plain(value) == _plain(accepted))


def _equal_objects(value: Mapping[str, Any], accepted: Mapping[str, Any]) -> bool:
    """Return whether an object has accepted values only, and all that may not be missing."""
    known = all(name in accepted and _plain(one) in map(_plain, accepted[name]) for name, one in value.items())
    return known and all(name in value or _LEFT_OUT in values for name, values in accepted.items())


def _plain(value: Any) -> Any:
    """Return a text without what does not matter; other values as they are."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value
