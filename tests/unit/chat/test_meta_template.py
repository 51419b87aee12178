from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.chat.meta_template import Slot, parse_meta_template
from ais_prompt.errors import ConfigError

HUMAN = {"role": "HUMAN", "begin": "[H]"}


@pytest.mark.parametrize("config", [None, {}])
def test_an_empty_one_is_none(config: Any) -> None:
    assert parse_meta_template(config) is None


def test_everything_is_kept() -> None:
    bot = {"role": "BOT", "begin": ["<", "b>"], "prompt": "hm", "generate": True, "api_role": "BOT"}
    system = {"role": "SYSTEM", "end": "\n"}
    meta = parse_meta_template(
        {"begin": "a", "round": [HUMAN, "-", bot], "reserved_roles": [system], "end": "z", "eos_token_id": 7}
    )
    assert meta is not None
    assert meta.round == (
        Slot("HUMAN", begin="[H]"),
        "-",
        Slot("BOT", begin="<b>", prompt="hm", generate=True, api_role="BOT"),
    )
    assert meta.reserved == {"SYSTEM": Slot("SYSTEM", end="\n")}
    assert (meta.begin, meta.end, meta.end_tokens) == ("a", "z", (7,))
    assert meta.slot("BOT") is meta.round[2]
    assert meta.slot("NOBODY") is None


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"round": []}, "'round' of meta_template must be a list of roles"),
        ({"round": HUMAN}, "'round' of meta_template must be a list of roles"),
        ({"round": [HUMAN], "reserved_roles": HUMAN}, "'reserved_roles' of meta_template must be a list"),
        ({"round": [HUMAN, HUMAN]}, "'HUMAN' occurs twice"),
        ({"round": [HUMAN], "reserved_roles": [HUMAN]}, "'HUMAN' occurs twice"),
        ({"round": [HUMAN], "reserve_roles": []}, "no key 'reserve_roles' .* did you mean 'reserved_roles'"),
        ({"round": [{"role": "HUMAN", "beginn": "x"}]}, r"round\[0\].beginn · did you mean 'begin'"),
        ({"round": [{"role": "HUMAN", "prompt": 3}]}, "'prompt' of a role must be a text, not 3"),
        ({"round": [HUMAN], "eos_token_id": "</s>"}, "eos_token_id must be a token id or a list .* stop_words"),
        ({"round": [HUMAN], "eos_token_id": [3, True]}, "eos_token_id must be a token id or a list"),
        ({"round": [3]}, "a mapping with a text 'role'"),
        ({"round": [{"begin": "x"}]}, "a mapping with a text 'role'"),
        ({"round": [HUMAN], "reserved_roles": ["SYSTEM"]}, "a mapping with a text 'role'"),
        ({"round": [{"role": "HUMAN", "begin": ["<s>", 5]}]}, r"the token ids \[5\] need the tokenizer"),
        ({"round": [{"role": "HUMAN", "end": 5}]}, r"the token ids \[5\] need the tokenizer"),
        ({"round": [{"role": "HUMAN", "end": 5.5}]}, "must be a text, a token id, or a list of them"),
    ],
)
def test_what_is_wrong_is_said(config: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        parse_meta_template(config)
