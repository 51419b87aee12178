"""What a model thinks is no part of its answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.models.reasoning import THINK_TAGS, check_think_tags, split_reasoning
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
def test_a_thought_is_taken_out(text: str, reasoning: str, answer: str) -> None:
    assert split(text) == (reasoning, answer, False)


def test_a_thought_that_the_prompt_has_opened() -> None:
    assert split("two twice</think>4", prompt="2+2?<think>\n") == ("two twice", "4", False)
    assert split("two twi", prompt="2+2?<think>\n", finish="length") == ("two twi", "", True)
    assert split("4", prompt="2+2?<think>\n\n</think>\n\n") == ("", "4", False)


def test_a_thought_without_an_end_is_no_answer() -> None:
    assert split("<think>is it 5? no, it is", finish="length") == ("is it 5? no, it is", "", True)


def test_a_server_that_separates_thoughts() -> None:
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
def test_nothing_of_the_text_is_lost(thought: str, answer: str) -> None:
    found = split(f"<think>{thought}</think>{answer}")
    whole, rest = found[0].strip(), found[1]
    assert (thought + "</think>" + answer).split("</think>", 1)[0].strip() == whole
    assert (thought + "</think>" + answer).split("</think>", 1)[1].lstrip() == rest
