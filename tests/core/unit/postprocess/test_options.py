from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.postprocess import (
    first_option_postprocess,
    last_option_postprocess,
    multiple_select_postprocess,
    option_dataset_postprocess,
)
from ais_prompt.registry import POSTPROCESSORS

ONE_OPTION = [
    # the letter alone, or at the beginning
    ("B", "B"),
    (" B.\n", "B"),
    ("(B)", "B"),
    ("[[B]]", "B"),
    ("__B__", "B"),
    ("B) Paris", "B"),
    ("(b) Paris", "B"),
    ("B：巴黎", "B"),
    ("It's C", "C"),
    ("I would choose B", "B"),
    # announced
    ("The answer is B", "B"),
    ("The answer is (B).", "B"),
    ("The answer is 'B'", "B"),
    ("The answer is A because B is not", "A"),
    ("A good question: the answer is **(B)**.", "B"),
    ("the correct answer is: **B**", "B"),
    ("The correct answer is\n\nB", "B"),
    ("**Answer:** C", "C"),
    ("ANSWER: B", "B"),
    ("Answer: C. Because A is wrong", "C"),
    ("Therefore, the correct option is (C) 42", "C"),
    ("The answer to the question is B: Paris", "B"),
    ("I think the answer is option D.", "D"),
    ("The best choice would be C", "C"),
    ("A is correct", "A"),
    ("A. Paris\nB. Rome\nThe answer is B", "B"),
    # announced in Chinese
    ("答案：B", "B"),
    ("答案：\nC", "C"),
    ("答案为（C）", "C"),
    ("正确答案是：C", "C"),
    ("故选D。", "D"),
    ("不选A，选B", "B"),
    ("选项B正确", "B"),
    ("因此，B选项正确。", "B"),
    ("B是正确的", "B"),
    # boxed
    (r"$\boxed{B}$", "B"),
    (r"\boxed{(B)}", "B"),
    (r"\boxed{\text{B}}", "B"),
    (r"\boxed{C. Paris}", "C"),
    (r"The answer is A. No: \boxed{D}", "D"),
    # after its text, or beside those that are wrong
    ("**Paris** – Option B", "B"),
    ("The capital is Paris (option B).", "B"),
    ("B (Paris)", "B"),
    ("A is not correct. B is.", "B"),
    ("By elimination, B.", "B"),
    ("- A) London ❌\n- B) Paris ✅\n- C) Rome ❌", "B"),
    ("None of the above (D).", "D"),
    ("B选项", "B"),
    ("<final_answer>B</final_answer>", "B"),
    ("<option>B</option>", "B"),
    ("<correct_option>B</correct_option>", "B"),
    # after thinking
    ("<think>The answer is A</think>\n\nB", "B"),
    ("The answer is A</think>B", "B"),
]

NO_OPTION = [
    "",
    "I do not know.",
    "A good question. Hmm.",
    "The answer is Africa",
    "The answer is a number",
    "It could be A or B",
    "Vitamin C is good.",
    "A) London ✅\nB) Paris ✅",
    "A (Paris)\nB (Rome)\nC (Oslo)",
    "<option>A</option>\n<option>B</option>",
    "Step 1: A. Einstein was born in Ulm.",
    "答案是Africa",
    r"\boxed{42}",
    "ABCD",
    "E",
    "<think>The answer is B",
]


def test_the_option_that_is_named() -> None:
    for text, option in ONE_OPTION:
        assert first_option_postprocess(text, "ABCD") == option


@pytest.mark.parametrize("text", NO_OPTION)
def test_what_names_no_option(text: str) -> None:
    assert first_option_postprocess(text, "ABCD") is None
    assert last_option_postprocess(text, "ABCD") is None


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("【解析】选项A说的是时间，选项C说的是地点。因此，选项B最合适。<eoe>\n【答案】: B <eoa>", "B"),
        ("选项A是正确的，选项B也是正确的。综上，错误的是选项D。", "D"),
        ("很多同学会选A，但正确答案是B。", "B"),
        ("Although many would choose A, B is the better answer.", "B"),
        ("I'd say A... scratch that, C.", "C"),
        ("Team A beat Team B.", None),
        ("So the answer is (A) or (B).", None),
        ("A和C都有可能。", None),
        ("B和C我都不选。", None),
        ("The statement in D is a summary.", None),
        ("论文的D部分介绍了方法。", None),
    ],
)
def test_a_mention_is_no_answer(text: str, option: str | None) -> None:
    assert first_option_postprocess(text, "ABCD") == option


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["【答案】A、C <eoa>", "So the answer is (A) and (C).", "The answer is A, B and C."])
def test_a_list_is_no_choice_of_one_option(text: str) -> None:
    assert first_option_postprocess(text) is None
    assert last_option_postprocess(text) is None
    assert set("AC") <= set(multiple_select_postprocess(text) or "")


