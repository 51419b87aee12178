"""Reasons with which servers end an answer."""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace

from ais_prompt.models import BROKEN, ended, is_temporary
from ais_prompt.types import Completion, ToolCall, Usage

SAID = Completion("4", usage=Usage(3, 1))


@pytest.mark.parametrize("reason", ["stop", "STOP", "end_turn", "stop_sequence", "eos_token", "COMPLETE", "completed"])
def test_a_whole_answer(reason: str) -> None:
    assert ended(SAID, reason).finish_reason == "stop"


@pytest.mark.parametrize(
    "reason", ["length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded", "pause_turn"]
)
def test_a_cut_answer(reason: str) -> None:
    assert ended(SAID, reason).finish_reason == "length"


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "RECITATION", "sensitive", "guardrail_intervened"])
def test_a_filtered_answer_is_a_failure_that_is_not_repeated(reason: str) -> None:
    found = ended(SAID, reason)
    assert (found.failure and found.failure.kind, found.text, found.usage) == ("content_filter", "", SAID.usage)
    assert found.failure
    assert not is_temporary(found.failure)


@pytest.mark.parametrize(
    "reason",
    [
        "error",
        "ERROR",
        "abort",
        "aborted",
        "failed",
        "cancelled",
        "network_error",
        "insufficient_system_resource",
        "load",
    ],
)
def test_an_answer_that_broke_off_is_asked_again(reason: str) -> None:
    found = ended(SAID, reason)
    assert found.failure is not None
    assert (found.failure.kind, found.text, found.usage) == (BROKEN, "", SAID.usage)
    assert is_temporary(found.failure)


@pytest.mark.parametrize("reason", [None, "", 7])
def test_no_reason(reason: object, caplog: pytest.LogCaptureFixture) -> None:
    assert ended(SAID, reason).finish_reason == "unknown"
    assert ended(replace(SAID, tool_calls=(ToolCall("add", "{}"),)), reason).finish_reason == "tool_calls"
    assert not caplog.records


@pytest.mark.parametrize("reason", ["tool_calls", "tool_use", "function_call"])
def test_calls_of_tools(reason: str, caplog: pytest.LogCaptureFixture) -> None:
    assert ended(SAID, reason).finish_reason == "tool_calls"
    assert not caplog.records


def test_an_unknown_reason_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert ended(SAID, "something_new").finish_reason == "unknown"
    assert "'something_new'" in caplog.text
