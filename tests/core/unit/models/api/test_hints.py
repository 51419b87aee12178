"""Errors of servers about an option name the option of the config."""

from __future__ import annotations

import json

import pytest

from ais_prompt.models import option_hint, server_words

COMPLETION_TOKENS = "max_tokens_field='max_completion_tokens'"
NAMED = {
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": (
        COMPLETION_TOKENS
    ),
    "this model does not take max_tokens: unknown field": COMPLETION_TOKENS,
    "body.max_completion_tokens: Extra inputs are not permitted": "max_tokens_field='max_tokens'",
    "unknown field max_new_tokens": "max_tokens_field='max_tokens'",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens": "max_out_len",
    "max_tokens: 100000 > 8192, which is the maximum; it must be lower": "max_out_len",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": "max_out_len",
    "Could not finish the message because max_tokens or model output limit was reached.": "max_out_len",
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported.": (
        "temperature=None"
    ),
    "Unsupported parameter: 'temperature' is not supported with this model.": "temperature=None",
    "`temperature` must be strictly positive": "temperature=None",
    "`temperature` may only be set to 1 when thinking is enabled.": "temperature=None",
    "body.temperature: Input should be greater than 0": "temperature=None",
    "temperature must be in (0, 2]": "temperature=None",
    "'top_p' is not supported with this model": "top_p=None",
    "Unrecognized request argument supplied: `seed`": "seed=None",
    "Unsupported parameter: 'stop' is not supported with this model.": "stop_words",
    "System role not supported": "fallback_role",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.": "fallback_role",
    "Developer instruction is not enabled for models/gemma-3-27b-it": "fallback_role",
    "the role system is not supported": "fallback_role",
    "chat template error: raise_exception('System role not supported')": "meta_template",
}
OTHER = [
    "Invalid type for 'messages[0].content'",
    "The engine must stop now",
    "the temperature of the room",
    "Incorrect API key",
    "the file system is full",
    "",
]


def test_an_error_about_an_option_names_what_to_write() -> None:
    for words in NAMED:
        assert NAMED[words] in option_hint(words)


@pytest.mark.parametrize("words", OTHER)
def test_other_errors_have_no_hint(words: str) -> None:
    assert option_hint(words) == ""


def test_the_faults_that_fastapi_lists_are_read_without_the_request_in_them() -> None:
    fault = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "x"}
    words = server_words(json.dumps({"detail": [fault, {"msg": "no"}]}).encode())
    assert words == "body.seed: Extra inputs are not permitted; : no"
    assert "seed=None" in option_hint(words)
