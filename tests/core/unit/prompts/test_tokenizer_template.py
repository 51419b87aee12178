from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.prompts import PromptList, make_chat_format
from ais_prompt.types import ChatMessage

CHATML = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
STRICT = "{% if messages[0]['role'] != 'user' %}{{ raise_exception('user first') }}{% endif %}"


def tokenizer(template: str | None) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"<unk>": 0}, "<unk>")))
    made.chat_template = template
    return made


def rendered(template: str | None, *turns: tuple[str, str], mode: Any = "gen") -> Any:
    prompt = PromptList({"role": role, "prompt": text} for role, text in turns).as_section("round")
    return make_chat_format("chat_template", None, lambda: tokenizer(template)).render(prompt, mode)


@pytest.mark.thorough
def test_generation_opens_the_answer_and_ppl_does_not() -> None:
    assert rendered(CHATML, ("HUMAN", "sky?"), ("BOT", "")) == "<user>sky?\n<assistant>"
    assert rendered(CHATML, ("HUMAN", "sky?"), ("BOT", "blue"), mode="ppl") == "<user>sky?\n<assistant>blue\n"


@pytest.mark.thorough
def test_roles_take_turns() -> None:
    assert rendered(CHATML, ("HUMAN", "a"), ("HUMAN", ""), ("HUMAN", "b"), ("BOT", "")) == "<user>a\n\nb\n<assistant>"


def test_a_string_is_said_by_the_user() -> None:
    chat = make_chat_format("chat_template", None, lambda: tokenizer(CHATML))
    assert chat.render("sky?", "gen") == "<user>sky?\n<assistant>"


def test_empty_messages_are_left_out_but_not_all_of_them() -> None:
    chat = make_chat_format("chat_template", {"round": [{"role": "HUMAN", "api_role": "HUMAN"}]}, lambda: None)
    with pytest.raises(PromptError, match="is empty"):
        chat.render("", "gen")


def test_the_messages_can_be_looked_at_without_a_tokenizer() -> None:
    chat: Any = make_chat_format("chat_template", None, lambda: None)
    assert chat.conversation("sky?", "gen") == (ChatMessage("user", "sky?"),)


def test_no_chat_template() -> None:
    with pytest.raises(PromptError, match="has no chat template"):
        rendered(None, ("HUMAN", "a"))


def test_a_chat_template_that_refuses() -> None:
    with pytest.raises(PromptError, match="rejects the messages: user first"):
        rendered(STRICT, ("BOT", "a"), ("HUMAN", "b"), mode="ppl")


PARTS_ONLY = (
    "{% for m in messages %}<{{ m['role'] }}>{% for p in m['content'] %}{{ p['text'] }}{% endfor %} {% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_a_template_that_writes_parts_only_loses_no_text() -> None:
    """As the templates of models with images are."""
    turns = (("HUMAN", "sky?"), ("BOT", "blue"), ("HUMAN", "sea?"), ("BOT", ""))
    assert rendered(PARTS_ONLY, *turns) == "<user>sky? <assistant>blue <user>sea? <assistant>"


def test_a_template_that_changes_what_is_said_is_left_to_do_so() -> None:
    shouting = CHATML.replace("m['content']", "m['content'] | upper")
    assert rendered(shouting, ("HUMAN", "sky?"), ("BOT", "")) == "<user>SKY?\n<assistant>"
