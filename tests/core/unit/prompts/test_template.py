from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ConfigFaults, PromptError
from ais_prompt.prompts import PromptList, PromptTemplate

ROW = {"q": "1+1=?", "a": "2"}
ROUND = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
FILLED = [{"role": "HUMAN", "prompt": "1+1=?"}, {"role": "BOT", "prompt": "2"}]
SHOTS = PromptList([{"role": "HUMAN", "prompt": "shot"}]).as_section("ice")


@pytest.mark.parametrize(
    ("template", "what"),
    [
        (None, "a string or a mapping"),
        (["{q}"], "a string or a mapping"),
        ({"A": 3}, r"template\['A'\] must be"),
    ],
)
def test_wrong_shapes_are_refused_when_made(template: Any, what: str) -> None:
    with pytest.raises(PromptError, match=what):
        PromptTemplate(template)


@pytest.mark.parametrize("name", ["ice_token", "sep_token"])
@pytest.mark.parametrize("token", ["", 5, ["</E>"]])
def test_tokens_are_texts(name: str, token: Any) -> None:
    with pytest.raises(PromptError, match=f"{name} must be a text"):
        PromptTemplate("</E>{q}", **{name: token})


@pytest.mark.parametrize(
    "template",
    [
        "{q}",
        {"A": "</E>{q}", "B": "{q}"},
        {"round": ROUND},
        {"A": {"begin": ["hi"], "round": ROUND}},
        {},
    ],
)
def test_a_forgotten_ice_token_is_refused(template: Any) -> None:
    with pytest.raises(PromptError, match="the examples would be lost"):
        PromptTemplate(template, ice_token="</E>").check_ice_token()


@pytest.mark.parametrize(
    "template",
    [
        {"begin": ["</E>"], "round": ROUND, "end": "bye"},
        {"begin": "Hi", "round": [{"role": "HUMAN", "prompt": "</E>{q}"}]},
        {"A": {"begin": "</E>", "round": ROUND}},
    ],
)
def test_in_a_dialogue_the_token_may_stand_anywhere(template: Any) -> None:
    assert PromptTemplate(template, ice_token="</E>").ice_token == "</E>"


@pytest.mark.parametrize("template", [{}, {"begin": "x"}, {"A": {"begin": "x"}}])
def test_a_dialogue_without_round_fails_at_use(template: Any) -> None:
    with pytest.raises(PromptError, match="needs the key 'round'"):
        PromptTemplate(template).render(ROW)


@pytest.mark.parametrize(
    ("template", "what", "where"),
    [
        ({"A": ["{q}"]}, "the template of label 'A' is a list, not a string or a dialogue", "template.A"),
        ({"A": {"round": ROUND, "other": "x"}}, "a dialogue has no key 'other'", "template.A.other"),
        ({"begins": "x", "round": ROUND}, "a dialogue has no key 'begins'", "template.begins"),
        ({"begin": "x", "rounds": ROUND}, "a dialogue has no key 'rounds'", "template.rounds"),
        ({"round": []}, "'round' must be a list of turns, but it is empty", "template.round"),
        ({"round": "{q}"}, "'round' must be a list of turns, but it is '{q}'", "template.round"),
        ({"round": ROUND[0]}, "'round' must be a list of turns, but it is {", "template.round"),
        ({"round": [{"role": "HUMAN", "promt": "{q}"}]}, "a turn has no key 'promt'", "template.round[0].promt"),
        ({"round": [{"role": "HUMAN", "content": "{q}"}]}, "a turn has no key 'content'", "template.round[0].content"),
        ({"round": ROUND, "end": {"prompt": "x"}}, "a turn needs the text 'role'", "template.end"),
        ({"A": {"round": [{"rol": "x", "role": "y"}]}}, "a turn has no key 'rol'", "template.A.round[0].rol"),
    ],
)
def test_what_is_wrong_inside_a_template_has_its_place(template: Any, what: str, where: str) -> None:
    with pytest.raises(PromptError) as raised:
        PromptTemplate(template)
    assert raised.value.what.startswith(what)
    assert raised.value.where == where
    assert raised.value.fix


def test_all_faults_of_a_template_are_found_at_once() -> None:
    with pytest.raises(ConfigFaults) as raised:
        PromptTemplate({"begin": [{"role": "SYSTEM", "promt": "x"}, 3], "round": [{"rol": "HUMAN", "prompt": "{q}"}]})
    assert [fault.where for fault in raised.value.faults] == [
        "template.begin[0].promt",
        "template.begin[1]",
        "template.round[0].rol",
        "template.round[0]",
    ]


