from __future__ import annotations

import pytest

from ais_prompt.errors import DataError
from ais_prompt.postprocess import last_boxed, math_dataset_postprocess, math_postprocess_v2
from ais_prompt.registry import POSTPROCESSORS


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{1}", "1"),
        (r"\boxed {1}", "1"),
        (r"\fbox{1}", "1"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{1} \boxed{2}", "2"),
        (r"\boxed{1} \boxed{2", "1"),
        (r"\boxed{\boxed{3}}", "3"),
        (r"{\boxed{3}", "3"),
        (r"} \boxed{3}}", "3"),
        (r"\boxed{", None),
        ("boxed{1}", None),
        ("", None),
    ],
)
def test_what_the_last_box_holds(text: str, content: str | None) -> None:
    assert last_boxed(text) == content


def test_the_result_of_a_solution() -> None:
    cases = [
        (r"first \boxed{1}, in the end \boxed{2}. The answer is 3.", "2"),
        ("The answer is 3.5", "3.5"),
        ("The answer is 42.", "42"),
        (r"The answer is $\$18.90$.", r"\$18.90"),
        ("The answer is 3. No, the answer is 4.", "4"),
        ("Final Answer: The final answer is $\\frac{1}{2}$. I hope it is correct.", r"\frac{1}{2}"),
        ("**Answer:** 12", "12"),
        ("Answer: $x=3$", "x=3"),
        ("答案是 5。", "5"),
        ("The answer is (1, 2)", "(1, 2)"),
        ("The answer is 1,000.", "1,000"),
        ("The answer is:\n\n12\n\nThat is all.", "12"),
        ("x=3", "x=3"),
        (r"\sin x", r"\sin x"),
        ("$$\n4\n$$", "4"),
        (r"Here we get \(3x\)", "3x"),
        ("So we get 7 apples.", "7"),
        (r"<think>\boxed{1}</think>\boxed{2}", "2"),
        (r"<think>\boxed{1}", None),
        ("I do not know", None),
        ("", None),
    ]
    for text, result in cases:
        assert math_postprocess_v2(text) == result


def test_a_gold_without_a_box_is_an_error() -> None:
    with pytest.raises(DataError, match="boxed") as caught:
        math_dataset_postprocess("x = 3")
    assert "dataset_postprocessor" in caught.value.fix


def test_they_are_found_by_name() -> None:
    assert POSTPROCESSORS.get("math_postprocess_v2")(r"\boxed{3}") == "3"
    assert POSTPROCESSORS.get("math_dataset_postprocess")(r"\boxed{3}") == "3"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the probability is **3/4**.", "3/4"),
        ("The distance is **2√5**.", "2√5"),
        ("It may be **3/4** or **1/4**.", None),
        ("It is not **3/4**.", None),
        ("Which is **3/4**?", None),
        ("**Step 1:** add", None),
        (r"2^{25} \cdot 26!", r"2^{25} \cdot 26!"),
        ("(2n+1)!!", "(2n+1)!!"),
        ("It is 42!", "42"),
        (r"\text{no solution}", r"\text{no solution}"),
        (r"10:45 \text{ a.m.}", r"10:45 \text{ a.m.}"),
    ],
)
def test_the_only_formula_in_bold_and_a_text_in_latex_are_results(text: str, answer: str | None) -> None:
    assert math_postprocess_v2(text) == answer
