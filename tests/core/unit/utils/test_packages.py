from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.utils import install_command, require, require_installed


def test_a_package_that_is_there_is_imported() -> None:
    assert require("json", extra="local", why="a test").loads("1") == 1
    require_installed("json", extra="local", why="a test")


@pytest.mark.parametrize("look", [require, require_installed])
def test_a_missing_one_is_told_with_its_extra(look: object) -> None:
    with pytest.raises(MissingExtra) as caught:
        look("no_such_package", extra="local", why="HuggingFaceBaseModel")  # type: ignore[operator]
    assert caught.value.what == "HuggingFaceBaseModel needs the package 'no_such_package', which is not installed"
    assert caught.value.fix == install_command("local")


@pytest.fixture
def installed_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], str]:
    """Return what the program advises where pip recorded the given origin."""

    def advice(origin: object) -> str:
        info = tmp_path / "site" / "ais_prompt-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ais-prompt\nVersion: 0.1.0\n")
        if origin is not None:
            (info / "direct_url.json").write_text(json.dumps(origin))
        monkeypatch.syspath_prepend(str(info.parent))
        return install_command("local")

    return advice


def test_the_command_names_an_index_where_pip_recorded_no_origin(installed_from: Callable[[object], str]) -> None:
    assert installed_from(None) == "pip install 'ais-prompt[local]'"


@pytest.mark.parametrize(("editable", "option"), [(True, "-e "), (False, "")])
def test_the_command_names_the_folder(
    installed_from: Callable[[object], str], tmp_path: Path, editable: bool, option: str
) -> None:
    folder = tmp_path / "a clone"
    folder.mkdir()
    found = installed_from({"url": folder.as_uri(), "dir_info": {"editable": editable}})
    assert found == f"pip install {option}'{folder}[local]'"


def test_the_command_names_the_wheel_while_it_exists(installed_from: Callable[[object], str], tmp_path: Path) -> None:
    wheel = tmp_path / "ais_prompt-0.1.0-py3-none-any.whl"
    wheel.touch()
    assert installed_from({"url": wheel.as_uri(), "archive_info": {}}) == f"pip install '{wheel}[local]'"
    wheel.unlink()
    assert install_command("local") == "pip install 'ais-prompt[local]'"


def test_the_command_names_the_commit(installed_from: Callable[[object], str]) -> None:
    vcs = {"vcs": "git", "commit_id": "1234abcd", "requested_revision": "main"}
    found = installed_from({"url": "https://git.example/ais_prompt.git", "vcs_info": vcs})
    assert found == "pip install 'ais-prompt[local] @ git+https://git.example/ais_prompt.git@1234abcd'"
