from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.errors import DataError
from ais_prompt.postprocess.gsm8k import gsm8k_dataset_postprocess, gsm8k_postprocess
from ais_prompt.postprocess.numbers import to_decimal
from ais_prompt.registry import POSTPROCESSORS

GSM8K = next((parent / "shared/data/gsm8k" for parent in Path(__file__).parents if (parent / "shared").is_dir()), None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("She makes 9 * 2 = $18 every day.\n#### 18", "18"),
        ("The answer is 1,000.", "1000"),
        ("The answer is 18.\n\nQuestion: Tom has 5 apples.\nAnswer: 7", "18"),
        ("Question: what?", None),
        ("I do not know.", None),
        ("", None),
    ],
)
def test_the_answer_is_the_last_number_before_a_next_question(text: str, answer: str | None) -> None:
    assert gsm8k_postprocess(text) == answer


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("16 - 3 - 4 = <<16-3-4=9>>9\n#### 18", "18"),
        ("so\n#### 1,450,000", "1450000"),
        ("#### -3", "-3"),
        ("####18\n", "18"),
        ("#### a mark in the text\n#### 7", "7"),
    ],
)
def test_the_gold_stands_after_the_mark(text: str, gold: str) -> None:
    assert gsm8k_dataset_postprocess(text) == gold


@pytest.mark.parametrize("text", ["18", "", "so ####", "####  \n"])
def test_a_gold_without_mark_or_number_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="####") as caught:
        gsm8k_dataset_postprocess(text)
    assert "dataset_postprocessor" in caught.value.fix


def test_both_are_found_by_name() -> None:
    assert POSTPROCESSORS.get("gsm8k_postprocess")("it is 3") == "3"
    assert POSTPROCESSORS.get("gsm8k_dataset_postprocess")("#### 3") == "3"


@pytest.mark.skipif(GSM8K is None or not GSM8K.is_dir(), reason="the GSM8K data is not at hand")
@pytest.mark.parametrize(("split", "size"), [("test", 1319), ("train", 7473)])
def test_every_gold_of_the_real_data_is_a_whole_number(split: str, size: int) -> None:
    assert GSM8K is not None
    lines = (GSM8K / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line)["answer"] for line in lines]
    assert len(answers) == size
    for answer in answers:
        written = answer[answer.index("####") + 4 :].strip()
        gold = to_decimal(gsm8k_dataset_postprocess(answer))
        assert gold is not None
        assert gold == int(written.replace(",", ""))
        assert to_decimal(gsm8k_postprocess(answer)) == gold  # the gold solution, read as an answer
