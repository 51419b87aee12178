"""Values in the syntax of Java and JavaScript are read as BFCL reads them."""

from __future__ import annotations

import importlib
import importlib.util
import random
from collections.abc import Callable
from typing import Any

import pytest

from ais_prompt.extensions.benchmarks.function_calls import java_value, javascript_value


def test_java() -> None:
    cases = [
        ("12", "integer", None, 12),
        ("-12", "byte", None, -12),
        ("12L", "integer", None, "12L"),
        ("12L", "long", None, 12),
        ("12", "long", None, "12"),
        ("1.5f", "float", None, 1.5),
        ("1.5", "float", None, "1.5"),
        ("1.5e2", "double", None, 150.0),
        ("true", "boolean", None, True),
        ("True", "boolean", None, "True"),
        ("new Map()", "any", None, "new Map()"),
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("new int[] { }", "Array", "integer", []),
        ('new String[]{"a"}', "Array", "String", ['"a"']),
        ("{1, 2}", "Array", "integer", "{1, 2}"),
        ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<Long>() {{ add(1L); add(2L); }}", "ArrayList", "long", [1, 2]),
        ('new ArrayList<>(Arrays.asList(1, 2L, 1.5, true, "x", y))', "ArrayList", None, [1, 2, 1.5, True, "x", "y"]),
        ("new ArrayList<String>()", "ArrayList", "String", []),
        ('new HashMap<>() {{ put("a", 1); put("b", "x"); }}', "HashMap", None, {"a": 1, "b": "x"}),
        ("new HashMap<String, Long>()", "HashMap", None, {}),
        ("aMap", "HashMap", None, "aMap"),
    ]
    for text, kind, items, read in cases:
        found = java_value(text, kind, items)
        assert (found, type(found)) == (read, type(read))


def test_javascript() -> None:
    cases = [
        ("'a'", "String", None, "a"),
        ("a", "String", None, "a"),
        ("3", "integer", None, 3),
        ("3.0", "integer", None, "3.0"),
        ("3", "float", None, 3.0),
        ("3n", "Bigint", None, 3),
        ("3", "Bigint", None, "3"),
        ("false", "Boolean", None, False),
        ("() => 1", "any", None, "() => 1"),
        ("[1, 'two', true]", "array", None, [1, "two", True]),
        ("['a', 'b']", "array", "String", ["a", "b"]),
        ("new Array(1, 2)", "array", "integer", [1, 2]),
        ("[]", "array", "integer", []),
        ("[[1, 2], [3]]", "array", None, [[1, 2], [3]]),
        ("[\n [1],\n [2]\n]", "array", "array", [[1], [2]]),
        ("new Array([1], [2])", "array", None, [[1], [2]]),
        ("items", "array", "String", "items"),
        ("{}", "dict", None, {}),
        ("{'a': 'b', n: 2, list: [1, 2]}", "dict", None, {"a": "b", "n": 2, "list": [1, 2]}),
        ("options", "dict", None, "options"),
    ]
    for text, kind, items, read in cases:
        found = javascript_value(text, kind, items)
        assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    "piece", ["[[a],", "],[", "[", 'put("",', "new HashMap<>() {", "new ArrayList<>() {{ ", "a:", " "]
)
def test_a_text_that_never_ends_is_read_all_the_same(piece: str) -> None:
    """Expressions that could try a text in too many ways would not end here."""
    for start in ("", "[[", "{", "new HashMap<>() {{", "new ArrayList<>() {{"):
        text = (start + piece * 2000)[:2000]
        for kind in ("Array", "ArrayList", "HashMap"):
            java_value(text, kind, "String")
        for kind in ("array", "dict"):
            javascript_value(text, kind)
    assert java_value("1" * 3000, "integer") == "1" * 3000


PIECES = (
    *(
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "{{",
        "}}",
        "(",
        ")",
        ",",
        ":",
        " ",
        "\n",
        '"',
        "'",
        "a",
        "1",
        "-2",
        "3L",
        "1.5f",
    ),
    *("true", '"s"', 'put("a", 1)', "add(2)", ";", "new ", "Array(", "ArrayList<>", "HashMap<>", "Arrays.asList("),
)
STARTS = (
    *("", "[", "[[", "{", "new int[]{", "new Array(", "new Array(["),
    "new ArrayList<>() {{",
    "new HashMap<>() {{",
)


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("bfcl_eval") is None, reason="pip install --no-deps bfcl-eval")
@pytest.mark.parametrize(
    ("ours", "module", "kinds"),
    [
        (java_value, "java", ["integer", "long", "float", "double", "boolean", "Array", "ArrayList", "HashMap", "any"]),
        (javascript_value, "js", ["String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any"]),
    ],
)
def test_the_converters_of_bfcl(ours: Callable[..., Any], module: str, kinds: list[str]) -> None:
    package = "bfcl_eval.eval_checker.ast_eval.type_convertor"
    theirs = getattr(importlib.import_module(f"{package}.{module}_type_converter"), f"{module}_type_converter")
    drawn = random.Random(0)
    for _ in range(20_000):
        text = drawn.choice(STARTS) + "".join(drawn.choices(PIECES, k=drawn.randrange(8)))
        kind = drawn.choice(kinds)
        items = drawn.choice([None, "String", "integer", "float"]) if kind in ("Array", "ArrayList", "array") else None
        try:
            expected = theirs(text, kind, items)
        except Exception:  # some texts are an error there
            continue
        assert repr(ours(text, kind, items)) == repr(expected), (text, kind, items)
