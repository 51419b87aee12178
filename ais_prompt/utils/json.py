"""Write and read JSON and JSONL: UTF-8, readable, one object per line; and read JSON that a model wrote.

Lines end at ``\\n`` only, so texts may contain the other line separators of Unicode. JSON of a model has no NaN and no
infinity. No JSON is nested deeper than `MOST_LEVELS`, in any version of Python: they read and write different depths.
The functions at the end change values within values, down to any depth.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from ais_prompt.errors import DataError
from ais_prompt.utils.text import reviewable_json

_BOM = b"\xef\xbb\xbf"
_BLANKS = " \t\n\r"
"""The whitespace of JSON."""
_HEAD = 60
"""Number of characters of a broken line that an error shows."""
MOST_LEVELS: Final = 500
"""Levels of nested objects and lists. Python 3.11 reads and writes about twice as many, fewer where calls are deep.

Later versions read ten times as many, which functions that call themselves for each level cannot handle.
"""
MOST_VALUES: Final = 1 << 23
"""Most values of one JSON text of others: each takes about 60 bytes, also an empty list."""
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_TOO_DEEP: Final = f"it is nested too deep, in more than {MOST_LEVELS} levels"


def encode(value: Any, indent: int | None = None) -> bytes:
    """Return a value as UTF-8 JSON that ends with a newline; on one line, without spaces, unless ``indent`` is given.

    Chinese and other text stays readable. UTF-8 has no bytes for a lone surrogate, so it is written as its JSON escape
    and is read back unchanged. Indented JSON is for people, so invisible characters are escaped in it too. Values that
    JSON does not know are written as their `str`.
    """
    text = _ENCODER.encode(value) if indent is None else reviewable_json(_indented(value, indent))
    # For a lone surrogate, "backslashreplace" writes exactly what JSON wants: \ud800.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def encode_plain(value: Any) -> bytes:
    """Do the same as `encode` on one line, five times as fast. The value has only types that `json` knows."""
    line = encode_finite(value)
    return encode(value) if b"null" in line else line  # msgspec writes NaN and infinity as null; json keeps them


def encode_finite(value: Any) -> bytes:
    """Do the same as `encode_plain`, but write NaN and infinity as null."""
    try:
        return _FINITE.encode(value) + b"\n"
    except (TypeError, ValueError):  # a subclass of a number or text, such as NumPy's; or a lone surrogate
        return encode(value)


def decode(text: str) -> Any:
    """Decode a JSON text. ``NaN`` and ``Infinity`` are read as floats, as Python's `json` does.

    Raises:
        ValueError: it is not JSON, is nested too deep, or has an object with the same key twice (one of the values
            would be lost).
    """
    text = text.strip(_BLANKS)
    try:
        # `decode` skips white space with regular expressions, which takes a sixth of the time of a line. It is called
        # only for its error message, if there is more than one value.
        value, end = _DECODER.raw_decode(text)
        if end < len(text):
            _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return checked_levels(value, text)


def most_values(content: bytes) -> int:
    """Return the number of values that JSON has at most: each begins after a comma, colon or bracket."""
    return 1 + sum(map(content.count, (b",", b":", b"[", b"{")))


def check_values(content: bytes, where: str) -> None:
    """Check that a JSON text has not too many values, before it is parsed: a small file may need all of the memory.

    Raises:
        DataError: it has.
    """
    if most_values(content) > MOST_VALUES and most_values(_STRING.sub(b"", content)) > MOST_VALUES:
        what, fix = f"it is too large: more than {MOST_VALUES:,} values", "copy the log again, or name another file"
        raise DataError(what, where=where, fix=fix)


def decode_own(content: bytes) -> Any:
    """Do the same as `decode` for JSON of this program, four times as fast: keys that occur twice are not found.

    Raises:
        ValueError: it is not JSON, or is nested too deep.
    """
    try:
        value = msgspec.json.decode(content)
    except (ValueError, RecursionError):  # a lone surrogate or NaN; or no JSON, and then `decode` raises the error
        return decode(content.decode())
    return checked_levels(value, content)


def checked_levels(value: Any, text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is nested in more than `MOST_LEVELS` levels.
    """
    brackets = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if brackets > MOST_LEVELS and _is_deeper(value):
        raise ValueError(_TOO_DEEP)
    return value