def test_first_and_last_of_several() -> None:
    text = "The answer is A. The answer is C as well. All the others, B and D, are wrong."
    assert first_option_postprocess(text, "ABCD") == "A"
    assert last_option_postprocess(text, "ABCD") == "C"


def test_an_answer_that_is_taken_back_does_not_count() -> None:
    text = "The answer is A. Wait: the answer is C. All the others, B and D, are wrong."
    assert first_option_postprocess(text, "ABCD") == "C"
    assert last_option_postprocess(text, "ABCD") == "C"


def test_without_cushion_a_letter_must_be_an_answer() -> None:
    assert first_option_postprocess("Probably B.") == "B"
    assert first_option_postprocess("Probably B.", cushion=False) is None
    assert first_option_postprocess("B", cushion=False) == "B"


def test_the_options_may_be_any_letters() -> None:
    assert first_option_postprocess("I think that it is J.", "ABCDEFGHIJ") == "J"
    assert first_option_postprocess("The answer is I.", "ABCDEFGHIJ") == "I"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("AC", "AC"),
        ("C, A", "AC"),
        ("The answers are (A) and (C).", "AC"),
        ("The answer is B", "B"),
        ("选ABD。", "ABD"),
        (r"\boxed{A, B}", "AB"),
        ("The correct options are **A) a1** and **C) c1**.", "AC"),
        ("The correct answers are:\n\n**A. a1**\n**C. Bees**", "AC"),
        ("A) a1 and C) c1", "AC"),
        ("Both A and C", "AC"),
        ("Just B.", "B"),
        ("The correct options are A (Paris) and C (Rome).", "AC"),
        ("The answer is B. A is a city.", "B"),
        ("The only correct option is B; A, C and D are wrong.", "B"),
        ("Correct: A, C. Wrong: B, D.", "AC"),
        ("Nothing here", None),
    ],
)
def test_several_options(text: str, options: str | None) -> None:
    assert multiple_select_postprocess(text) == options


@pytest.mark.parametrize(
    ("gold", "letters"),
    [
        *[
            (gold, "B")
            for gold in ("B", "(B)", "B.", "B. Paris", "【B】", "选B", "B选项", "正确答案：B。", "Ｂ", ["B"])
        ],
        *[(gold, "ACD") for gold in ("ACD", "A、C、D", "A；C；D", "A|C|D", "A-C-D", "A.C.D", "A C D", "A\nC\nD")],
        *[(gold, "AC") for gold in (["C", "A"], '["A", "C"]', "A and C", "A和C")],
    ],
)
def test_the_letters_of_a_gold(gold: object, letters: str) -> None:
    assert option_dataset_postprocess(gold) == letters


@pytest.mark.parametrize("gold", ["", "Paris", "NBA", "AB-100", "B+", "A-", "C++", 3, None])
def test_a_gold_without_letters_is_refused(gold: object) -> None:
    with pytest.raises(DataError, match="names no option"):
        option_dataset_postprocess(gold)


@given(st.text(), st.sampled_from("ABCD"))
def test_an_announcement_after_anything_is_found(before: str, option: str) -> None:
    assert last_option_postprocess(f"{before}</think>\nThe answer is {option}") == option


@given(st.text(st.sampled_from("AaBbCcIi ().:*$'\\boxed{}<think/>答案是选\n"), max_size=60))
def test_the_result_is_an_option_or_none(text: str) -> None:
    for option in (first_option_postprocess(text), last_option_postprocess(text)):
        assert option is None or option in "ABCD"


LONG = ["the answer to ", "answer is ", "( ", "[[", "\\boxed{", "<think>", "**", "选", "```\n", "\n", " ", "'", "$"]


@pytest.mark.thorough
def test_a_long_answer_takes_little_time() -> None:
    begin = time.process_time()
    for text in LONG:
        long = text * (10_000 // len(text))
        for postprocess in (first_option_postprocess, last_option_postprocess, multiple_select_postprocess):
            assert postprocess(long) is None
            assert postprocess("The answer is " + long + " B") in ("B", None)
    assert time.process_time() - begin < 30  # hours, if one of them tried every way to match


@pytest.mark.parametrize(
    "name", ["first_option_postprocess", "last_option_postprocess", "multiple_select_postprocess", "multiple-select"]
)
def test_they_are_found_by_name(name: str) -> None:
    assert POSTPROCESSORS.get(name)("so B.") == "B"
