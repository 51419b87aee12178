"""A number or formula without a marker is read for a reason only."""

from __future__ import annotations

import pytest

from ais_prompt.postprocess import gsm8k_postprocess, match_answer_pattern, math_postprocess_v2


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Tickets: 3\n**Total:** 42 euros", "42"),  # fills its line
        ("She had 50 and gave away 8, so she has 42.", "42"),  # concluded
        ("6 * 7 = 42, she has 42 now.", "42"),
        ("She has 42 eggs.", "42"),  # all that the text states
        ("She sold 40 in May and 2 in June. The total is 42 clips, altogether.", "42"),
        ("So the total is 42,", "42"),
        ("30 + 12 = 42.\nShe has 42 eggs left.", "42"),  # repeats the result
        ("3 * 4 = 12\n12 - 2 = 10", "10"),  # no line has an end
        ("There are 3 cats.\nIn total there are 3 + 4 = 7 pets", "7"),  # sums up
        ("\x1b[31m 53 bikes", "53"),  # colours of a terminal are no numbers
    ],
)
def test_a_number_is_read_for_a_reason(text: str, result: str) -> None:
    assert gsm8k_postprocess(text) == result


def test_a_number_without_a_reason_is_not_read() -> None:
    cases = [
        "Tom has 15 marbles and Kim has 9 marbles.",
        "一个长方形的长是12米，宽是5米。",
        "1 mile = 1.609 km",
        "Each question is worth 5 points.",
        "I have used up my budget of 2048 tokens.",
        "2, 4, 8, 16, ...",
        "请找规律填空：2，4，8，16，（  ）",
        "ValueError: line 12 is wrong",
        "Hint: 144 is a perfect square.",
        "It takes 3 to 5 hours.",
        "def area(w, h=5):\n    return w * h",
        "18 times 4 is 72, but the 72 doesn't match the 80.",
        # breaks off: only the last line has no end
        "There are 3 cats.\nSo there are 3 + 4 = 7",
        "She earns 12 badges a month so she earns 12 * 3 = 36",
        "First, 3 * 4 = 12.\nThe total",
        # premises
        "Marta bakes 48 rolls and puts 6 into each bag. She sells every bag for $4.",
        "The sum of their ages is 20, and Tom is 8.",
        "小华有邮票56张，小丽的邮票比小华多12张。",
        "这座桥建于1968年，全长1576米。",
        "王老师做了一些花，明明得到15朵，东东得到23朵。",
        # numbers of something else
        "This question is from the 2021 regional contest, problem 6, and it is worth 7 points.",
        "I used 512 of 2048 tokens.",
        "输出已达到2048个token的上限。",
    ]
    for text in cases:
        assert gsm8k_postprocess(text) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("\\begin{align*}\n2x &= 8 \\\\\nx &= 4\n\\end{align*}", "x = 4"),
        ("Area: $25\\pi$ square units", "25\\pi"),
        ("解：x>3", "x>3"),
    ],
)
def test_the_last_line_or_clause_holds_the_formula(text: str, result: str) -> None:
    assert math_postprocess_v2(text) == result


@pytest.mark.parametrize(
    "text",
    [
        "By the triangle inequality, $|a + b| \\le |a| + |b|$.",
        "Recall the quadratic formula: $x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$.",
        "The answer is a polynomial in $x$, but I was not able to find it.",
        "What is left is to compute $\\int_0^1 e^x\\,dx$.",
        "这样得到$x=-2$，与$x>0$矛盾，需要重新来过。",
        "The expression under the root, $x - 4$, has to be nonnegative.",
    ],
)
def test_a_law_or_a_task_is_no_result(text: str) -> None:
    assert math_postprocess_v2(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("not no", None),
        ("It is not no but yes", "yes"),
        ("no", "no"),
        ("yes, not no", "yes"),
        ("It isn't yes: no", "no"),
    ],
)
def test_a_denied_match_of_a_pattern_is_no_answer(text: str, found: str | None) -> None:
    assert match_answer_pattern(text, r"(?i)\b(yes|no)\b") == found
