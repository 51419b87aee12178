"""Variables of ``.env``: only those that are named, and never in the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import (
    check_variable_name,
    is_named_somewhere,
    named_variable,
    read_key,
    resolve_address,
    resolve_headers,
)
from ais_prompt.secrets import SECRETS

URL = "http://127.0.0.1:8000/v1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("MY_KEY", "TENANT", "mykey", "OPENAI_API_KEY", "OTHER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_named_variables_come_from_the_file(folder: Path) -> None:
    (folder / ".env").write_text(
        "# keys\nexport MY_KEY='from-the-file-0123'\nTENANT=\"blue $MY_KEY\"\nmykey=abc\nOTHER=x\n"
    )
    assert read_key("MY_KEY", URL) == "from-the-file-0123"
    assert resolve_headers({"X-Tenant": "a $TENANT"}) == {"X-Tenant": "a blue $MY_KEY"}, (
        "nothing in a value is replaced"
    )
    assert resolve_address(f"{URL}?sig=${{MY_KEY}}") == f"{URL}?sig=from-the-file-0123"
    assert check_variable_name("mykey") == "mykey"
    assert "MY_KEY" not in os.environ
    assert SECRETS.hide("key: from-the-file-0123") == "key: ***"


def test_the_environment_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("MY_KEY=from-the-file\n")
    monkeypatch.setenv("MY_KEY", "from-the-environment")
    assert named_variable("MY_KEY") == "from-the-environment"
    monkeypatch.setenv("MY_KEY", "")
    assert named_variable("MY_KEY") == "from-the-file", "an empty variable is not set"


def test_a_changed_file_is_read_again(folder: Path) -> None:
    assert named_variable("MY_KEY") == ""
    (folder / ".env").write_text("MY_KEY=one\n")
    assert named_variable("MY_KEY") == "one"
    (folder / ".env").write_text("MY_KEY=three\n")
    assert named_variable("MY_KEY") == "three"
    (folder / ".env").unlink()
    assert not is_named_somewhere("MY_KEY")


def test_a_missing_key_names_the_file(folder: Path) -> None:
    with pytest.raises(ModelError, match="MY_KEY is not set") as caught:
        read_key("MY_KEY", URL)
    assert ".env" in caught.value.fix


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.write_bytes(b"MY_KEY=\xff\n")])
def test_a_file_that_cannot_be_read_is_an_error(folder: Path, make: object) -> None:
    make(folder / ".env")  # type: ignore[operator]
    with pytest.raises(ConfigError, match="the file with variables cannot be read"):
        named_variable("MY_KEY")


def test_the_environment_is_enough_where_the_file_is_broken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").mkdir()
    monkeypatch.setenv("MY_KEY", "fine")
    assert named_variable("MY_KEY") == "fine"
