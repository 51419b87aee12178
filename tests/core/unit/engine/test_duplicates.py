"""Samples that ask the same are numbered in the order of the dataset."""

from __future__ import annotations

from collections import Counter
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.engine import Numbering
from ais_prompt.inferencers import Conversation, RunningConversation
from ais_prompt.types import (
    ChatMessage,
    Completion,
    Decoding,
    LikelihoodQuery,
    Prediction,
    Prompt,
    Request,
    prompt_to_json,
)
from ais_prompt.utils import digest

texts = st.sampled_from(["a", "b"])
parts = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2).map(tuple)
prompts = texts | st.lists(st.builds(ChatMessage, st.just("user"), texts | parts), max_size=2).map(tuple)


def talk(prompt: Prompt, turns: int = 1, scored: str | None = None) -> Conversation:
    decoding = Decoding(max_out_len=1) if scored is None else LikelihoodQuery(scored)
    for turn in range(turns):
        yield [Request("id", prompt, decoding, turn)]
    return Prediction("id", 0, prompt, "", None, ())


def numbers(conversation: Conversation, index: int, numbering: Numbering) -> list[int]:
    running = RunningConversation(conversation, lambda _: None, number_of=partial(numbering.number, index))
    found = []
    while asked := running.open_requests():
        found += [request.duplicate for request in asked]
        for request in asked:
            running.answer(request, Completion("x", "stop"))
    return found


@given(st.lists(prompts, max_size=12), st.integers(1, 3))
def test_the_number_is_that_of_earlier_conversations_with_the_same_opening(asked: list[Prompt], turns: int) -> None:
    numbering, seen = Numbering(len(asked)), Counter[str]()
    found = []
    for index, prompt in enumerate(asked):
        found.append(numbers(talk(prompt, turns), index, numbering))
        assert found[index] == [seen[digest(prompt_to_json(prompt))]] * turns
        seen[digest(prompt_to_json(prompt))] += 1
    # Started again in another order, each keeps its number.
    for index, prompt in reversed(list(enumerate(asked))):
        assert numbers(talk(prompt, turns), index, numbering) == found[index]


def test_texts_that_are_scored_after_one_prompt_are_no_duplicates() -> None:
    numbering = Numbering(3)
    found = [numbers(talk("a", scored=text), index, numbering) for index, text in enumerate("xyx")]
    assert found == [[0], [0], [1]]


def test_a_conversation_that_asks_nothing_is_over_at_once() -> None:
    assert numbers(talk("a", turns=0), 0, Numbering(1)) == []
