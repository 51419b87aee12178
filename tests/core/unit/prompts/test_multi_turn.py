"""Multi-turn dialogues: how they are filled, and the prompt of each request."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import PromptError
from ais_prompt.prompts import MultiTurnPromptTemplate, PromptBuilder, PromptTemplate
from ais_prompt.types import Sample

ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]
FRUIT = {"question": ["Name a fruit.", "Its colour?"], "answer": ["lemon", "yellow"]}


def template(**options: Any) -> MultiTurnPromptTemplate:
    return MultiTurnPromptTemplate({"round": ROUND}, **options)


def human(text: str) -> dict[str, str]:
    return {"role": "HUMAN", "prompt": text}


def bot(text: str) -> dict[str, str]:
    return {"role": "BOT", "prompt": text}


def test_the_round_is_said_once_for_each_question() -> None:
    assert template().render(FRUIT) == [
        human("Name a fruit."),
        bot("lemon"),
        human("Its colour?"),
        bot("yellow"),
    ]


def test_a_request_sees_what_the_model_said() -> None:
    dialogue = template().dialogue(FRUIT)
    assert dialogue.request(0) == [human("Name a fruit.")]
    assert dialogue.request(1, ["fig"]) == [human("Name a fruit."), bot("fig"), human("Its colour?")]


def test_without_it_a_request_sees_the_gold() -> None:
    dialogue = template().dialogue(FRUIT)
    assert dialogue.request(1) == [human("Name a fruit."), bot("lemon"), human("Its colour?")]


def test_an_answer_of_the_model_replaces_the_text_around_the_gold_too() -> None:
    framed = MultiTurnPromptTemplate({"round": [human("Q: {question}"), bot("A: {answer}")]})
    dialogue = framed.dialogue(FRUIT)
    assert dialogue.request(1)[1] == bot("A: lemon")
    assert dialogue.request(1, ["{answer}"])[1] == bot("{answer}")


def test_begin_and_end_surround_every_request_as_sections_of_their_own() -> None:
    framed = MultiTurnPromptTemplate({"begin": ["Hi", human("Be kind.")], "round": ROUND, "end": "Bye"})
    request = framed.dialogue(FRUIT).request(0)
    assert [part.name for part in request.parts()] == ["begin", "round", "end"]
    assert request == ["Hi", human("Be kind."), human("Name a fruit."), "Bye"]


def test_other_columns_are_filled_everywhere_and_the_lists_in_the_round_only() -> None:
    framed = MultiTurnPromptTemplate(
        {"begin": [human("About {topic}: {question}")], "round": [human("{question} {topic}"), bot("{answer}")]}
    )
    filled = framed.render({"question": ["a?"], "answer": ["A"], "topic": "letters"})
    assert filled == [human("About letters: {question}"), human("a? letters"), bot("A")]


def test_a_text_is_one_turn() -> None:
    assert template().render({"question": "ab", "answer": "xy"}) == [human("ab"), bot("xy")]


def test_lists_of_different_length_lose_turns_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    uneven = {"question": ["a?", "b?", "c?"], "answer": ["A"]}
    asked = template()
    with caplog.at_level(logging.WARNING):
        assert asked.render(uneven) == [human("a?"), bot("A")]
        asked.render(uneven)
    assert [record.getMessage() for record in caplog.records] == [
        "turns are lost, because the columns have lists of different length (question: 3, answer: 1)"
    ]


def test_a_dialogue_knows_the_gold_of_each_answer() -> None:
    assert template().dialogue(FRUIT, "answer").golds == ("lemon", "yellow")
    assert template().dialogue(FRUIT).golds is None
    assert template().dialogue({**FRUIT, "rating": [3, 5]}, "rating").golds == (3, 5)
    assert template().dialogue({**FRUIT, "rating": 3}, "rating").golds is None


def test_two_answers_in_a_round_have_the_same_gold() -> None:
    twice = MultiTurnPromptTemplate({"round": [*ROUND, human("Sure?"), bot("{answer}")]})
    assert twice.dialogue(FRUIT, "answer").golds == ("lemon", "lemon", "yellow", "yellow")


def test_lists_of_different_length_are_a_fault_of_the_dialogue() -> None:
    uneven = template().dialogue({"question": ["a?", "b?"], "answer": ["A"]}, "answer")
    assert uneven.fault == "the columns have lists of different length (question: 2, answer: 1)"
    assert uneven.golds == ("A",)
    assert not template().dialogue(FRUIT).fault


def test_an_empty_cell_has_no_turns() -> None:
    assert template().dialogue({"question": None, "answer": None}).answers == ()


def test_questions_without_gold_have_columns_of_their_own_name() -> None:
    asked = MultiTurnPromptTemplate({"round": [human("{turns}"), bot("")]}, turn_columns=["turns"])
    dialogue = asked.dialogue({"turns": ["one", "two"], "category": "writing"})
    assert dialogue.request(1, ["1"]) == [human("one"), bot("1"), human("two")]


def test_a_generation_prompt_hides_the_last_gold_only() -> None:
    builder = PromptBuilder(None, template(), output_column="answer", mask="?")
    filled = builder.generation(Sample("s", 0, FRUIT, FRUIT["answer"]), [])
    assert filled == [human("Name a fruit."), bot("lemon"), human("Its colour?"), bot("?")]


def test_an_output_column_that_is_no_list_of_turns_is_masked_everywhere() -> None:
    asked = MultiTurnPromptTemplate({"round": [human("{turns} {rating}"), bot("")]}, turn_columns=["turns"])
    builder = PromptBuilder(None, asked, output_column="rating")
    assert builder.generation(Sample("s", 0, {"turns": ["a"], "rating": "10"}, "10"), []) == [human("a "), bot("")]


SUMS = {"question": ["1+1=?", "2+2=?"], "answer": ["2", "4"]}
MORE = {"question": ["3+3=?"], "answer": ["6"]}
FEW_SHOT = {"begin": [human("Add up."), "</E>"], "round": ROUND}


def few_shot(ice: Any, prompt: Any = None) -> PromptBuilder:
    prompt = prompt or MultiTurnPromptTemplate(FEW_SHOT, ice_token="</E>")
    return PromptBuilder(ice, prompt, output_column="answer")


def test_examples_stand_before_every_request_as_in_other_dialogues() -> None:
    ice = PromptTemplate({"round": ROUND})
    dialogue = few_shot(ice).dialogue(Sample("s", 0, SUMS), [Sample("t", 0, {"question": "5+5=?", "answer": "10"})])
    before = [human("Add up."), human("5+5=?"), bot("10"), ""]
    assert dialogue.request(0) == [*before, human("1+1=?")]
    assert dialogue.request(1, ["two"]) == [*before, human("1+1=?"), bot("two"), human("2+2=?")]


def test_an_example_may_be_a_whole_dialogue() -> None:
    shots = [Sample("a", 0, MORE), Sample("b", 1, SUMS)]
    ice = MultiTurnPromptTemplate({"begin": [human("not shown")], "round": ROUND}, sep_token="<S>")
    filled = few_shot(ice).generation(Sample("s", 2, MORE), shots)
    pairs = [("3+3=?", "6"), ("1+1=?", "2"), ("2+2=?", "4")]
    shown = [turn for question, answer in pairs for turn in (human(question), bot(answer))]
    assert filled == [human("Add up."), *shown, "", human("3+3=?"), bot("")]


def test_one_template_serves_for_examples_and_dialogues() -> None:
    both = MultiTurnPromptTemplate(FEW_SHOT, ice_token="</E>")
    builder = PromptBuilder(both, None, output_column="answer")
    dialogue = builder.dialogue(Sample("s", 0, MORE), [Sample("t", 0, SUMS)])
    assert dialogue.request(0) == [
        human("Add up."), human("1+1=?"), bot("2"), human("2+2=?"), bot("4"), "", human("3+3=?")
    ]  # fmt: skip


def test_without_examples_their_place_is_empty() -> None:
    asked = MultiTurnPromptTemplate(FEW_SHOT, ice_token="</E>")
    assert asked.dialogue(MORE).request(0) == [human("Add up."), "", human("3+3=?")]


def test_the_token_in_the_data_is_no_place_for_examples() -> None:
    shot = Sample("t", 0, {"question": "</E> {question}", "answer": "</E>"})
    row = {"question": ["</E>?"], "answer": ["!"]}
    dialogue = few_shot(PromptTemplate({"round": ROUND})).dialogue(Sample("s", 0, row), [shot])
    assert dialogue.request(0) == [human("Add up."), human("</E> {question}"), bot("</E>"), "", human("</E>?")]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"round": ROUND}, "is not in 'template': the examples would be lost"),
        (
            {"round": [human("</E>{question}"), bot("{answer}")]},
            "is in the round, which is repeated",
        ),
    ],
)
def test_a_template_that_would_lose_or_repeat_its_examples_is_refused(template: Any, words: str) -> None:
    asked = MultiTurnPromptTemplate(template, ice_token="</E>")
    PromptBuilder(None, asked, output_column=None, shots_expected=False)
    with pytest.raises(PromptError, match=words):
        PromptBuilder(None, asked, output_column=None)


def test_examples_for_a_template_without_a_place_are_refused() -> None:
    builder = PromptBuilder(None, template(), output_column="answer")
    with pytest.raises(PromptError, match="but MultiTurnPromptTemplate cannot show them"):
        builder.dialogue(Sample("s", 0, MORE), [Sample("t", 0, SUMS)])


def test_no_turns_is_an_empty_dialogue() -> None:
    dialogue = template().dialogue({"question": [], "answer": []})
    assert dialogue.answers == ()
    assert dialogue.whole == []


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("text", "must be a mapping"),
        ({"begin": []}, "needs the key 'round'"),
        ({"round": ROUND, "A": "label"}, "only begin, round and end"),
        ({"round": [human("{question}")]}, "no turn of the round has the role 'BOT'"),
        ({"round": [*ROUND, 7]}, "must be a string or a mapping"),
        ({"round": [*ROUND, {"prompt": "{question}"}]}, "a turn needs the text 'role'"),
        ({"begin": {"role": "SYSTEM", "promt": "x"}, "round": ROUND}, "a turn has no key 'promt'"),
    ],
)
def test_a_template_of_the_wrong_shape_is_refused(shape: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        MultiTurnPromptTemplate(shape)


def test_a_row_without_the_columns_says_which() -> None:
    with pytest.raises(PromptError, match=r"no 'question' for its turns \(it has q, a\)"):
        template().render({"q": ["x"], "a": ["y"]})


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text())
def test_every_value_appears_exactly_as_it_is(turns: list[tuple[str, str]], topic: str) -> None:
    framed = MultiTurnPromptTemplate({"begin": [human("{topic}")], "round": ROUND})
    row = {"question": [q for q, _ in turns], "answer": [a for _, a in turns], "topic": topic}
    said = [human(topic), *(turn for q, a in turns for turn in (human(q), bot(a)))]
    assert framed.render(row) == said
