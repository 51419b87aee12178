from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.utils import (
    MOST_LEVELS,
    decode,
    decode_own,
    encode,
    encode_plain,
    parse_text,
    parse_written,
    read_objects,
)

# Code points one by one: `st.text` leaves out lone surrogates unless told so.
TEXTS = st.text(st.characters(exclude_categories=[]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
few = settings(max_examples=60)


def objects(*lines: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    return read_objects(lines, "data.jsonl")


@few
@given(VALUES)
def test_any_value_comes_back(value: Any) -> None:
    line = encode(value)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line.decode()) == value


@few
@given(VALUES)
def test_the_quicker_ways_are_as_good(value: Any) -> None:
    line = encode_plain(value)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert repr(decode(line.decode())) == repr(decode_own(line)) == repr(decode_own(encode(value))) == repr(value)


def outcome(read: Callable[[], Any]) -> str:
    try:
        return repr(read())
    except ValueError as error:
        return repr(error)


@given(st.binary() | st.text('[]{}:,"\\ud80e-+.1NaN ').map(str.encode))
def test_what_is_no_json_is_none_for_the_quicker_way(content: bytes) -> None:
    strict = outcome(lambda: decode(content.decode()))
    assume("occurs twice" not in strict)
    assert outcome(lambda: decode_own(content)) == strict


@pytest.mark.thorough
@few
@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=5))
def test_any_objects_come_back_line_by_line(values: list[dict[str, Any]]) -> None:
    lines = b"".join(map(encode, values)).splitlines(keepends=True)
    assert list(read_objects(lines, "x")) == list(enumerate(values, start=1))


def test_text_stays_readable() -> None:
    assert encode({"q": "问题 «é»"}) == '{"q":"问题 «é»"}\n'.encode()
    assert encode([1], indent=2) == b"[\n  1\n]\n"


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    assert encode("a\ud800b") == b'"a\\ud800b"\n'


def test_what_json_does_not_know_is_written_as_text() -> None:
    assert encode({"price": Decimal("1.50")}) == b'{"price":"1.50"}\n'


@pytest.mark.parametrize("value", [np.float64("0.1"), np.float64("nan"), np.str_("問"), HTTPStatus.OK])
def test_numbers_and_texts_may_have_types_of_their_own(value: Any) -> None:
    assert encode_plain({"a": [value]}) == encode({"a": [value]})


def test_nan_and_infinity_are_floats() -> None:
    assert str(decode("[NaN, -Infinity]")) == "[nan, -inf]"
    assert str(decode_own(encode_plain([float("nan"), float("-inf")]))) == "[nan, -inf]"


@pytest.mark.parametrize("text", ['{"a": 1, "b": 2, "a": 1}', '[{"x": {"a": 1, "a": 2}}]'])
def test_a_key_that_stands_twice(text: str) -> None:
    with pytest.raises(ValueError, match="'a' occurs twice"):
        decode(text)


READERS: dict[str, Callable[[str], Any]] = {
    "decode": decode,
    "decode_own": lambda text: decode_own(text.encode()),
    "parse_text": parse_text,
    "parse_written": parse_written,
}


@pytest.mark.parametrize("name", READERS)
def test_every_python_reads_the_same_levels(name: str) -> None:
    for begin, end in (("[", "]"), ('{"[": ', "}")):
        for inside in ("1", '"{["', "[]"):
            deepest = MOST_LEVELS - inside.startswith("[")
            text = begin * deepest + inside + end * deepest
            assert READERS[name](text) == json.loads(text)
            for levels in (deepest + 1, 2 * MOST_LEVELS, 10 * MOST_LEVELS, 200 * MOST_LEVELS):
                with pytest.raises(ValueError, match="nested too deep"):
                    READERS[name](begin * levels + inside + end * levels)


def test_lines_are_numbered_and_blank_ones_skipped() -> None:
    lines = (b'\xef\xbb\xbf{"a": 1}\r\n', b"\n", b" \t\r\n", b'{"a": 2}')
    assert list(objects(*lines)) == [(1, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"a": 1,}', "the line is not JSON: "),
        (b'{"a"; 1}', "Expecting ':' delimiter at character 5: '{\"a\"; 1}'"),
        (b"{} {}", "Extra data at character 4"),
        (b'"text"', "not an object with columns but str"),
        (b"null", "not an object with columns but NoneType"),
        (b'{"a": "\xe9"}', "not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', "not JSON"),
    ],
)
def test_a_broken_line_is_named(line: bytes, what: str) -> None:
    with pytest.raises(DataError) as caught:
        list(objects(b'{"a": 1}\n', line))
    assert what in caught.value.what
    assert caught.value.where == "data.jsonl:2"
    assert caught.value.fix


def test_an_error_shows_only_the_head_and_no_control_characters() -> None:
    with pytest.raises(DataError) as caught:
        list(objects(b"\x1b[31m" + b"x" * 10_000))
    assert len(caught.value.what) < 200
    assert "\x1b" not in caught.value.what
    assert "\\x1b[31mxxx" in caught.value.what


def test_objects_are_read_as_they_are_needed() -> None:
    rows = read_objects(iter([b'{"a": 1}\n', b"broken"]), "x")
    assert next(rows) == (1, json.loads('{"a": 1}'))
