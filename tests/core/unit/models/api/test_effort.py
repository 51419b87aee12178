"""`reasoning_effort` in the words of each API."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.models.api.chat import chat_effort
from ais_prompt.models.api.messages import message_effort
from ais_prompt.models.api.responses import response_effort


def test_each_api_has_its_own_words() -> None:
    def thinking(effort: Any) -> Any:
        return message_effort({"reasoning_effort": effort}, 10_000)

    template = "chat_template_kwargs"
    cases: list[tuple[Any, Any]] = [
        (chat_effort({}), {}),
        (chat_effort({"reasoning_effort": "high"}), {"reasoning_effort": "high"}),
        (chat_effort({"reasoning_effort": 512}), {template: {"enable_thinking": True, "thinking_budget": 512}}),
        (chat_effort({"reasoning_effort": 0, template: {"a": 1}}), {template: {"enable_thinking": False, "a": 1}}),
        (response_effort({"reasoning_effort": "low"}), {"reasoning": {"effort": "low"}}),
        (response_effort({"reasoning_effort": 0}), {"reasoning": {"effort": "none"}}),
        (thinking("low"), {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        (thinking(5000), {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        (thinking("none"), {"thinking": {"type": "disabled"}}),
        (thinking(0), {"thinking": {"type": "disabled"}}),
        (
            message_effort({"reasoning_effort": "high", "thinking": {"type": "adaptive"}}, 1),
            {"thinking": {"type": "adaptive"}},
        ),
    ]
    for number, (found, expected) in enumerate(cases):
        assert found == expected, number


def test_what_an_api_cannot_do_is_refused() -> None:
    with pytest.raises(PromptError, match="no budget of 512 tokens"):
        response_effort({"reasoning_effort": 512})
    for effort, limit, what in ((512, 9000, "takes no budget of 512"), ("high", 4096, "4096"), ("huge", 9000, "huge")):
        with pytest.raises(PromptError, match=what):
            message_effort({"reasoning_effort": effort}, limit)
