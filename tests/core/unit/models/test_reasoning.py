"""Reasoning is separated from the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.models import (
    THINK_TAGS,
    THOUGHT_FORMS,
    answer_start,
    check_think_tags,
    split_reasoning,
    unknown_opening,
)
from ais_prompt.types import ChatMessage, Completion, FinishReason

CHAT = (ChatMessage("user", "2+2?"),)


def split(text: str, prompt: str = "2+2?", reasoning: str = "", finish: FinishReason = "stop") -> tuple[str, str, bool]:
    found = split_reasoning(Completion(text, finish, reasoning=reasoning), prompt, THINK_TAGS)
    return found.reasoning, found.text, found.unclosed


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>two\ntwice</think>\n\n4", "two\ntwice", "4"),
        ("\n<think>\n\n</think>\n\n4", "", "4"),
        ("two twice</think> 4", "two twice", "4"),  # the chat template of the server has opened it
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("4", "", "4"),
        ("The tag <think> opens and </think> closes.", "", "The tag <think> opens and </think> closes."),
    ],
)
def test_reasoning_is_separated_from_the_answer(text: str, reasoning: str, answer: str) -> None:
    assert split(text) == (reasoning, answer, False)


def test_reasoning_may_begin_in_the_prompt() -> None:
    assert split("two twice</think>4", prompt="2+2?<think>\n") == ("two twice", "4", False)
    assert split("two twi", prompt="2+2?<think>\n", finish="length") == ("two twi", "", True)
    assert split("4", prompt="2+2?<think>\n\n</think>\n\n") == ("", "4", False)


def test_unclosed_reasoning_is_not_an_answer() -> None:
    assert split("<think>is it 5? no, it is", finish="length") == ("is it 5? no, it is", "", True)


def test_a_server_may_separate_reasoning() -> None:
    assert split("4", reasoning="two twice") == ("two twice", "4", False)
    assert split("", reasoning="two twi", finish="length") == ("two twi", "", True)
    assert split("", reasoning="a tool is called", finish="stop") == ("a tool is called", "", False)


def test_other_tags_and_none() -> None:
    answer = Completion("[THINK]a[/THINK]b", "stop")
    assert split_reasoning(answer, CHAT, ("[THINK]", "[/THINK]")).text == "b"
    assert split_reasoning(answer, CHAT, ("<a>", "</a>")) == split_reasoning(answer, CHAT, None) == answer
    for wrong in ("<think>", ("a",), ("a", "a"), ("", "b")):
        with pytest.raises(ConfigError, match="two different texts"):
            check_think_tags(wrong)


HARMONY = "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"
WRITTEN = [
    ("<think>", "</think>", ""),
    ("<thinking>\n", "</thinking>\n\n", ""),
    ("<Thinking>", "</Thinking>", ""),
    ("<reasoning>", "</reasoning>", ""),
    ("<thought>\n", "</thought>", ""),
    ("[THINK]", "[/THINK]", ""),
    ("◁think▷", "◁/think▷", ""),
    ("<seed:think>", "</seed:think>", ""),
    ("<longcat_think>\n", "</longcat_think>", ""),
    ("<unused94>thought\n", "<unused95>", ""),
    ("<|channel>thought\n", "<channel|>", ""),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|begin_of_thought|>\n\n", "<|end_of_thought|>\n\n<|begin_of_solution|>", "<|end_of_solution|>"),
    HARMONY,
    ("<|start|>assistant" + HARMONY[0], "<|start|>assistant<|channel|>final <|constrain|>json<|message|>", ""),
    (HARMONY[0] + "Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>", *HARMONY[1:]),
    ("analysis", "assistantfinal", ""),
    ("Here is my thought process:", "Here is my response:", ""),
]
"""What opens the thoughts, what is between them and the answer, what follows the answer: as models write it."""


def test_the_forms_of_all_families_are_read_whole_and_unclosed() -> None:
    for opening, between, ending in WRITTEN:
        for thought in ("The answer is A.", "The first\n\nQuestion: is it A?"):
            found = split(f"\n{opening}{thought}{between}\nThe answer is B.{ending}")
            assert (found[1].strip(), found[2]) == ("The answer is B.", False), opening
            assert found[0].endswith(thought), opening
            is_prose = opening.startswith("Here")
            assert split(f"{opening}{thought}")[1:] == ((f"{opening}{thought}", False) if is_prose else ("", True))


def test_every_form_of_the_table_is_tried() -> None:
    for form in THOUGHT_FORMS:
        assert any(form.opening.match(opening + "The") for opening, _, _ in WRITTEN), form.models


def test_thoughts_that_the_server_opened_end_at_their_closing_tag() -> None:
    for opening, between, ending in WRITTEN:
        if not opening.startswith("Here"):
            assert split(f"I see A.{between}B{ending}")[1] == "B", opening
    assert split("<|channel|>final<|message|>B<|return|>") == ("", "B", False)
    assert split("X. Here is my response: B") == ("", "X. Here is my response: B", False)


def test_thoughts_that_follow_each_other_are_all_separated() -> None:
    assert split("<think>A</think>\n<think>C</think>\nB") == ("A</think>\n<think>C", "B", False)
    assert split("<think>A</think>\n<think>C")[1:] == ("", True)


@given(st.sampled_from(WRITTEN), st.text("AB. \n", max_size=20), st.text("AB. \n", max_size=20))
def test_stop_texts_end_the_answer_and_not_the_thoughts(form: tuple[str, str, str], thought: str, answer: str) -> None:
    opening, between, _ = form
    text = f"{opening}The {thought}{between}{answer}"
    start = answer_start(text, CHAT, THINK_TAGS)
    assert text[start:].strip() == answer.strip()
    assert answer_start(f"{opening}The {thought}", CHAT, THINK_TAGS) in (0, len(f"{opening}The {thought}"))


def test_answers_without_thoughts_stay_as_they_are() -> None:
    for text in ("analysis shows B", "[think tank] B", "A <reasoning> tag", "The channel is B", "final B", "Here is B"):
        assert split(text) == ("", text, False)


def test_tags_that_no_form_has_are_noticed() -> None:
    for text, tag in (
        ("<my_thoughts>A</my_thoughts>B", "<my_thoughts>"),
        (" <|think_start|>A", "<|think_start|>"),
        ("[REASONING]A[/REASONING]B", "[REASONING]"),
        ("<b>I think B</b>", ""),
        ("I <think> B", ""),
        ("< thinking > B", ""),
    ):
        assert unknown_opening(text) == tag


@given(st.text(), st.text())
def test_nothing_of_the_text_is_lost(reasoning: str, answer: str) -> None:
    found = split(f"<think>{reasoning}</think>{answer}")
    whole, rest = found[0].strip(), found[1]
    assert (reasoning + "</think>" + answer).split("</think>", 1)[0].strip() == whole
    assert (reasoning + "</think>" + answer).split("</think>", 1)[1].lstrip() == rest
