"""Reasoning is separated from the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.models.completions import THINK_TAGS, check_think_tags, split_reasoning
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
    assert split_reasoning(answer, CHAT, THINK_TAGS) == split_reasoning(answer, CHAT, None) == answer
    for wrong in ("<think>", ("a",), ("a", "a"), ("", "b")):
        with pytest.raises(ConfigError, match="two different texts"):
            check_think_tags(wrong)


@given(st.text(), st.text())
def test_nothing_of_the_text_is_lost(reasoning: str, answer: str) -> None:
    found = split(f"<think>{reasoning}</think>{answer}")
    whole, rest = found[0].strip(), found[1]
    assert (reasoning + "</think>" + answer).split("</think>", 1)[0].strip() == whole
    assert (reasoning + "</think>" + answer).split("</think>", 1)[1].lstrip() == rest
