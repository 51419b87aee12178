"""A plain answer is read: a label, a label with any text of an option, a number; and a text alone gives no label."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.postprocess import to_decimal
from ais_prompt.registry import POSTPROCESSORS
from tests.support.real_data import BBH, needs

EXTRACTORS = ("first_option_postprocess", "last_option_postprocess", "multiple_select_postprocess")
# Texts of options that deny, contrast, suppose, judge, ask and name: all that may be mistaken for words of the model.
TEXTS = (
    "no",
    "incorrect",
    "Not every swan is white",
    "do not pay the fine",
    "No matter what the king says, the people will never obey.",
    "However, nothing was found.",
    "Neither of the two brothers is wrong",
    "If it rains, the match will be cancelled; otherwise not.",
    "The claim is false, but the reason given for it is correct.",
    "Wait until the water boils",
    "None of the above",
    "I don't think that the answer is known",
    "Which of them is right?",
    "Only some of those who object were asked, rather than all.",
    "A is larger than B",
    "A hat",
    "3 or 4",
    "between 5 and 10",
    "如果不下雨，我们就去爬山",
    "不是所有的金属都比水重",
    "然而，没有人回答他",
    "虽然他错了，但是他的结论是正确的",
    "以上都不对",
    "无法确定",
    "或者甲去，或者乙去",
    "很多人认为这样做不对，其实不然",
    "O型血的人可以给A型血的人输血",
    "错误",
    "可能是小王",
)
ALONE = (
    "{}",
    "{}.",
    "({})",
    "**{}**",
    "{})",
    r"\boxed{{{}}}",
    r"$\boxed{{\text{{{}}}}}$",
    r"\(\mathrm{{{}}}\)",
    r"{{\rm {}}}",
    "The answer is {}.",
    r"The answer is $\mathsf{{{}}}$.",
    "The correct answer is **{}**.",
    "Answer: {}",
    "Final answer: ({})",
    "I choose {}.",
    "Option {}",
    "{} is correct.",
    "答案：{}",
    "正确答案是{}。",
    "【答案】{}",
    "故选{}。",
    "本题应选{}。",
    "选项{}正确。",
    "（{}）",
    r"The answer is \({}\).",
    r"$\mathbf{{{}}}$",
    r"\boxed{{\rm {}}}",
)
SMALL = (
    "answer: {}",
    "The answer is {}.",
    "答案：{}",
    "答案是{}。",
    r"\boxed{{{}}}",
    r"\boxed{{\text{{({})}}}}",
    "({})",
    "{}",
)
WITH_TEXT = (
    "{}. {}",
    "{}) {}",
    "({}) {}",
    "{}: {}",
    "**{}** {}",
    "**{}. {}**",
    "{}、{}",
    "{}．{}",
    "{}：{}",
    "（{}）{}",
    r"\boxed{{{}. {}}}",
    r"\boxed{{\text{{({}) {}}}}}",
    "Option {}: {}",
    "Answer: {}. {}",
    "The answer is ({}) {}.",
    "The correct answer is:\n\n**{}) {}**",
    "So the answer is {}: {}",
    "答案：{}、{}",
    "答案是{}：{}。",
    "正确选项为{}．{}",
    "故选{}：{}。",
    "【答案】{}、{}",
)
THOUGHTS = ("", "<think>A? B? No: C or D.</think>\n\n", "so not D</think>")


@pytest.mark.thorough
def test_a_label_alone() -> None:
    for form in ALONE:
        for name in EXTRACTORS:
            for thought, letter in product(THOUGHTS, "ABCD"):
                assert POSTPROCESSORS.get(name)(thought + form.format(letter), "ABCD") == letter


def test_a_small_letter() -> None:
    for form in SMALL:
        for name in EXTRACTORS:
            for letter in "abcd":
                assert POSTPROCESSORS.get(name)(form.format(letter), "ABCD") == letter.upper()


@pytest.mark.thorough
def test_a_label_with_the_text_of_its_option() -> None:
    for form in WITH_TEXT:
        for name in EXTRACTORS:
            for thought, letter, text in product(THOUGHTS, "AD", TEXTS):  # A is a word, too
                answer = thought + form.format(letter, text)
                assert POSTPROCESSORS.get(name)(answer, "ABCD") == letter, answer


@pytest.mark.parametrize(
    "text", ["A man walks.", "An old man", "The red book", "I think", "a man is reading", "the end"]
)
@pytest.mark.parametrize("letter", "ABCD")
def test_a_label_with_a_blank_and_an_article(letter: str, text: str) -> None:
    if letter == "A" and not text.startswith(("A", "T")):
        pytest.skip('"A" is an article here')
    for name in EXTRACTORS:
        assert POSTPROCESSORS.get(name)(f"{letter} {text}", "ABCD") == letter


def test_a_list_of_labels_is_read_whole_or_not_at_all() -> None:
    for head in ["答案：", "正确答案是", "【答案】", "故选", "本题选", "最终答案为"]:
        for separator in ["、", "，", ",", ", ", "；", "/", "和", "与", "及", "以及", "&", "+", ""]:
            for letters in ("AB", "ABD", "BCD"):
                text = head + separator.join(letters) + "。"
                assert POSTPROCESSORS.get("multiple_select_postprocess")(text, "ABCD") == letters
                assert POSTPROCESSORS.get("first_option_postprocess")(text, "ABCD") is None
                assert POSTPROCESSORS.get("last_option_postprocess")(text, "ABCD") is None


@pytest.mark.parametrize("form", ["答案：{}或{}", "答案是{}或者{}。", "The answer is {} or {}.", "({}) or ({})"])
@pytest.mark.parametrize("name", EXTRACTORS)
def test_alternatives_choose_nothing(name: str, form: str) -> None:
    assert POSTPROCESSORS.get(name)(form.format("A", "C"), "ABCD") is None


@pytest.mark.thorough
@pytest.mark.parametrize("name", EXTRACTORS)
def test_the_words_a_and_i_are_no_labels(name: str) -> None:
    texts = (
        "Answer: I think so.",
        "Answer: A better one.",
        "A man walks his dog.",
        "I am not sure.",
        "A Frenchman won.",
    )
    assert [text for text in texts if POSTPROCESSORS.get(name)(text, "ABCDEFGHI")] == []


@pytest.mark.parametrize("name", EXTRACTORS)
def test_the_text_of_an_option_gives_no_label(name: str) -> None:
    assert [text for text in TEXTS if POSTPROCESSORS.get(name)(text, "ABCD")] == []


@pytest.mark.thorough
@needs(BBH)
@pytest.mark.parametrize("name", EXTRACTORS)
def test_the_texts_of_real_options(name: str) -> None:
    examples = [row["input"] for file in sorted(BBH.glob("*.json")) for row in json.loads(file.read_text())["examples"]]
    options = sorted({found for text in examples for found in re.findall(r"^\([A-R]\) (.+)$", text, re.MULTILINE)})
    answers = [(form, text) for text in options[::7] for form in WITH_TEXT]
    lost = [(form, text) for form, text in answers if POSTPROCESSORS.get(name)(form.format("C", text), "ABCD") != "C"]
    assert len(options) > 500
    assert len(lost) <= 0.005 * len(answers), lost


@pytest.mark.parametrize("name", ["gsm8k_postprocess", "math_postprocess_v2"])
@given(
    number=st.decimals(-(10**6), 10**6, places=2).map(lambda one: one.normalize()),
    form=st.sampled_from(
        ["{}", "{}.", "**{}**", r"\boxed{{{}}}", "#### {}", "The answer is {}.", "Answer: {}", "答案是{}。", "答案：{}"]
    ),
    thought=st.sampled_from(THOUGHTS),
)
def test_a_number_alone(name: str, number: Decimal, form: str, thought: str) -> None:
    assert to_decimal(POSTPROCESSORS.get(name)(thought + form.format(f"{number:,f}"))) == number


def test_a_number_is_read_whole() -> None:
    cases = [
        *[
            ("–5", "-5"),
            ("−5", "-5"),
            ("negative 4", "-4"),
            ("负4", "-4"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1e3", "1000"),
        ],
        *[("1 234", "1234"), ("1,234", "1234"), ("12万", "120000"), ("1.2 million", "1200000"), ("3/4", "0.75")],
    ]
    for written, value in cases:
        for form in ["{}", "The answer is {}.", "Answer: {}", "答案是{}。", "答案：{}", "最终答案：{}"]:
            for name in ["gsm8k_postprocess", "math_postprocess_v2"]:
                assert to_decimal(POSTPROCESSORS.get(name)(form.format(written))) == Decimal(value)
