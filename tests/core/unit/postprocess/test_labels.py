"""Which label an answer gives; what names several, or none, gives none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.postprocess import label_postprocess

YES = ("yes", "no")
MOOD = ("positive", "negative", "neutral")
TRUE = ("True", "False")
ENTAILS = ("entailment", "not_entailment")
TOPICS = ("World", "Sports", "Business", "Sci/Tech")
MOOD_ZH = ("正面", "负面", "中性")
YES_ZH = ("是", "否")
RIGHT_ZH = ("正确", "错误")

GIVEN = [
    (YES, "yes", "Yes."),
    (YES, "yes", "Yes, it is."),
    (YES, "yes", "Sure! Yes."),
    (YES, "yes", "There is no doubt: yes."),
    (YES, "yes", "Yes, there is no other way."),
    (YES, "yes", r"\boxed{\text{yes}}"),
    (YES, "yes", "答案是yes。"),
    (YES, "no", "No, it is not."),
    (YES, "no", "NO"),
    (YES, "no", "No, no. Ice is cold."),
    (MOOD, "negative", "A negative."),
    (MOOD, "negative", "Negative: the company has lost money."),
    (YES, "no", "So the answer is **no**, as ice floats."),
    (YES, "no", "No. There is no way that this is right."),
    (YES, "yes", "True"),
    (YES, "no", "False"),
    (TRUE, "True", "The statement is true."),
    (TRUE, "False", "That is false."),
    (TRUE, "True", "Yes, it is."),
    (("T", "F"), "T", "The statement is true."),
    (("T", "F"), "F", "F"),
    (("T", "F"), "F", "No, it is not."),
    (("Y", "N"), "N", "No, there is no doubt."),
    (TRUE, "False", "The passage does not say so. So the answer is no."),
    (MOOD, "positive", "The sentiment of this review is Positive."),
    (MOOD, "positive", "It seems negative at first, but overall it is positive."),
    (MOOD, "positive", "<think>maybe negative</think>positive"),
    (MOOD, "positive", '{"label": "positive"}'),
    (MOOD, "positive", "The sentiment is positive, not negative."),
    (MOOD, "negative", "I don't think it's positive; it's negative."),
    (MOOD, "neutral", "It has positive and negative sides. I would say neutral."),
    (MOOD, "neutral", "I would classify this as neutral rather than positive."),
    (ENTAILS, "not_entailment", "The label is not entailment."),
    (ENTAILS, "entailment", "This is entailment."),
    (TOPICS, "Sports", "Category: sports"),
    (TOPICS, "Sci/Tech", "Sci/Tech"),
    (MOOD, "positive", "The review is positive, because the author does not use any negative or neutral words."),
    (MOOD, "positive", "Since nothing in it is bad, the review is positive."),
    (MOOD, "negative", "It is positive because of the actors, but overall negative."),
    (MOOD, "positive", '{"sentiment": "positive", "reason": "no negative words"}'),
    (MOOD, "positive", "'positive'"),
    (MOOD_ZH, "正面", "正面(没有负面内容)"),
    (("√", "×"), "√", "正确。"),
    (("√", "×"), "×", "❌"),
    (("√", "×"), "×", "The answer is ×."),
    (("√", "×"), "×", "这个说法是错误的。"),
    (("对", "错"), "错", "错误。"),
    (("對", "錯"), "錯", "這個說法是錯的。"),
    (MOOD_ZH, "正面", "这条评论是正面的。"),
    (MOOD_ZH, "负面", "情感：负面"),
    (YES_ZH, "是", "是的。"),
    (YES_ZH, "否", "否，因为冰会浮。"),
    (RIGHT_ZH, "错误", "这个说法是错误的。"),
]
NOT_GIVEN = [
    (YES, "It is true that ice floats."),
    (MOOD, "True"),
    (YES, "I cannot say yes or no without more information."),
    (YES, "There is no information about that."),
    (YES, "Yes and no."),
    (YES, "It depends. It could be yes."),
    (TRUE, "It may be true or false."),
    (TRUE, "This isn't true."),
    (TRUE, "Untrue"),
    (TRUE, "It could be yes or no."),
    (TRUE, "If it is true, then the claim holds."),
    (MOOD, "This could be positive or negative, it is hard to say."),
    (MOOD, "It is neither positive nor negative."),
    (MOOD, "It is not positive."),
    (MOOD, "Positive, negative and neutral are the labels."),
    (MOOD, "I do not know."),
    (MOOD, "I'm sorry, but as a chatbot I cannot give positive or negative feedback."),
    (MOOD, "non-positive"),
    (MOOD, "It is hardly positive."),
    (MOOD, "positive? I doubt it."),
    (MOOD, "It is positive because of the actors and negative because of the plot."),
    (YES, "Maybe yes."),
    (("√", "×"), "3 × 4 = 12"),
    (("√", "×"), "很难说。"),
    (("对", "错"), "正确的做法是另一种。"),
    (TOPICS, "The world of sports is big business."),
    (MOOD_ZH, "可能是正面，也可能是负面。"),
    (MOOD_ZH, "不是正面的。"),
    (YES_ZH, "这是一个难题，我不知道。"),
    (RIGHT_ZH, "这个说法不正确。"),
]


def test_a_label_that_an_answer_gives_is_read_as_it_is_written_in_the_data() -> None:
    for labels, label, text in GIVEN:
        assert label_postprocess(text, labels) == label


def test_an_answer_that_gives_no_single_label_is_unparsed() -> None:
    for labels, text in NOT_GIVEN:
        assert label_postprocess(text, labels) is None


WORDS = st.lists(st.sampled_from(["red", "blue", "deep blue", "not red", "x-ray"]), min_size=2, unique=True)


@pytest.mark.thorough
@given(WORDS, st.data())
def test_each_label_is_read_alone_and_announced_and_two_are_not(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    other = data.draw(st.sampled_from([one for one in labels if one != label]))
    for text in (label, label.upper(), f"The answer is {label}.", f"Label: {label}", f"**{label}**"):
        assert label_postprocess(text, labels) == label
    assert label_postprocess(f"It is {label} or {other}.", labels) is None


def test_a_list_of_labels_is_no_answer() -> None:
    for text in ("positive\nnegative", "Positive - negative", "**positive**; **negative**", "positive, negative."):
        assert label_postprocess(text, ["positive", "negative"]) is None, text
    assert label_postprocess("positive\nPositive", ["positive", "negative"]) == "positive"
