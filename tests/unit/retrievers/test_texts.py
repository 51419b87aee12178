"""The text by which rows are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.retrievers.texts import RetrievalText
from ais_prompt.types import Sample


def one(text: RetrievalText, **fields: object) -> str:
    return text.of([Sample("id", 0, fields)])[0]


def test_columns_are_joined_by_one_blank() -> None:
    assert one(RetrievalText(["b", "a"]), a="x y", b=None, c="no") == "None x y"
    assert one(RetrievalText("a"), a=["x", 1]) == "['x', 1]"


@given(a=st.text(), b=st.text())
def test_a_template_is_filled_in_one_pass(a: str, b: str) -> None:
    assert one(RetrievalText(["a"], "{b}|{a}|{c}|{ a }"), a=a, b=b) == f"{b}|{a}|{{c}}|{{ a }}"


@pytest.mark.parametrize(
    ("text", "what"),
    [(RetrievalText(), "was not told of which columns"), (RetrievalText(["a", "z"]), "the column 'z'")],
)
def test_what_cannot_be_compared_is_refused(text: RetrievalText, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        one(text, a="x")
