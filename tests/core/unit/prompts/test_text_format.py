from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts import Mode, PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import Sample

META = {
    "begin": "<bos>",
    "round": [
        {"role": "HUMAN", "begin": "[H]", "end": "[/H]"},
        {"role": "BOT", "begin": "[B]", "end": "[/B]", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "begin": "[S]", "end": "[/S]"}],
    "end": "<eos>",
}
HUMAN, BOT = {"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}
SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "colours"}
SKY, SEA = (Sample(q, 0, {"q": q, "a": a}, a) for q, a in (("sky", "blue"), ("sea", "green")))


def written(template: Any, mode: Mode = "gen", meta: Any = META, shots: tuple[Sample, ...] = ()) -> str:
    """The prompt of SKY."""
    token = "</E>" if shots else None
    ice = PromptTemplate({"round": [HUMAN, BOT]}) if shots else None
    builder = PromptBuilder(ice, PromptTemplate(template, token), output_column="a", shots_expected=False)
    filled = builder.generation(SKY, shots) if mode == "gen" else builder.labelled(SKY, shots, None)
    text = make_chat_format("text", meta, lambda: None).render(filled, mode)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("meta", [None, {}, META])
def test_strings_are_never_framed(meta: Any) -> None:
    assert written("{q}", meta=meta) == "sky"


def test_without_meta_template_texts_are_joined_by_newline() -> None:
    assert (
        written({"begin": ["a", SYSTEM], "round": [HUMAN, BOT], "end": "z"}, "ppl", None) == "a\ncolours\nsky\nblue\nz"
    )


def test_an_empty_item_writes_only_the_newline_after_it() -> None:
    assert written({"begin": ["", ""], "round": [HUMAN, {"role": "BOT", "prompt": ""}, "x"]}, meta=None) == "\nsky\nx"


def test_generation_stops_at_the_generating_slot() -> None:
    template = {"begin": [SYSTEM, "x"], "round": [HUMAN, BOT], "end": "never"}
    assert written(template) == "<bos>[S]colours[/S]x[H]sky[/H][B]"
    assert written(template, "ppl") == "<bos>[S]colours[/S]x[H]sky[/H][B]blue[/B]never<eos>"


def test_without_a_generating_slot_nothing_stops() -> None:
    meta = {**META, "round": [META["round"][0], {"role": "BOT", "begin": "[B]", "end": "[/B]"}]}  # type: ignore[index]
    assert written({"round": [HUMAN, BOT], "end": "z"}, meta=meta) == "<bos>[H]sky[/H][B][/B]z<eos>"


def test_examples_in_begin_are_whole() -> None:
    template = {"begin": "Colours:</E>", "round": [HUMAN, BOT]}
    assert written(template, shots=(SEA,)) == "<bos>Colours:[H]sea[/H][B]green[/B][H]sky[/H][B]"


def test_a_few_shot_written_in_begin_does_not_stop() -> None:
    begin = [{"role": "HUMAN", "prompt": "coal"}, {"role": "BOT", "prompt": "black"}]
    assert written({"begin": begin, "round": [HUMAN, BOT]}) == "<bos>[H]coal[/H][B]black[/B][H]sky[/H][B]"


def test_rounds_are_written_in_the_order_of_the_meta_template() -> None:
    assert written({"round": [HUMAN, HUMAN]}) == "<bos>[H]sky[/H][B][/B][H]sky[/H][B]"
    assert written({"round": [BOT, HUMAN]}, "ppl") == "<bos>[H][/H][B]blue[/B][H]sky[/H][B][/B]<eos>"


def test_a_text_in_a_round_is_written_before_it() -> None:
    assert written({"round": [HUMAN, "x", BOT]}, "ppl") == "<bos>x[H]sky[/H][B]blue[/B]<eos>"


def test_slots_without_data_show_their_default_and_data_wins() -> None:
    slot = {"role": "THOUGHTS", "begin": "(", "prompt": "None", "end": ")"}
    meta = {"round": [META["round"][0], slot, "-", META["round"][1]]}  # type: ignore[index]
    assert written({"round": [HUMAN, BOT]}, meta=meta) == "[H]sky[/H](None)-[B]"
    thought = {"role": "THOUGHTS", "prompt": "hm", "end": "]"}
    assert written({"round": [HUMAN, thought, BOT]}, meta=meta) == "[H]sky[/H](hm]-[B]"


def test_a_turn_may_take_generate_away() -> None:
    turn = {**BOT, "prompt": "so", "generate": False}
    assert written({"round": [HUMAN, turn]}) == "<bos>[H]sky[/H][B]so[/B]<eos>"


def test_a_fallback_role_helps_everywhere() -> None:
    meta = {**META, "reserved_roles": []}
    assert written({"begin": [SYSTEM], "round": [HUMAN, BOT]}, meta=meta) == "<bos>[H]colours[/H][H]sky[/H][B]"
    assert written({"round": [SYSTEM, BOT, HUMAN]}, "ppl", meta) == (
        "<bos>[H]colours[/H][B]blue[/B][H]sky[/H][B][/B]<eos>"
    )


@pytest.mark.parametrize(
    ("template", "what"),
    [
        (
            {"begin": [{"role": "STRANGER", "prompt": "x"}], "round": [HUMAN]},
            "has no role 'STRANGER' .it has HUMAN, BOT",
        ),
        ({"round": [{"role": "STRANGER", "prompt": "x"}]}, "has no role 'STRANGER'"),
        ({"round": [{"prompt": "x"}]}, "a turn needs the text 'role'"),
        ({"round": [{"role": "SYSTEM", "prompt": "x"}]}, "reserves the role 'SYSTEM'"),
    ],
)
def test_roles_that_cannot_be_placed(template: Any, what: str) -> None:
    with pytest.raises(PromptError, match=what):
        written(template)


def test_examples_inside_the_round_are_refused() -> None:
    with pytest.raises(PromptError, match="move the ice_token into begin"):
        written({"round": ["</E>", HUMAN, BOT]}, shots=(SEA,))


@pytest.mark.parametrize("name", ["begin", "end"])
def test_begin_and_end_are_texts(name: str) -> None:
    with pytest.raises(ConfigError, match=f"must be a text, a token id, or a list of them, .*meta_template.{name}"):
        make_chat_format("text", {**META, name: [{"role": "SYSTEM", "prompt": "x"}]}, lambda: None)
