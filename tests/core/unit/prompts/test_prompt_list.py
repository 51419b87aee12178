from __future__ import annotations

import doctest

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.prompts import PromptList, chain, prompt_list

HUMAN = {"role": "HUMAN", "prompt": "{q}"}
BOT = {"role": "BOT", "prompt": "{a}"}


def test_the_examples_of_the_docstrings() -> None:
    assert doctest.testmod(prompt_list).failed == 0


def test_it_prints_as_the_documents_show_it() -> None:
    assert repr(PromptList(["\n", HUMAN])) == "PromptList([\n    '\\n',\n    dict(role='HUMAN', prompt='{q}'),\n])"
    assert repr(PromptList()) == "PromptList([])"


def test_it_compares_with_lists() -> None:
    assert PromptList(["a", HUMAN]) == ["a", HUMAN]
    assert PromptList(["a"]) != ["a", "b"]
    assert PromptList(["a"]).as_section("begin") == PromptList(["a"])


def test_str_is_the_text_of_all_items() -> None:
    assert str(PromptList(["x", HUMAN, {"role": "BOT"}])) == "x{q}"


def test_adding_leaves_the_operands_alone() -> None:
    left, right, plain = PromptList(["a"]), PromptList([HUMAN]), [HUMAN]
    assert left + right + "b" == ["a", HUMAN, "b"]
    assert "b" + left == ["b", "a"]
    assert plain + left == [HUMAN, "a"]
    assert left + plain == ["a", HUMAN]
    assert left + "" == "" + left == ["a"]
    assert (left, right) == (["a"], [HUMAN])


@pytest.mark.parametrize("other", [3, None, ("a",)])
def test_nothing_else_can_be_added(other: object) -> None:
    with pytest.raises(TypeError):
        PromptList(["a"]) + other


def test_format_leaves_its_operand_and_other_keys_alone() -> None:
    turn = {"role": "{q}", "prompt": "{q}{a}", "fallback_role": "{q}"}
    prompts = PromptList(["{q}", turn])
    assert prompts.format(q="{a}") == ["{a}", {"role": "{q}", "prompt": "{a}{a}", "fallback_role": "{q}"}]
    assert prompts == ["{q}", turn]


def test_replace_text() -> None:
    assert PromptList(["x</E>", HUMAN]).replace("</E>", "!") == ["x!", HUMAN]


def test_replace_by_turns_splits_the_text() -> None:
    replaced = PromptList(["x</E>y</E>", BOT]).replace("</E>", PromptList([HUMAN]))
    assert replaced == ["x", HUMAN, "y", HUMAN, BOT]


def test_turns_do_not_fit_into_a_prompt() -> None:
    with pytest.raises(PromptError, match="inside the prompt of a HUMAN turn"):
        PromptList([{"role": "HUMAN", "prompt": "</E>"}]).replace("</E>", PromptList([BOT]))


def test_sections_survive_format_replace_and_slices() -> None:
    prompts = PromptList(["</E>"]).as_section("begin") + PromptList([HUMAN, BOT]).as_section("round")
    shots = PromptList([BOT]).as_section("ice")
    filled = prompts.replace("</E>", shots).format(q="Q")[:2]
    names = [(part.name, [inner.name for inner in part.body.parts()]) for part in filled.parts()]
    assert names == [("begin", ["ice"]), ("round", [None])]


def test_slices_backwards() -> None:
    prompts = chain(["x", PromptList(["a", "b"]).as_section("begin"), "y"])
    assert prompts[::-1] == ["y", "b", "a", "x"]
    assert prompts[2:0:-1] == ["b", "a"]
    assert [part.name for part in prompts[::-1].parts()] == [None, "begin", None]


def test_two_examples_are_two_sections() -> None:
    shot = PromptList([HUMAN])
    both = chain([shot.as_section("ice"), shot.as_section("ice")])
    assert [part.name for part in both.parts()] == ["ice", "ice"]


def test_chain_drops_empty_texts_but_keeps_empty_items() -> None:
    assert chain(["", PromptList([""]), "a"]) == ["", "a"]