def read_objects(
    lines: Iterable[bytes], origin: str, *, own: bool = False, start: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number (from 1) and object of every line; blank lines are skipped, a byte order mark is ignored.

    Args:
        lines: the lines of a file that was opened in binary mode.
        origin: the file, for errors.
        own: whether this program wrote them, as in `decode_own`.
        start: the number of the first line.

    Raises:
        DataError: a line is not UTF-8, not JSON or not an object; it names the file and line.
    """
    for number, line in enumerate(lines, start=start):
        content = (line.removeprefix(_BOM) if number == 1 else line).strip()
        if content:
            yield number, _object_of_line(content, f"{origin}:{number}", own)


def parse_text(text: str | bytes) -> Any:
    """Do the same as `json.loads` for a text of data, or a reply, of others.

    Raises:
        ValueError: it is not JSON, or is nested too deep.
    """
    return _parsed(text, json.loads)


def parse_written(text: str) -> Any:
    """Return the value of a JSON text. Of equal keys in an object the last one counts.

    Raises:
        ValueError: it is no JSON, has a number beyond the range of a float, or is nested too deeply.
    """
    return _parsed(text, DECODER.decode)


def _parsed(text: Any, parse: Callable[[Any], Any]) -> Any:
    try:
        value = parse(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return checked_levels(value, text)


def _indented(value: Any, indent: int) -> str:
    """Return the same as `json.dumps`, ten times as fast: with an indent, that runs in Python."""
    try:
        return msgspec.json.format(_ENCODER.encode(value), indent=indent)
    except ValueError:  # NaN, infinity, or a lone surrogate
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def _object_of_line(content: bytes, where: str, own: bool) -> dict[str, Any]:
    try:
        value = decode_own(content) if own else decode(content.decode())
    except UnicodeDecodeError as error:
        raise DataError(f"the line is not UTF-8 text ({error.reason})", where=where, fix="save it as UTF-8") from None
    except ValueError as error:
        # The library counts lines within its text, which is a single line here.
        cause = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(
            f"the line is not JSON: {cause}: {_head(content)}",
            where=where,
            fix="JSONL has one object a line: repair the line, or set format='json' if the file is one JSON text",
        ) from None
    if not isinstance(value, dict):
        raise DataError(
            f"the line is not an object with columns but {type(value).__name__}: {_head(content)}",
            where=where,
            fix='write it as {"column": value, ...}',
        )
    return value


def _head(content: bytes) -> str:
    text = content.decode()
    # As a Python literal: control characters of a broken file must not reach the terminal.
    return repr(text if len(text) <= _HEAD else text[:_HEAD] + "…")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return value


def _is_deeper(value: Any) -> bool:
    """Return whether objects and lists are nested in more than `MOST_LEVELS` levels."""
    level: list[Any] = [[value]]
    for _ in range(MOST_LEVELS + 1):
        items = chain.from_iterable(one.values() if type(one) is dict else one for one in level)
        level = [item for item in items if type(item) is dict or type(item) is list]  # `isinstance` takes twice as long
        if not level:
            return False
    return True


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"the number {digits:.40} is too large")
    return number


# Shared decoders: creating one takes as long as decoding a short line.
_DECODER = json.JSONDecoder(object_pairs_hook=_object)
_FINITE = msgspec.json.Encoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"), default=str)
DECODER: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
"""The decoder, for JSON inside of a text; its `raw_decode` raises RecursionError for deep nesting."""


def leaves(value: Any) -> Iterator[Any]:
    """Yield what a value holds that is neither a mapping nor a list or tuple, in order; such a value yields itself."""
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(inner)
    else:
        yield value


def texts(value: Any) -> Iterator[str]:
    """Yield the texts among the `leaves` of a value."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))


def part_types(value: Any) -> Iterator[Any]:
    """Yield the ``type`` of every mapping in a value that has one, outer mappings first."""
    if isinstance(value, Mapping) and "type" in value:
        yield value["type"]
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from part_types(inner)


def with_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a value with every one of its `leaves` changed; tuples become lists."""
    if isinstance(value, Mapping):
        return {key: with_leaves(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [with_leaves(inner, change) for inner in value]
    return change(value)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a value with every one of its `texts` changed; tuples become lists."""
    return with_leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) else leaf)
