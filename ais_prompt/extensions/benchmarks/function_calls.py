"""Compare the tool calls of an answer with those that BFCL expects.

BFCL reads values that a model writes as text in the syntax of Java or JavaScript. A text that does not have the form of
its type stays a text. Source: ``java_type_converter``, ``js_type_converter`` of `bfcl-eval` 2025.6.14, with their
limits: items are split at every comma, and a map ends at the first bracket. A model writes the texts, so that none may
take long: what a regular expression would try in too many ways is scanned.

The checker of `bfcl-eval` 2026.3.23 is not used. It agrees on all calls made of the published answers, right and broken
ones (15,814 in Python, 2,852 in Java and JavaScript). But it needs 150 packages (3.7 GB, torch among them), one
more that it does not name, and NumPy 1.26.4; to import it takes 8 seconds, 6,000 modules and 270 MB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators import MeanEvaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import advice, parse_text, parse_written

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
            parse_text(gold[name]) if isinstance(gold[name], str) else gold[name] for name in ("functions", "answers")
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


_WHOLE: Final = re.compile(r"-?\d+")
_DECIMAL: Final = re.compile(r"-?\d+(\.\d+)?")
_SCIENTIFIC: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_JAVA_ARRAY: Final = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_JAVA_AS_LIST: Final = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_JAVA_ADDED: Final = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*")
_JAVA_NO_LIST: Final = re.compile(r"new\s+ArrayList<\w*>\(\)")
_JAVA_MAP: Final = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{", re.DOTALL)
_JAVA_NO_MAP: Final = re.compile(r"new\s+HashMap<.*?>\s*\(\)", re.DOTALL)
_JS_LISTS: Final = {"]": re.compile(r"\[\s*\["), ")": re.compile(r"new\s+Array\(\s*\[")}
"""End of a list of lists → its beginning."""
_JS_NEXT: Final = re.compile(r",\s*\[")
_JS_LIST: Final = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_JS_OBJECT: Final = re.compile(r"\{(.*?)\}")
_LONGEST: Final = 2000
"""Characters of a text; a longer one stays a text."""
_JS_ENTRY: Final = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def java_value(text: str, kind: str, items: str | None = None) -> Any:
    """Return the value of a text in Java.

    Args:
        text: such as ``5L`` or ``new ArrayList<>(Arrays.asList("a", "b"))``.
        kind: the type of the parameter in the description of the function, such as ``long``.
        items: the type of the items of a list; None if it is not known.
    """
    if len(text) > _LONGEST:
        return text
    match kind:
        case "byte" | "short" | "integer":
            return _number(text, _WHOLE, int)
        case "long":
            return _number(text, _WHOLE, int, suffix="lL")
        case "float":
            return _number(text, _SCIENTIFIC, float, suffix="fF")
        case "double":
            return _number(text, _SCIENTIFIC, float)
        case "boolean":
            return _boolean(text)
        case "Array":
            found = _JAVA_ARRAY.search(text)
            return text if found is None else [_java_item(one, items) for one in _parts(found[1])]
        case "ArrayList":
            return _java_list(text, items)
        case "HashMap":
            return _java_map(text)
    return text


def javascript_value(text: str, kind: str, items: str | None = None) -> Any:
    """Return the value of a text in JavaScript; the arguments are those of `java_value`."""
    if len(text) > _LONGEST:
        return text
    match kind:
        case "String":
            return text[1:-1] if _is_quoted(text) else text
        case "integer":
            return _number(text, _WHOLE, int)
        case "float":
            return _number(text, _DECIMAL, float)
        case "Bigint":
            return _number(text, _WHOLE, int, suffix="n")
        case "Boolean":
            return _boolean(text)
        case "array":
            return _js_list(text.strip(), items)
        case "dict":
            return _js_object(text.strip())
    return text


def _number(text: str, form: re.Pattern[str], read: Callable[[str], Any], suffix: str = "") -> Any:
    """Return a number; the text itself if it has another form, or lacks the suffix of its type."""
    digits = text[:-1] if suffix else text.removesuffix("\n")
    return read(digits) if form.fullmatch(digits) and (not suffix or text[-1] in suffix) else text


def _boolean(text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)


def _is_quoted(text: str) -> bool:
    return any(text.startswith(mark) and text.endswith(mark) for mark in "\"'")


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _java_item(text: str, kind: str | None) -> Any:
    return java_value(text, kind) if kind else _java_guess(text)


def _java_list(text: str, items: str | None) -> Any:
    if found := _JAVA_AS_LIST.search(text):
        written = [part.strip() for part in found[1].split(",")]
    elif (found := _JAVA_ADDED.search(text)) and (end := text.find("}}", found.end() + 1)) > 0:
        written = [part.strip() for part in re.findall(r"add\((.+?)\)", text[found.end() : end])]
    else:
        return [] if _JAVA_NO_LIST.search(text) else text
    return [part[1:-1] if items in ("char", "String") else _java_item(part, items) for part in written]


def _java_map(text: str) -> Any:
    if (found := _JAVA_MAP.search(text)) and (end := text.find("}", found.end())) > 0:
        last = text.rfind(")", found.end(), end)
        entries = re.findall(r"put\(\"(.*?)\",\s*(.*?)\)", text[found.end() : last + 1])
        return {key: _java_guess(value.strip()) for key, value in entries}
    return {} if _JAVA_NO_MAP.search(text) else text


def _java_guess(text: str) -> Any:
    """Return the value of a text of unknown type."""
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    for kind in ("boolean", "long", "float"):
        if (value := java_value(text, kind)) is not text and value != text:
            return value
    return _plain_number(text)


def _plain_number(text: str) -> Any:
    """Return a number as Python reads it, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _js_list(text: str, items: str | None) -> Any:
    if lists := _js_lists(text):
        inner = [part.strip() for part in re.findall(r"\[(.*?)\]", lists)]
        inner[0] = inner[0].removeprefix("[")
        return [[_js_guess(one) for one in part.split(",")] for part in inner]
    if (found := _JS_LIST.match(text)) is None:
        return text
    written = (found[1] if found[1] is not None else found[2]).strip()
    parts = [part.strip() for part in written.split(",")] if written else []
    return [javascript_value(part, items) if items else _js_guess(part) for part in parts]


def _js_lists(text: str) -> str:
    """Return the list of lists at the beginning of a text; empty if there is none."""
    for closing, opening in _JS_LISTS.items():
        found = opening.match(text)
        start = found.end() if found else len(text)
        # An inner list ends at a bracket that the next list or the end follows; it has no line break.
        while (end := text.find("]", start)) >= 0 and "\n" not in text[start:end]:
            after = end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip())
            if text.startswith(closing, after):
                return text[: after + 1]
            following = _JS_NEXT.match(text, after)
            start = following.end() if following else end + 1
    return ""


def _js_object(text: str) -> Any:
    found = _JS_OBJECT.match(text)
    if text == "{}" or found is None:
        return {} if text == "{}" else text
    return {key.strip().strip("'\""): _js_entry(value.strip()) for key, value in _JS_ENTRY.findall(found[1])}


def _js_entry(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _js_list(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _js_object(text)
    return _js_guess(text.strip("'\""))


def _js_guess(text: str) -> Any:
    """Return the value of a text of unknown type."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else _plain_number(text)


READERS: Final[Mapping[str, Callable[[str, str, str | None], Any]]] = {
    "java": java_value,
    "javascript": javascript_value,
}
"""Language → what reads its texts."""
