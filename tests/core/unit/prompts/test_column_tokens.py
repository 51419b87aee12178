from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.prompts import PromptTemplate

TOKENS = {"q": "</q>", "a": "</a>"}
ROW = {"q": "sky?", "a": 1}


def test_tokens_stand_for_columns_and_braces_for_themselves() -> None:
    assert PromptTemplate("</q></q> </a> {q}", column_token_map=TOKENS).render(ROW) == "sky?sky? 1 {q}"


def test_values_are_never_looked_at_again() -> None:
    template = PromptTemplate("</q> </a>", column_token_map=TOKENS)
    assert template.render({"q": "</a>", "a": "</q>"}) == "</a> </q>"


def test_a_missing_column_is_an_error() -> None:
    with pytest.raises(PromptError, match="'a', which the data does not have"):
        PromptTemplate("</q></a>", column_token_map=TOKENS).render({"q": "sky?"})


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"column_token_map": {"q": "<x>", "a": "<x>"}}, "share a token"),
        ({"column_token_map": {"q": "<x>"}, "ice_token": "<x>"}, "both ice_token and the token of a column"),
        ({"column_token_map": {"q": ""}}, "the token of column 'q'"),
        ({"column_token_map": {"q": 3}}, "the token of column 'q'"),
        ({"column_token_map": ["<x>"]}, "must be a mapping"),
        ({"column_token_map": {"q": "<x>"}, "selected_column_name": "q"}, "need each other"),
    ],
)
def test_tokens_that_cannot_work_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(PromptError, match=what):
        PromptTemplate("<x>", **options)


def test_a_label_is_shown_by_its_text() -> None:
    template = PromptTemplate(
        "</E></q> </a>",
        ice_token="</E>",
        column_token_map=TOKENS,
        selected_column_name="a",
        selected_column_map={"0": "bad", "1": "good"},
    )
    assert template.render_example(ROW, label=1) == "sky? good"
    assert template.render({**ROW, "a": ""}) == "sky? "
    assert template.render(ROW, label="0", examples="shot ") == "shot sky? bad"
    with pytest.raises(PromptError, match="no text for the label 2"):
        template.render_example(ROW, label=2)


def test_label_prompts_need_an_ice_token() -> None:
    with pytest.raises(PromptError, match="needs an ice_token for label prompts"):
        PromptTemplate("</q>", column_token_map=TOKENS).render(ROW, label="A")
