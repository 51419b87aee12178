"""What counts as a secret, and what does not."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from ais_prompt.config import literals_of, redacted, redacted_override, register_secrets
from ais_prompt.secrets import SECRETS

KEY = "sk-abcdefghijklmnop1234"


SECRET_KEYS = """
    api_key API_KEY api-key apikey openai_api_key access_key secret client_secret password passwd
    Authorization token hf_token use_auth_token access-token credentials
"""


def test_what_stands_below_a_secret_key_is_hidden() -> None:
    for key in SECRET_KEYS.split():
        for secret in ("abc", "lower_case_name", 123456):
            assert redacted({key: secret}, "models") == {key: "***"}
        assert redacted({key: {"inner": ["abc", "def"]}}, "models") == {key: {"inner": ["***", "***"]}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ice_token", "</E>"),
        ("max_tokens", 3),
        ("pad_token_id", 0),
        ("tokenizer_path", "x"),
        ("secretary", "Ann"),
        ("use_auth_token", True),
        ("api_key", None),
        ("api_key", "OPENAI_API_KEY"),
        ("api_key", ["FIRST_KEY", "SECOND_KEY"]),
        ("path", "sk-short"),
        ("template", "your key is sk-abcdefghijklmnop1234, or not"),
        ("base_url", "http://127.0.0.1:80/v1?api-version=2024-10-21&sig=$SIG"),
        ("path", "data/a?b=c@d"),
        ("headers", {"Accept": "*/*", "Content-Type": "text/plain", "User-Agent": "me", "api-version": "1"}),
        ("headers", {"X-Key": "$MY_KEY", "Authorization": "Bearer ${MY_KEY}"}),
    ],
)
def test_what_is_no_secret_stays(key: str, value: Any) -> None:
    assert redacted({key: value}, "models") == {key: value}


def test_the_name_of_a_variable_that_is_set_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("lower", "x")
    assert redacted("lower", "api_key") == "lower"


@pytest.mark.parametrize("value", [KEY, f"Bearer {KEY}", "hf_abcdefghijklmnop1234"])
def test_a_key_is_known_by_its_looks(value: str) -> None:
    assert redacted({"anything": [value]}, "models") == {"anything": ["***"]}


def test_a_password_in_an_address() -> None:
    assert redacted("http://me:pass@host/v1", "base_url") == "http://***@host/v1"


@pytest.mark.parametrize("table", ["headers", "default_headers", "extra_headers", "cookies", "default_query"])
def test_every_value_of_a_table_is_hidden(table: str) -> None:
    for secret in ("x", "UPPER_CASE", "http://host/", 7):
        assert redacted({table: {"X-Any": secret}}, "models") == {table: {"X-Any": "***"}}
    assert redacted({table: ["Cookie: x"]}, "models") == {table: ["***"]}


@pytest.mark.parametrize(
    "source",
    [
        "models = [dict(headers={'Cookie': 'SECRET-0123456'})]",
        "models = [dict(headers=dict(Cookie=f'a=SECRET-0123456;{x}'))]",
        "models = [Model(api_key='SECRET-0123456' if x else None)]",
        "models[0]['headers']['Cookie'] = 'SECRET-0123456'",
        "models[0].update(dict(base_url='http://me:SECRET-0123456@host/'))",
        "for model in models:\n    model['password'] = 'SECRET-0123456'",
    ],
)
def test_the_literals_of_a_config_are_secret_before_it_runs(source: str) -> None:
    register_secrets(literals_of(ast.parse(source)))
    assert SECRETS.hide("it says SECRET-0123456") == "it says ***"


def test_what_is_shown_elsewhere_in_the_config_is_no_secret() -> None:
    register_secrets({"models": [{"model": "a-model-of-mine", "headers": {"X-Model": "a-model-of-mine"}}]})
    assert SECRETS.hide("a-model-of-mine") == "a-model-of-mine"


def test_an_argument_with_a_secret() -> None:
    cases = [
        ("models.0.headers.Cookie=abc", "models.0.headers.Cookie=***"),
        (
            "models[0].headers={'Cookie': 'abc', 'Accept': '*/*'}",
            "models[0].headers={'Cookie': '***', 'Accept': '*/*'}",
        ),
        ("models.*.base_url=http://host/?sig=abc", "models.*.base_url=http://host/?sig=***"),
        ("models.0.api_key=abc", "models.0.api_key=***"),
        ("--set=models.0.api_key=abc", "--set=models.0.api_key=***"),
        ("models.0.api_key.inner=abc", "models.0.api_key.inner=***"),
        ("models.0={'api_key': 'abc', 'n': 1}", "models.0={'api_key': '***', 'n': 1}"),
        (f"models.0.extra={KEY}", "models.0.extra=***"),
        ("models.0.base_url=http://me:pass@host", "models.0.base_url=http://***@host"),
        (KEY, "***"),
        ("http://host/v1?sig=abc", "http://host/v1?sig=***"),
        ("https://me:abc@host:8000/v1?api-version=1&sig=a=b", "https://***@host:8000/v1?api-version=1&sig=***"),
        ("--url=http://host/v1?sig=abc", "--url=http://host/v1?sig=***"),
        ("models.0.server.args=--api-key abc", "models.0.server.args=--api-key ***"),
        (
            "models.0.server={'command': ['a', '--hf-token', 'abc']}",
            "models.0.server={'command': ['a', '--hf-token', '***']}",
        ),
        ("runner.setup=['export HF_TOKEN=abc']", "runner.setup=['export HF_TOKEN=***']"),
    ]
    for argument, shown in cases:
        assert redacted_override(argument) == shown


@pytest.mark.parametrize(
    "argument",
    ["run", "configs/eval.py", "--set", "models.0.n=01", "models.0.api_key=MY_KEY", "--work-dir=out", "a==b", "=", ""],
)
def test_an_argument_without_a_secret_stays(argument: str) -> None:
    assert redacted_override(argument) == argument
