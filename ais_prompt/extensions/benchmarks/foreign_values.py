r"""Values that a model writes as text in the syntax of Java or JavaScript, as BFCL reads them.

A text that does not have the form of its type stays a text. Source: ``java_type_converter``, ``js_type_converter`` of
`bfcl-eval` 2025.6.14, with their limits: items are split at every comma, and a map ends at the first bracket. A model
writes the texts, so that none may take long: what a regular expression would try in too many ways is scanned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

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
