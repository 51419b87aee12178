from __future__ import annotations

import pytest

from ais_prompt.postprocess.acts import Act, act_of, breaks_off, sentences, unfinished_from


@pytest.mark.parametrize(
    ("sentence", "act"),
    [
        ("She has 42 apples left.", Act.STATE),
        ("还剩42个苹果。", Act.STATE),
        ("How many are left?", Act.ASK),
        ("The question asks for the total.", Act.ASK),
        ("还剩几个？", Act.ASK),
        ("I cannot answer this without the price.", Act.LACK),
        ("题目没有给出价格。", Act.LACK),
        ("Wait, 27 isn't divisible by 4.", Act.REJECT),
        ("First, we multiply 3 by 4.", Act.PLAN),
        ("接下来需要除以4。", Act.PLAN),
        ("Let x be the number of apples.", Act.SUPPOSE),
        ("设苹果有x个。", Act.SUPPOSE),
        ("If he buys 3, he gets 1 free.", Act.CONDITION),
        ("Let me know if you have questions.", Act.OFFER),
        ("Check: 3 * 4 = 12.", Act.REMARK),
    ],
)
def test_what_a_sentence_does(sentence: str, act: Act) -> None:
    assert act_of(sentence.replace("？", "?")) is act


@pytest.mark.parametrize(
    "sentence",
    [
        "First, we multiply: 3 * 4 = 12.",
        "To find the total, we add 3 and 4, which gives 7.",
        "Since there are 3 rows, we need 12 tiles.",
        "We know that x = 3, so y is 5.",
        "先把3和4相加，得到7。",
    ],
)
def test_a_conclusion_counts_for_more_than_what_comes_before_it(sentence: str) -> None:
    assert act_of(sentence.replace("，", ",")) is Act.STATE


@pytest.mark.parametrize("text", ["She buys 3 apples. Then", "3 + 4 =", "所以总价是", "It says “three", "x ("])
def test_a_text_that_breaks_off(text: str) -> None:
    assert breaks_off(text)


@pytest.mark.parametrize("text", ["She buys 3 apples.", "So it is 42", "**42**", "共42元"])
def test_a_text_with_an_end(text: str) -> None:
    assert not breaks_off(text)


def test_a_last_sentence_without_the_full_stop_that_others_have_is_unfinished() -> None:
    text = "She has 3 apples. The price of all the"
    assert text[unfinished_from(text) :].strip() == "The price of all the"
    assert unfinished_from("She has 3 apples. So 42.") == 0
    assert unfinished_from("no full stop anywhere") == 0


def test_sentences_cover_the_text_in_order() -> None:
    text = "One is 1. Two is 2!\nThree is 3."
    assert [text[one.start : one.end].strip() for one in sentences(text)] == ["One is 1.", "Two is 2!", "Three is 3."]
