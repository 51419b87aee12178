"""What an answer takes back, supposes, or only bounds is not its answer."""

from __future__ import annotations

from itertools import product

import pytest

from ais_prompt.postprocess import (
    first_option_postprocess,
    gsm8k_postprocess,
    last_option_postprocess,
    math_postprocess_v2,
    multiple_select_postprocess,
)

OPTIONS = (first_option_postprocess, last_option_postprocess)
STATED = ("The answer is {0}.", "**Answer: {0}**", "So it's {0}.", "\\boxed{{{0}}}", "The final answer is {0}.")
WITHDRAWN = (
    "Wait, no. I misread the question.",
    "Wait, that's not right.",
    "Hmm, that's incorrect.",
    "Actually, no.",
    "No, wait.",
    "Hold on, I made an error.",
    "Sorry, I was wrong.",
    "Scratch that.",
    "My apologies, that was wrong.",
    "I need to correct myself.",
    "On second thought,",
    "Hmm, wait, let me reconsider.",
    "Correction:",
    "No,",
)
ASSERTED = ("it's {0}.", "the answer is {0}.", "the correct answer is {0}.", "it must be {0}.", "so it should be {0}.")
STATED_ZH = ("答案是{0}。", "所以答案为{0}。", "\\boxed{{{0}}}。", "【答案】{0}。")
WITHDRAWN_ZH = (
    "等等，不对。",
    "不对，",
    "不，",
    "哦不，",
    "等一下，我看错了。",
    "抱歉，我弄错了。",
    "更正：",
    "上面的答案有误。",
    "对不起，刚才的答案不正确。",
    "我漏看了一个条件，不对，",
)
ASSERTED_ZH = ("应该是{0}。", "答案是{0}。", "正确答案是{0}。", "其实是{0}。", "所以是{0}。")
CORRECTIONS = [
    *product(STATED, (f" {one} " for one in WITHDRAWN), ASSERTED),
    *product(STATED_ZH, WITHDRAWN_ZH, ASSERTED_ZH),
    ("Answer: {0}", "\n\nCorrection: ", "{0}"),
    ("I'd say {0}", "... no wait, ", "the answer is {0}."),
    ("Final answer: {0}.", " Wait. Let me re-read. The question asks for the other one. ", "So the answer is {0}."),
]
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
    "The answer is {0}. Let me know if I made a mistake!",
    "答案是{0}。有人会说{1}，那是看错了题。",
)


@pytest.mark.thorough
def test_the_last_assertion_after_a_correction_counts() -> None:
    for stated, withdrawn, asserted in CORRECTIONS:
        options, numbers = (
            f"{stated.format(first)}{withdrawn}{asserted.format(second)}"
            for first, second in (("B", "C"), ("48", "52"))
        )
        assert [find(options) for find in OPTIONS] == ["C", "C"], options
        assert [find(numbers) for find in (gsm8k_postprocess, math_postprocess_v2)] == ["52", "52"], numbers


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


def test_the_number_of_a_mark_is_what_the_mark_is_about() -> None:
    cases = [
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
    ]
    for box, number in cases:
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
        ("Multiplying 6 by 8 makes 48", "48"),
        ("It was built in 1907", "1907"),
        ("After 3 hours she has walked 12 km.", "12"),
        ("It is 42, not 18.", "42"),
        ("30 + 22 = 52\n\nThis is a classic example of a", "52"),
        ("#### 42 (after 3 steps)", "42"),
    ],
)
def test_the_only_number_of_an_ordinary_sentence_is_the_answer(text: str, number: str) -> None:
    assert gsm8k_postprocess(text) == number


def test_the_only_number_has_the_weakest_rule() -> None:
    found = gsm8k_postprocess("You have 6 left.")
    assert found is not None
    assert found.reading.rule == "the only number"
