"""The text by which rows are compared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.config import LoadedConfig, parse_run
from ais_prompt.data import BM25Retriever, RetrievalText
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.plan import build_retriever
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
    [(RetrievalText(), "no columns are named"), (RetrievalText(["a", "z"]), "the column 'z'")],
)
def test_what_cannot_be_compared_is_refused(text: RetrievalText, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        one(text, a="x")


@pytest.mark.parametrize("template", ["{b}", {"type": "PromptTemplate", "template": "{b}"}])
def test_the_template_of_reader_cfg_is_what_is_compared(template: Any) -> None:
    def text(reader: dict[str, Any], **retriever: Any) -> str:
        dataset = {
            "path": "rows.jsonl",
            "reader_cfg": {"input_columns": ["a"], "output_column": None, **reader},
            "infer_cfg": {
                "prompt_template": {"type": "PromptTemplate", "template": "{a}"},
                "retriever": {"type": "BM25Retriever", **retriever},
                "inferencer": {"type": "GenInferencer"},
            },
        }
        values = {"models": [{"type": "ScriptedModel", "abbr": "m"}], "datasets": [dataset]}
        [spec] = parse_run(LoadedConfig(values, "eval")).datasets
        found = build_retriever(spec)
        assert isinstance(found, BM25Retriever)
        return found.text.of([Sample("s", 0, {"a": "one", "b": "two"})])[0]

    assert text({}) == "one"
    assert text({"input_template": template}) == "two"
    assert text({"input_template": template}, input_template="{a}{b}") == "onetwo"
    assert text({"input_template": template}, input_columns=["a"]) == "one"
    with pytest.raises(ConfigFaults) as caught:
        text({"input_template": 5})
    assert "input_template is 5 (int), not a text" in caught.value.lines()[0]
