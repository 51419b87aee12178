from __future__ import annotations

import pytest

from ais_prompt.prompts import column_marks, compile_text, split_at_sentinels


def filled(text: str, **fields: object) -> str:
    marks = column_marks(fields)
    return compile_text(text, tuple(marks)).fill(marks)


def test_every_copy_of_a_column_is_filled() -> None:
    assert filled("{q}{a}{q}", q="Q", a="A") == "QAQ"


@pytest.mark.parametrize("text", ["{ q }", "{q!r}", "{q:>5}", "{q.x}", "{q[0]}", "{Q}", "{other}", "{", "}", "{}", ""])
def test_there_is_no_format_language(text: str) -> None:
    assert filled(text, q="Q") == text


def test_double_braces_are_no_escape() -> None:
    assert filled("{{q}}", q="Q") == "{Q}"


def test_values_are_never_looked_at_again() -> None:
    assert filled("{q} {a}", q="{a}", a="{q}") == "{a} {q}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (None, "None"), (0.5, "0.5"), (1e21, "1e+21"), (-0.0, "-0.0"), (["x", 1], "['x', 1]"), ("é", "é")],
)
def test_values_are_written_as_python_does(value: object, text: str) -> None:
    assert filled("{v}", v=value) == text


def test_the_longer_of_two_marks_is_meant() -> None:
    assert compile_text("</E>><", ("</E>", "</E>>")).fill({"</E>": "short", "</E>>": "long"}) == "long<"


def test_split_leaves_the_other_marks() -> None:
    pieces = compile_text("{q}#{a}#", ("{q}", "{a}", "#")).split("#")
    assert [piece.fill({"{q}": "Q", "{a}": "A"}) for piece in pieces] == ["Q", "A", ""]


def test_sealed_keys_are_found_again_in_a_longer_text() -> None:
    text = compile_text("{q}, {a}?", ("{q}", "{a}"))
    framed = split_at_sentinels(f"{{q}} says: {text.with_sentinels} {{a}}", text.keys)
    assert framed.fill({"{q}": "{a}", "{a}": "A"}) == "{q} says: {a}, A? {a}"
