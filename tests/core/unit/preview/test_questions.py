"""The question of a sample in one line: without the examples that each question has for itself."""

from __future__ import annotations

import random

import pytest

from ais_prompt.preview import questions
from ais_prompt.types import Prediction


def prompt_of(template: str, number: int, shots: int) -> Prediction:
    drawn = random.Random(number)
    examples = [template.format(q=drawn.randrange(100, 999), a="7") for _ in range(shots)]
    text = "\n\n".join(["Add up.", *examples, template.format(q=number, a="").rstrip()])
    return Prediction(f"s{number}", number, text, "", "", (), shots_used=shots)


@pytest.mark.parametrize("shots", [0, 1, 4])
@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("Question: {q}?\nAnswer: {a}", "Question: {q}?"),
        ("{q}+{q}=?\n{a}", "{q}+{q}=?"),
        ("问题 {q}：是几？\nA. 1{q}\nB. 2{q}\n答案：{a}", "问题 {q}：是几？ A. 1{q} B. 2{q}"),
    ],
)
def test_a_row_is_named_by_its_question_not_by_its_examples(template: str, shown: str, shots: int) -> None:
    found = questions([prompt_of(template, number, shots) for number in range(1, 5)])
    assert found == [shown.format(q=number) for number in range(1, 5)]


CHAT_TEMPLATES = {
    "ChatML": "<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n",
    "ChatML, no thoughts": "<s><|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    "Llama 2": "<s>[INST] 1+1=? [/INST] 2 </s><s>[INST] {q} [/INST]",
    "Llama 3": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{q}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "Gemma": "<bos><start_of_turn>user\n{q}<end_of_turn>\n<start_of_turn>model\n",
    "Phi": "<|user|>\n1+1=?<|end|>\n<|assistant|>\n2<|end|>\n<|user|>\n{q}<|end|>\n<|assistant|>\n",
    "DeepSeek": "<｜begin▁of▁sentence｜>You help.<｜User｜>{q}<｜Assistant｜>",
    "gpt-oss": "<|start|>developer<|message|>Be brief.<|end|><|start|>user<|message|>{q}<|end|><|start|>assistant",
    "no template": "{q}",
}


@pytest.mark.parametrize("number", [1, 2], ids=["alone", "two"])
@pytest.mark.parametrize("name", CHAT_TEMPLATES)
def test_a_question_has_no_marker_of_its_chat_template(name: str, number: int) -> None:
    for wording in (
        "What is {n}+{n}?",
        "Model the list [{n}] as <b>text</b> and explain.",
        "User {n}: a <i> b, 1 < {n} | 2 > 3",
    ):
        asked = [wording.format(n=place + 3) for place in range(number)]
        prompts = [CHAT_TEMPLATES[name].format(q=question) for question in asked]
        found = questions([Prediction(f"s{at}", at, text, "", "", ()) for at, text in enumerate(prompts)])
        assert found == asked
