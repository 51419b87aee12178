"""What an answer takes back, supposes, or only bounds is not its answer."""

from __future__ import annotations

import pytest

from ais_prompt.postprocess.chosen_option import (
    first_option_postprocess,
    last_option_postprocess,
    multiple_select_postprocess,
)
from ais_prompt.postprocess.math import math_postprocess_v2
from ais_prompt.postprocess.numbers import gsm8k_postprocess

OPTIONS = (first_option_postprocess, last_option_postprocess)
CORRECTED = (
    "The answer is {0}. Wait, no. I misread the question. It's {1}.",
    "The answer is {0}. Actually, it's {1}.",
    "The answer is {0}. Oops, I miscounted. So the answer is {1}.",
    "The answer is {0}. Sorry, that's wrong: it's {1}.",
    "The answer is {0}. On second thought, it must be {1}.",
    "The answer is {0}. No, the answer is {1}.",
    "Final answer: {0}. Wait. Let me re-read. The question asks for the other one. So the answer is {1}.",
    "I think it is {0}. No, I was wrong, it is {1}.",
    "Answer: {0}\n\nCorrection: {1}",
    "\\boxed{{{0}}}\n\nWait, I made a mistake. The correct answer is \\boxed{{{1}}}.",
    "答案是{0}。等等，不对，应该是{1}。",
    "答案是{0}。不，应该是{1}。",
    "答案是{0}。抱歉，我算错了，答案是{1}。",
    "答案：{0}\n更正：{1}",
    "答案是{0}。不对，我漏看了一个条件，应该是{1}。",
)
TAKEN_BACK = (
    "The answer is {0}. Wait, that can't be right. Let me start over.",
    "The answer is {0}. No, sorry, that is wrong. I really don't know.",
    "\\boxed{{{0}}}. Hmm, no, I made a mistake. I have to look at this again.",
    "答案是{0}。等等，好像不对，让我再想想。",
    "答案是{0}。抱歉，我算错了，需要重新计算。",
)
KEPT = (
    "The answer is {0}. Let me double-check. Yes, the answer is {0}.",
    "The answer is {0}. Could it be {1}? No, that is too large.",
    "答案是{0}。有人会说{1}，那是看错了题。",
)


@pytest.mark.parametrize("form", CORRECTED)
def test_the_last_assertion_after_a_correction_counts(form: str) -> None:
    assert [find(form.format("B", "C")) for find in OPTIONS] == ["C", "C"]
    assert [find(form.format(48, 52)) for find in (gsm8k_postprocess, math_postprocess_v2)] == ["52", "52"]


@pytest.mark.parametrize("form", TAKEN_BACK)
def test_an_answer_that_is_taken_back_without_another_is_unparsed(form: str) -> None:
    assert [find(form.format("B")) for find in OPTIONS] == [None, None]
    assert [find(form.format(48)) for find in (gsm8k_postprocess, math_postprocess_v2)] == [None, None]


@pytest.mark.parametrize("form", KEPT)
def test_a_check_takes_nothing_back(form: str) -> None:
    assert first_option_postprocess(form.format("B", "C")) == "B"
    assert gsm8k_postprocess(form.format(48, 52)) == "48"


@pytest.mark.parametrize(
    "text",
    [
        "If it were heated, the answer would be {}.",
        "Had it been colder, {} would be correct.",
        "Assuming that it is ironic, the answer would be {}.",
        "若加热，则应选{}，答案为{}",
        "假如问的是最大的，那么答案就是{}。",
        "倘若温度不变，答案为{}。",
    ],
)
def test_a_supposition_is_no_answer(text: str) -> None:
    assert [find(text.format("C", "C")) for find in OPTIONS] == [None, None]
    assert gsm8k_postprocess(text.format(42, 42)) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("If I had to choose, I'd say B.", "B"),
        ("If we compare the units, the answer is B.", "B"),
        ("如果一定要选一个，我会选B。", "B"),
        ("If x = 4, A gives 12 and B gives 16, hence B.", "B"),
        ("若干年后，答案仍然是B。", "B"),
    ],
)
def test_a_way_to_the_answer_is_no_supposition(text: str, letter: str) -> None:
    assert first_option_postprocess(text) == letter


@pytest.mark.parametrize("joint", ["{} and {}", "{}, {}", "{} 和 {}", "The answer is {} and {}.", "{} and {} fit."])
@pytest.mark.parametrize("letters", [("(a)", "(c)"), ("(A)", "(C)")])
def test_two_labels_are_several_options_and_no_single_one(joint: str, letters: tuple[str, str]) -> None:
    text = joint.format(*letters)
    assert [find(text) for find in OPTIONS] == [None, None]
    assert multiple_select_postprocess(text) == "AC"


@pytest.mark.parametrize(
    "text",
    [
        "at least 59",
        "It is at least 59.",
        "The answer is more than 100.",
        "between 5 and 7",
        "5 or 6",
        "15, or possibly 16.",
        "不超过8。",
        "至少59，具体多少说不准。",
        "不是12就是13。",
        "My knowledge ends in 2023, so I can't answer this.",
        "The price rose from 20 to 25 dollars.",
    ],
)
def test_a_bound_or_a_choice_is_no_number(text: str) -> None:
    assert gsm8k_postprocess(text) is None


@pytest.mark.parametrize(
    ("box", "number"),
    [
        (r"42 \text{ cm}^2", "42"),
        (r"42\text{ cm}^{2}", "42"),
        (r"5\ \mathrm{m/s^2}", "5"),
        (r"5\,\mathrm{kg\cdot m^2}", "5"),
        (r"5 \frac{\text{m}}{\text{s}}", "5"),
        (r"x = 5", "5"),
        (r"12\%", "12"),
        (r"\$5", "5"),
        (r"90^\circ", "90"),
        (r"\text{Total: } 42", "42"),
        (r"\text{42 apples (3 bags)}", "42"),
        (r"16 - 3 = 13 \text{ eggs}", "13"),
        (r"1{,}234 \text{ m}^2", "1234"),
        (r"A = 25\pi \approx 78.5", "78.5"),
        (r"5 \text{ or } 6", None),
        (r"3, 5", None),
        (r"2\sqrt{3}", None),
        (r"3\pi", None),
    ],
)
def test_the_number_of_a_mark_is_what_the_mark_is_about(box: str, number: str | None) -> None:
    assert gsm8k_postprocess(rf"So it is \boxed{{{box}}}.") == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("I think it is 6.", "6"),
        ("3 + 3 makes 6", "6"),
        ("You have 6 left.", "6"),
        ("Sure! 6", "6"),
        ("Perhaps 7", "7"),
        ("It was built in 1907.", "1907"),
        ("I would give this 4 stars.", "4"),
        ("10 and 15 are equal to 20.", "20"),
        ("#### 42 (after 3 steps)", "42"),
    ],
)
def test_the_only_number_of_an_ordinary_sentence_is_the_answer(text: str, number: str) -> None:
    assert gsm8k_postprocess(text) == number


def test_the_only_number_has_the_weakest_rule() -> None:
    found = gsm8k_postprocess("You have 6 left.")
    assert found is not None
    assert found.reading.rule == "the only number"
