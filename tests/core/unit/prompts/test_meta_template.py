from __future__ import annotations

from typing import Any, ClassVar

import pytest

from ais_prompt.config import parse_meta_template
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts import MetaTemplate, PromptTemplate, Slot, make_chat_format, resolve_tokens
from ais_prompt.types import ChatMessage

HUMAN = {"role": "HUMAN", "begin": "[H]"}


def resolved(config: Any, tokenizer: Any = lambda: None) -> MetaTemplate:
    spec = parse_meta_template(config)
    assert spec is not None
    return resolve_tokens(spec, tokenizer)


@pytest.mark.parametrize("config", [None, {}])
def test_an_empty_one_is_none(config: Any) -> None:
    assert parse_meta_template(config) is None


def test_everything_is_kept() -> None:
    bot = {"role": "BOT", "begin": ["<", "b>"], "prompt": "hm", "generate": True, "api_role": "BOT"}
    system = {"role": "SYSTEM", "end": "\n"}
    meta = resolved(
        {"begin": "a", "round": [HUMAN, "-", bot], "reserved_roles": [system], "end": "z", "eos_token_id": 7}
    )
    assert meta.round == (
        Slot("HUMAN", begin="[H]"),
        "-",
        Slot("BOT", begin="<b>", prompt="hm", generate=True, api_role="BOT"),
    )
    assert meta.reserved == {"SYSTEM": Slot("SYSTEM", end="\n")}
    assert (meta.begin, meta.end, meta.end_tokens) == ("a", "z", (7,))
    assert meta.slot("BOT") is meta.round[2]
    assert meta.slot("STRANGER") is None


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
        resolved(config)


class Tokenizer:
    """Words of a vocabulary; everything else is a character with the id of its code point, as with bytes."""

    SPECIAL: ClassVar = {5: "<|end|>", 6: "<|user|>"}

    def decode(self, ids: list[int], **options: Any) -> str:
        return "".join(self.SPECIAL.get(token, chr(token)) for token in ids)

    def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:
        ids = {word: token for token, word in self.SPECIAL.items()}
        return {"input_ids": [ids[text]] if text in ids else [ord(char) for char in text.replace("~", "ab")]}


def written(meta: Any, mode: Any = "gen", style: str = "text", turns: Any = None, **fields: Any) -> Any:
    template = turns or {"round": [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]}
    row = {"q": "1+1=?", "a": "2", **fields}
    return make_chat_format(style, meta, Tokenizer).render(PromptTemplate(template).render(row), mode)


@pytest.mark.parametrize(("begin", "end"), [(6, [5]), ([6], 5), (["<|user|>"], ["<|end|>"])])
def test_token_ids_are_written_as_the_text_of_their_tokens(begin: Any, end: Any) -> None:
    round_ = [{"role": "HUMAN", "begin": begin, "end": end}, {"role": "BOT", "begin": ["B", 58], "generate": True}]
    meta = {"begin": ["<s>", 10], "round": round_, "end": 5}
    assert written(meta) == "<s>\n<|user|>1+1=?<|end|>B:"
    assert written(meta, "ppl").endswith("B:2<|end|>")


@pytest.mark.parametrize(
    ("token", "what"),
    [
        (126, r"the token 126 cannot be written as text: its text '~' is encoded as \[97, 98\]"),
        (2**40, "does not have it"),
    ],
)
def test_a_token_without_a_text_of_its_own_is_refused(token: int, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as raised:
        resolved({"round": [{"role": "HUMAN", "end": ["x", token]}]}, Tokenizer)
    assert raised.value.where == "meta_template.round[0].end"


def test_without_round_the_turns_of_the_data_set_take_its_place() -> None:
    meta = {"begin": "META ", "end": " END"}
    assert written(meta) == "META 1+1=?"
    assert written(meta, "ppl") == "META 1+1=?\n2 END"
    turns = {
        "begin": [{"role": "SYSTEM", "prompt": "Add."}, "Now:"],
        "round": [{"role": "HUMAN", "begin": "Q: ", "prompt": "{q}"}, {"role": "BOT", "begin": "A: ", "prompt": "{a}"}],
        "end": "Bye.",
    }
    assert written(meta, turns=turns) == "META Add.\nNow:\nQ: 1+1=?\nA: "
    assert written(meta, "ppl", turns=turns) == "META Add.\nNow:\nQ: 1+1=?\nA: 2\nBye. END"
    assert written(meta, turns={"round": [{"role": "HUMAN", "prompt": "{q}"}]}) == "META 1+1=?"
    assert written(
        {"begin": ""}, turns={"round": [{"role": "HUMAN", "begin": "XX", "prompt": "{q}", "end": "YY"}]}
    ) == ("XX1+1=?YY")


def test_without_round_a_chat_model_has_the_usual_roles() -> None:
    meta = {"begin": [{"role": "SYSTEM", "prompt": "Add."}]}
    assert written(meta, style="messages") == (ChatMessage("system", "Add."), ChatMessage("user", "1+1=?"))


@pytest.mark.parametrize("style", ["text", "messages"])
@pytest.mark.parametrize("begin", [[], ["{q} first "]])
@pytest.mark.parametrize(("question", "answer"), [("{q}", "{a}"), ("Again", "")])
def test_a_default_prompt_has_the_columns_of_its_row(style: str, begin: list[str], question: str, answer: str) -> None:
    meta = {
        "round": [
            {"role": "HUMAN", "api_role": "HUMAN"},
            {"role": "HINT", "prompt": "[{hint}, {nothing}]", "api_role": "HUMAN"},
            {"role": "BOT", "generate": True, "api_role": "BOT"},
        ]
    }
    turns = {"begin": begin, "round": [{"role": "HUMAN", "prompt": question}, {"role": "BOT", "prompt": answer}]}
    chat = make_chat_format(style, meta, lambda: None)
    template = PromptTemplate(turns)
    for hint in ("sums", "{q}", "differences"):
        prompt = chat.render(template.render({"q": "1+1=?", "a": "2", "hint": hint}), "gen")
        text = prompt if isinstance(prompt, str) else str(prompt[0].content)
        assert text.endswith(f"[{hint}, {{nothing}}]")


def test_a_turn_of_a_data_set_has_no_token_ids() -> None:
    with pytest.raises(PromptError, match="token ids belong in the meta_template"):
        written({"round": [{"role": "HUMAN"}]}, turns={"round": [{"role": "HUMAN", "begin": 5, "prompt": "{q}"}]})


@pytest.mark.parametrize(("value", "ids"), [(None, ()), (3, (3,)), ([3, 4], (3, 4)), ([], ())])
def test_tokens_that_end_an_answer(value: Any, ids: tuple[int, ...]) -> None:
    assert resolved({"round": [HUMAN], "eos_token_id": value}).end_tokens == ids
