from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.config import parse_meta_template
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts import (
    ApiFormat,
    MetaTemplate,
    Mode,
    PromptBuilder,
    PromptTemplate,
    make_chat_format,
    resolve_tokens,
)
from ais_prompt.types import Sample, prompt_to_json

META: dict[str, Any] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
HUMAN, BOT = {"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}
SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "colours"}
SKY, SEA = (Sample(q, 0, {"q": q, "a": a}, a) for q, a in (("sky", "blue"), ("sea", "green")))


def parsed(config: Any) -> MetaTemplate | None:
    spec = parse_meta_template(config)
    return None if spec is None else resolve_tokens(spec)


def sent(template: Any, mode: Mode = "gen", meta: Any = META, shots: tuple[Sample, ...] = ()) -> list[tuple[str, str]]:
    """The messages for SKY: (role, content)."""
    ice = PromptTemplate({"round": [HUMAN, BOT]}) if shots else None
    prompt = PromptTemplate(template, "</E>" if shots else None)
    builder = PromptBuilder(ice, prompt, output_column="a", shots_expected=False)
    filled = builder.generation(SKY, shots) if mode == "gen" else builder.labelled(SKY, shots, None)
    messages = prompt_to_json(ApiFormat(parsed(meta)).render(filled, mode))
    return [(message["role"], message["content"]) for message in messages if isinstance(message, dict)]


def test_a_string_is_one_message_of_the_user() -> None:
    assert sent("{q} {a}") == [("user", "sky ")]


def test_roles_get_the_names_of_openai() -> None:
    assert sent({"begin": [SYSTEM], "round": [HUMAN, BOT]}) == [("system", "colours"), ("user", "sky")]
    assert sent({"begin": [SYSTEM], "round": [HUMAN, BOT]}, "ppl")[-1] == ("assistant", "blue")


def test_roles_that_openai_does_not_know_are_passed_on() -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "critic"}, META["round"][1]]}
    assert sent({"round": [HUMAN, BOT]}, meta=meta) == [("critic", "sky")]


def test_generation_ends_before_the_answer() -> None:
    hinted = {"role": "BOT", "prompt": "It is", "begin": "A: "}
    assert sent({"round": [HUMAN, hinted], "end": [HUMAN]}) == [("user", "sky")]


def test_neighbours_of_one_role_are_merged() -> None:
    meta = {**META, "reserved_roles": []}
    assert sent({"begin": [SYSTEM], "round": [HUMAN, BOT]}, meta=meta) == [("user", "colours\nsky")]


def test_examples_are_messages() -> None:
    template = {"begin": [SYSTEM, "</E>"], "round": [HUMAN, BOT]}
    assert sent(template, shots=(SEA,)) == [
        ("system", "colours"),
        ("user", "sea"),
        ("assistant", "green"),
        ("user", "sky"),
    ]


def test_what_a_meta_template_writes_is_never_filled() -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN", "begin": "{q}: "}, META["round"][1]]}
    assert sent({"round": [HUMAN, BOT]}, meta=meta) == [("user", "{q}: sky")]


def test_an_empty_text_leaves_nothing_next_to_media() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}
    chat = ApiFormat(parsed(META))
    template = PromptTemplate({"round": [HUMAN, {"role": "HUMAN", "prompt_mm": [image]}]})
    for text, parts in (("", [image]), ("sky", [{"type": "text", "text": "sky"}, image])):
        messages = chat.render(template.render({"q": text}), "gen")
        assert prompt_to_json(messages) == [{"role": "user", "content": parts}]


def test_begin_and_end_of_a_role_frame_its_text() -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN", "begin": "Q: ", "end": "?"}, META["round"][1]]}
    assert sent({"round": [HUMAN, BOT]}, meta=meta) == [("user", "Q: sky?")]


def test_a_slot_without_data_is_no_message_unless_it_has_a_default() -> None:
    thoughts = {"role": "THOUGHTS", "api_role": "BOT"}
    meta = {"round": [META["round"][0], thoughts, META["round"][1]]}
    assert sent({"round": [HUMAN, BOT]}, meta=meta) == [("user", "sky")]
    meta = {"round": [META["round"][0], {**thoughts, "prompt": "hm"}, META["round"][1]]}
    assert sent({"round": [HUMAN, BOT]}, meta=meta) == [("user", "sky"), ("assistant", "hm")]


def test_begin_of_the_meta_template_stays_a_message_of_its_own() -> None:
    meta = {**META, "begin": {"role": "SYSTEM", "prompt": "be kind"}}
    assert sent({"begin": [SYSTEM], "round": [HUMAN, BOT]}, meta=meta) == [
        ("system", "be kind"),
        ("system", "colours"),
        ("user", "sky"),
    ]


def test_texts_outside_of_turns_are_lost() -> None:
    assert sent({"begin": "Colours!", "round": [HUMAN, BOT]}) == [("user", "sky")]


def test_without_meta_template_all_texts_are_one_message() -> None:
    assert sent({"begin": [SYSTEM], "round": [HUMAN, BOT]}, meta=None) == [("user", "colours\nsky")]


def test_a_chat_model_knows_human_bot_and_system_by_default() -> None:
    filled = PromptTemplate({"begin": [SYSTEM], "round": [HUMAN, BOT]}).render(SKY.fields)
    messages = make_chat_format("messages", None, lambda: None).render(filled, "gen")
    assert prompt_to_json(messages) == [{"role": "system", "content": "colours"}, {"role": "user", "content": "sky"}]


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ({"round": [BOT]}, "is empty"),
        ({"begin": [{"role": "STRANGER", "prompt": "x"}], "round": [HUMAN]}, "has no role 'STRANGER'"),
        ({"round": [SYSTEM, HUMAN]}, "reserves the role 'SYSTEM'"),
    ],
)
def test_prompts_that_cannot_be_sent(template: Any, what: str) -> None:
    with pytest.raises(PromptError, match=what):
        sent(template)


def test_a_role_needs_an_api_role() -> None:
    with pytest.raises(PromptError, match="'HUMAN' of the meta template has no api_role"):
        sent({"round": [HUMAN]}, meta={"round": [{"role": "HUMAN"}]})


def test_a_text_in_the_round_of_the_meta_template_is_refused() -> None:
    with pytest.raises(ConfigError, match="has a text in its round: '-'"):
        sent({"round": [HUMAN]}, meta={"round": [META["round"][0], "-"]})


def test_a_text_as_begin_can_be_looked_at_but_not_sent() -> None:
    chat = ApiFormat(parsed({**META, "begin": "Be kind."}))
    filled = PromptTemplate({"round": [HUMAN, BOT]}).render(SKY.fields)
    assert chat.turns(filled, "gen")[0] == "Be kind."
    with pytest.raises(ConfigError, match=r"'Be kind\.'"):
        chat.render(filled, "gen")


@pytest.mark.parametrize("begin", [5, [5], {"prompt": "x"}, [{"role": None}]])
def test_other_kinds_of_begin_are_refused_at_once(begin: Any) -> None:
    with pytest.raises(ConfigError, match="must be a turn with a role"):
        ApiFormat(parsed({**META, "begin": begin}))
