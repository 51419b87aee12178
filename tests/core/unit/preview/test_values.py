"""Convert a prompt to one text, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.preview import prompt_of_text, text_of_prompt
from ais_prompt.types import ChatMessage, Prompt

TEXTS = st.text(st.characters(exclude_categories=["Co"]))  # no text of data has characters of private use
ROLES = st.sampled_from(["user", "assistant", "system"])
PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}), min_size=1).map(tuple)
MESSAGES = st.builds(ChatMessage, ROLES, TEXTS | PARTS)
PROMPTS = TEXTS | st.lists(MESSAGES, min_size=1).map(tuple)


@given(PROMPTS)
def test_a_prompt_comes_back_as_it_was(prompt: Prompt) -> None:
    assert prompt_of_text(text_of_prompt(prompt)) == prompt


@given(PROMPTS, PROMPTS)
def test_different_prompts_are_different_texts(first: Prompt, second: Prompt) -> None:
    assert (text_of_prompt(first) == text_of_prompt(second)) == (first == second)