def test_a_key_that_means_nothing_is_carried_along() -> None:
    turn = {"role": "HUMAN", "prompt": "{q}", "name": "u1"}
    assert next(iter(PromptTemplate({"round": [turn]}).render(ROW)))["name"] == "u1"


@pytest.mark.parametrize("item", [3, None, [ROUND]])
def test_items_are_texts_or_turns(item: Any) -> None:
    with pytest.raises(PromptError, match="a string or a mapping"):
        PromptTemplate({"round": [item]}).render(ROW)


def test_the_prompt_of_a_turn_is_a_text() -> None:
    with pytest.raises(PromptError, match="the prompt of a turn must be a text, not 3"):
        PromptTemplate({"round": [{"role": "HUMAN", "prompt": 3}]}).render(ROW)


def test_keys_beyond_begin_round_end_make_a_label_table() -> None:
    assert PromptTemplate({"begin": "b", "round": "r", "X": "x"}).labels == ("begin", "round", "X")
    assert PromptTemplate({"round": ROUND}).labels == ()


def test_a_dialogue_keeps_other_keys_and_the_template() -> None:
    template = {"begin": [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "{q}!"}], "round": ROUND, "end": "bye"}
    assert PromptTemplate(template).render(ROW) == [
        {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "1+1=?!"},
        *FILLED,
        "bye",
    ]
    assert template["begin"] == [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "{q}!"}]


def test_a_dialogue_knows_its_sections() -> None:
    filled = PromptTemplate({"begin": "b", "round": ROUND, "end": "e"}).render(ROW)
    assert isinstance(filled, PromptList)
    assert [part.name for part in filled.parts()] == ["begin", "round", "end"]


def test_labels() -> None:
    table = PromptTemplate({"A": "{q} yes", 1: "{q} one"})
    assert table.render(ROW) == table.render(ROW, label="A") == "1+1=? yes"
    assert table.render(ROW, label=1) == "1+1=? one"
    assert table.render_example(ROW, label=1) == "1+1=? one"
    for unknown in ("1", "B", ["A"]):
        with pytest.raises(PromptError, match="no entry for"):
            table.render(ROW, label=unknown)


def test_text_examples_go_to_every_token() -> None:
    assert PromptTemplate("</E>|</E>{q}", ice_token="</E>").render(ROW, examples="x{q}\n") == "x{q}\n|x{q}\n1+1=?"


def test_a_value_that_holds_the_token_is_left_alone() -> None:
    assert PromptTemplate("</E>{q}", ice_token="</E>").render({"q": "</E>"}, examples="x") == "x</E>"


def test_dialogue_examples_split_a_text() -> None:
    filled = PromptTemplate({"begin": "A</E>B", "round": ROUND}, ice_token="</E>").render(ROW, examples=SHOTS)
    assert filled == ["A", *SHOTS, "B", *FILLED]


def test_without_examples_an_empty_item_stays() -> None:
    assert PromptTemplate({"begin": ["</E>"], "round": ROUND}, ice_token="</E>").render(ROW) == ["", *FILLED]


def test_dialogue_examples_fit_only_among_items() -> None:
    with pytest.raises(PromptError, match="into a string template"):
        PromptTemplate("</E>{q}", ice_token="</E>").render(ROW, examples=SHOTS)
    inside = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "</E>{q}"}]}, ice_token="</E>")
    with pytest.raises(PromptError, match="inside the prompt of a HUMAN turn"):
        inside.render(ROW, examples=SHOTS)


def test_an_example_is_only_the_round_without_tokens() -> None:
    template = PromptTemplate({"begin": "</E>", "round": [{"role": "HUMAN", "prompt": "{q}<S>"}]}, "</E>", "<S>")
    example = template.render_example(ROW)
    assert example == [{"role": "HUMAN", "prompt": "1+1=?"}]
    assert isinstance(example, PromptList)
    assert [part.name for part in example.parts()] == ["ice"]


def test_the_separator_token_is_deleted_before_filling() -> None:
    template = PromptTemplate("{q}<S>{a}", sep_token="<S>")
    assert template.render({"q": "<S>", "a": "2"}) == "<S>2"
    assert template.render(ROW, keep_sep=True) == "1+1=?<S>2"
