"""Headers and queries that name environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.models import resolve_address, resolve_headers
from ais_prompt.models.transport.credentials import key_words
from ais_prompt.secrets import SECRETS

SECRET = "tenant/0123456789"


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TENANT", SECRET)
    monkeypatch.delenv("NO_TENANT", raising=False)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("$MY_TENANT", SECRET),
        ("${MY_TENANT}", SECRET),
        ("Bearer $MY_TENANT", f"Bearer {SECRET}"),
        ("a=$MY_TENANT; b=${MY_TENANT}x", f"a={SECRET}; b={SECRET}x"),
        ("$$MY_TENANT", "$MY_TENANT"),
        ("costs $5", "costs $5"),
    ],
)
def test_a_header_may_name_a_variable(value: str, sent: str) -> None:
    assert resolve_headers({"X-Tenant": value}) == {"X-Tenant": sent}


def test_a_query_may_name_a_variable() -> None:
    address = resolve_address("https://host/v1?api-version=2024-10-21&tenant=$MY_TENANT&price=$$5")
    assert address == "https://host/v1?api-version=2024-10-21&tenant=tenant%2F0123456789&price=%245"


def test_sent_secrets_are_redacted_from_then_on() -> None:
    resolve_headers({"X-Tenant": "Bearer $MY_TENANT", "User-Agent": "my-program/1.0.0"})
    assert SECRETS.hide(f"my-program/1.0.0 sent {SECRET}") == "my-program/1.0.0 sent ***"


@pytest.mark.parametrize("value", ["$NO_TENANT", "***"])
def test_a_value_that_cannot_be_sent_is_an_error_with_a_fix(value: str) -> None:
    for resolve in (
        lambda: resolve_headers({"X-Tenant": value}),
        lambda: resolve_address(f"https://host/v1?X-Tenant={value}"),
    ):
        with pytest.raises(ModelError, match="X-Tenant") as caught:
            resolve()
        assert "NAME" in caught.value.fix or "export NO_TENANT" in caught.value.fix


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("MY_TENANT", "the key is MY_TENANT (10 characters, from the environment)"),
        ("FROM_FILE", "the key is FROM_FILE (5 characters, from .env)"),
        (None, "no key is sent"),
    ],
)
def test_the_key_is_told_without_the_key(
    variable: str | None, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("FROM_FILE=12345\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_TENANT", "0123456789")
    assert key_words(variable, "https://host/v1") == words
