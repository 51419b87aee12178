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
    assert (meta.begin, meta.end, meta.eos_token_id) == ("a", "z", 7)
    assert meta.slot("BOT") is meta.round[2]
    assert meta.slot("NOBODY") is None


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"begin": "x"}, "needs a list 'round'"),
        ({"round": HUMAN}, "needs a list 'round'"),
        ({"round": [HUMAN], "reserved_roles": HUMAN}, "reserved_roles of meta_template must be a list"),
        ({"round": [HUMAN, HUMAN]}, "'HUMAN' stands twice"),
        ({"round": [HUMAN], "reserved_roles": [HUMAN]}, "'HUMAN' stands twice"),
        ({"round": [3]}, "a mapping with a text 'role'"),
        ({"round": [{"begin": "x"}]}, "a mapping with a text 'role'"),
        ({"round": [HUMAN], "reserved_roles": ["SYSTEM"]}, "a mapping with a text 'role'"),
        ({"round": [{"role": "HUMAN", "begin": ["<s>", 5]}]}, "token ids"),
        ({"round": [{"role": "HUMAN", "end": 5}]}, "a text or a list of texts"),
    ],
)
def test_what_is_wrong_is_said(config: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        parse_meta_template(config)
