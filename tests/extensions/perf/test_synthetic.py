"""Prompts of chosen lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.perf.prepare import shared_prefix
from ais_prompt.extensions.perf.synthetic import SyntheticDataset
from ais_prompt.models import load_tokenizer

TOKENIZER = str(Path(__file__).parents[3] / "configs/data/demo_model")


def rows(**arguments: Any) -> list[dict[str, Any]]:
    return list(SyntheticDataset(**arguments).read("test"))


def config(method: str, **params: Any) -> dict[str, Any]:
    side = {"Method": method, "Params": {"MinValue": 5, "MaxValue": 60, **params}}
    return {"Type": "string", "RequestCount": 300, "StringConfig": {"Input": side, "Output": side}}


def test_prompts_have_the_lengths_that_were_asked_for_and_share_no_beginning() -> None:
    found = rows(requests=50, input_tokens=[100, 200], output_tokens=16)
    assert len(found) == 50
    assert all(100 <= len(row["question"].split()) <= 200 and row["max_out_len"] == 16 for row in found)
    assert shared_prefix([row["question"] for row in found]) == 0
    assert found == rows(requests=50, input_tokens=[100, 200], output_tokens=16)
    assert found != rows(requests=50, input_tokens=[100, 200], output_tokens=16, seed=1)


@pytest.mark.torch
def test_with_a_tokenizer_lengths_are_exact() -> None:
    tokenizer = load_tokenizer(TOKENIZER, {}, {}, trust_remote_code=False)
    found = rows(requests=20, input_tokens=[1, 60], tokenizer_path=TOKENIZER)
    again = rows(requests=20, input_tokens=[1, 60])
    lengths = [len(tokenizer.encode(row["question"], add_special_tokens=False)) for row in found]
    assert all(1 <= length <= 60 for length in lengths)
    assert len(again) == 20
    fixed = rows(requests=20, input_tokens=40, tokenizer_path=TOKENIZER)
    assert {len(tokenizer.encode(row["question"], add_special_tokens=False)) for row in fixed} == {40}


@pytest.mark.parametrize(
    ("method", "params"), [("uniform", {}), ("gaussian", {"Mean": 30, "Var": 100}), ("zipf", {"Alpha": 1.5})]
)
def test_a_config_of_aisbench_means_the_same(method: str, params: dict[str, Any]) -> None:
    found = rows(config=config(method, **params))
    lengths = [len(row["question"].split()) for row in found]
    assert len(found) == 300
    assert min(lengths) >= 5
    assert max(lengths) <= 60
    assert len(set(lengths)) > 10
    assert {word for row in found for word in row["question"].split()} == {"A"}
    words = rows(config={**config(method, **params), "Text": "words"})
    assert "A" not in words[0]["question"].split()


@pytest.mark.torch
def test_prompts_of_tokens_share_the_prefix_that_was_asked_for() -> None:
    found = rows(
        config={"Type": "tokenid", "RequestCount": 9, "TokenIdConfig": {"RequestSize": 40, "PrefixLen": 20}},
        tokenizer_path=TOKENIZER,
    )
    assert len({row["question"][:20] for row in found}) == 1
    assert len({row["question"] for row in found}) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"requests": 0}, "requests must be from 1 to"),
        ({"input_tokens": [1, 2, 3]}, "input_tokens takes one number or two"),
        ({"input_tokens": [9, 2]}, "the least length 9 is more than"),
        ({"config": {"Type": "string"}}, "config needs RequestCount"),
        ({"config": {"Type": "letters", "RequestCount": 1}}, "Type cannot be 'letters'"),
        ({"config": config("normal")}, "Method cannot be 'normal'"),
        ({"config": config("gaussian", Mean=3)}, "gaussian takes Mean, Var"),
        ({"config": config("zipf", Alpha=1)}, "Alpha above 1"),
        ({"config": {"Type": "tokenid", "RequestCount": 1, "TokenIdConfig": {"RequestSize": 4}}}, "no tokenizer"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        SyntheticDataset(**arguments)
