"""Chats, formatted message by message."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.prompts import PromptList, make_chat_format
from ais_prompt.types import ChatMessage, Prompt
from tests.core.unit.prompts.test_text_format import META

CHAT = PromptList(
    [
        {"role": "SYSTEM", "prompt": "be kind"},
        {"role": "HUMAN", "prompt": "one?"},
        {"role": "HUMAN", "prompt": "two?"},
        {"role": "BOT", "prompt": "2"},
        {"role": "HUMAN", "prompt": "three?"},
    ]
).as_section("chat")


def rendered(style: str, meta: Any, prompt: PromptList = CHAT) -> Prompt:
    return make_chat_format(style, meta, lambda: None).render(prompt, "gen")


def test_a_language_model_sees_each_message_in_its_frame_and_its_own_turn_opened() -> None:
    assert rendered("text", META) == "[S]be kind[/S][H]one?[/H][H]two?[/H][B]2[/B][H]three?[/H][B]"


def test_an_unknown_role_is_not_framed() -> None:
    tool = PromptList([{"role": "tool", "prompt": "42"}]).as_section("chat")
    assert rendered("text", META, tool) == "42[B]"


def test_without_a_meta_template_contents_stand_on_lines_of_their_own() -> None:
    assert rendered("text", None) == "be kind\none?\ntwo?\n2\nthree?"


def test_a_meta_template_without_bot_cannot_be_opened() -> None:
    with pytest.raises(PromptError, match="no role 'BOT'"):
        rendered("text", {"round": [{"role": "HUMAN", "begin": "H:"}]})


def test_messages_stay_apart_and_keep_their_roles() -> None:
    assert rendered("messages", None) == (
        ChatMessage("system", "be kind"),
        ChatMessage("user", "one?"),
        ChatMessage("user", "two?"),
        ChatMessage("assistant", "2"),
        ChatMessage("user", "three?"),
    )


def test_roles_go_through_the_meta_template() -> None:
    meta = {
        "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
        "reserved_roles": [{"role": "SYSTEM", "api_role": "HUMAN"}],
    }
    assert [message.role for message in rendered("messages", meta) if isinstance(message, ChatMessage)] == [
        "user",
        "user",
        "user",
        "assistant",
        "user",
    ]


def test_parts_are_sent_as_parts() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    prompt = PromptList([{"role": "HUMAN", "prompt_mm": parts}]).as_section("chat")
    assert rendered("messages", None, prompt) == (ChatMessage("user", tuple(parts)),)
