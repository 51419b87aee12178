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
