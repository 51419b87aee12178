"""Parts of users that fail on every answer are faults of a check; those that a text may upset are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ais_prompt


def fails(*_: Any) -> Any:
    raise RuntimeError("not written yet")


def has_no_name(text: str) -> Any:
    return extracted  # noqa: F821


def has_no_method(text: str) -> Any:
    return text.extract()  # type: ignore[attr-defined]


def reads_json(text: str) -> Any:
    return json.loads(text)["result"]


def reads_a_form(text: str) -> Any:
    import re

    return re.search(r"RESULT (\d)", text)[1]  # type: ignore[index]


def scores(answer: str, gold: str) -> float:
    return 1.0 / (len(answer) - len(answer))


def check(**scoring: Any) -> None:
    ais_prompt.check(
        {
            "models": [{"type": "ScriptedModel", "abbr": "fake"}],
            "datasets": [
                {
                    "abbr": "sums",
                    "rows": [{"question": "1+1", "answer": "2"}, {"question": "2+2", "answer": "4"}],
                    "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
                    "infer_cfg": {
                        "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
                        "inferencer": {"type": "GenInferencer"},
                    },
                    "eval_cfg": {"evaluator": {"type": "AccEvaluator"}, **scoring},
                }
            ],
        }
    )


@pytest.mark.parametrize(
    ("key", "function", "words"),
    [
        ("pred_postprocessor", fails, "RuntimeError: not written yet"),
        ("pred_postprocessor", has_no_name, "NameError"),
        ("pred_postprocessor", has_no_method, "AttributeError"),
        ("dataset_postprocessor", fails, "RuntimeError"),
        ("evaluator", scores, "ZeroDivisionError"),
    ],
)
def test_a_part_that_always_fails_is_a_fault(key: str, function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ais_prompt.ConfigFaults) as error:
        check(**{key: {"type": function}})
    [fault] = error.value.faults
    assert words in fault.what
    assert fault.where.startswith(f"datasets[0].eval_cfg.{key} · ")
    assert Path(__file__).name in fault.where


@pytest.mark.parametrize("function", [reads_json, reads_a_form])
def test_a_part_that_a_text_upsets_is_none(function: Callable[..., Any]) -> None:
    check(pred_postprocessor={"type": function})
