"""Configs by name: the user's own and the shipped ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.config import (
    CONFIG_FOLDERS,
    find_config,
    find_shipped,
    list_shipped,
    match_shipped,
    shipped_root,
)
from ais_prompt.errors import ConfigError
from ais_prompt.extension import shipped_configs

Write = Callable[[str, str], Path]


@pytest.mark.thorough
def test_the_shipped_configs_are_there(folder: Path) -> None:
    assert (shipped_root() / "data").is_dir()
    names = [config.name for config in list_shipped("datasets")]
    assert names
    for name in names:
        assert any(find_shipped("datasets", name).is_relative_to(root) for root in (shipped_root(), *shipped_configs()))


def test_a_list_reads_docstrings_and_runs_nothing(write: Write) -> None:
    write("configs/models/mine.py", '"""My model.\n\nMore."""\nraise SystemExit("was run")')
    write("configs/models/silent.py", "x = 1")
    write("configs/models/broken.py", "x = = 1")
    write("configs/models/comments.py", "# Licence\n\n'After comments.'\nx = 1")
    write("configs/models/data.py", "b'bytes'")
    write("configs/models/latin.py", '"""Fine."""').write_bytes(b'"""\xe9"""')
    write("configs/models/_part.py", '"""Not to be named."""')
    own = [config for config in list_shipped("models") if not config.path.is_relative_to(shipped_root())]
    assert {config.name: config.summary for config in own} == {
        "broken": "",
        "comments": "After comments.",
        "data": "",
        "latin": "",
        "mine": "My model.",
        "silent": "",
    }


def test_own_configs_come_before_shipped_ones(write: Write) -> None:
    shipped = list_shipped("datasets")[0]
    own = write(f"configs/datasets/{shipped.name}.py", "")
    assert find_shipped("datasets", shipped.name).resolve() == own.resolve()


def test_files_in_folders_have_short_names_where_they_are_unique(write: Write) -> None:
    for name in ("a/one", "a/two", "b/two"):
        write(f"configs/datasets/{name}.py", "")
    own = [config.name for config in list_shipped("datasets") if config.path.is_relative_to(Path.cwd())]
    assert own == ["one", "a/two", "b/two"]
    for name in own:
        assert find_shipped("datasets", name).stem == name.rpartition("/")[2]
    assert find_shipped("datasets", "a/one.py").stem == "one"


def test_patterns(write: Write) -> None:
    for name in ("gsm8k_zero", "gsm8k_few", "math"):
        write(f"configs/datasets/{name}.py", "")
    assert [file.stem for file in match_shipped("datasets", "gsm8k*")] == ["gsm8k_few", "gsm8k_zero"]
    assert match_shipped("datasets", "nothing_like_it*") == []


def test_of_several_files_of_a_name_the_first_counts_with_a_note(write: Write) -> None:
    first = write("configs/models/a/big.py", "")
    write("configs/models/b/big.py", "")
    notes: list[str] = []
    assert find_shipped("models", "big", notes) == first.absolute()
    assert notes == ["'big' is a/big; to use another, name it: b/big"]
    assert find_shipped("models", "b/big", notes).parent.name == "b"
    assert len(notes) == 1


def test_a_folder_means_its_main_config(write: Write) -> None:
    main = write("configs/datasets/sums/sums_gen.py", "")
    write("configs/datasets/sums/another.py", "")
    only = write("configs/datasets/deep/capitals/capitals_gen_chat.py", "")
    write("configs/datasets/deep/capitals/_parts.py", "")
    notes: list[str] = []
    assert find_shipped("datasets", "capitals", notes) == only.absolute()
    assert not notes
    assert find_shipped("datasets", "sums", notes) == main.absolute()
    assert notes == ["'sums' is sums/sums_gen; to use another, name it: sums/another"]
    file = write("configs/datasets/sums.py", "")
    assert find_shipped("datasets", "sums") == file.absolute()


def test_a_folder_without_a_main_config(write: Write) -> None:
    for name in ("short", "long"):
        write(f"configs/datasets/lengths/lengths_{name}.py", "")
    with pytest.raises(ConfigError, match="'lengths' has several configs") as caught:
        find_shipped("datasets", "lengths")
    assert caught.value.fix == "name one of them: lengths_long, lengths_short"


def test_an_unknown_name_offers_the_nearest(write: Write) -> None:
    write("configs/models/my_large_model.py", "")
    with pytest.raises(ConfigError, match="no model config named 'my_lrge_model'") as caught:
        find_shipped("models", "my_lrge_model")
    assert "'my_large_model'" in caught.value.fix


def test_a_path_is_a_name_too(write: Write) -> None:
    path = write("elsewhere/mine.py", "")
    assert find_shipped("models", str(path)) == path


@pytest.mark.parametrize("name", ["eval", "eval.py", "configs/eval", "configs/eval.py"])
def test_a_shipped_config_stands_in_where_there_is_no_file(folder: Path, name: str) -> None:
    assert find_config(name) == shipped_root() / "eval.py"


@pytest.mark.parametrize("name", ["eval", "eval.py", Path("eval.py")])
def test_a_file_that_is_there_is_taken_as_it_is(write: Write, name: str | Path) -> None:
    own = write("eval.py", "")
    assert find_config(name) == own


def test_an_absolute_path(write: Write) -> None:
    own = write("eval.py", "").absolute()
    assert find_config(str(own)) == own


def test_an_unknown_config_offers_shipped_ones(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config 'configs/evall\.py'") as caught:
        find_config("configs/evall.py")
    assert "configs/eval.py" in caught.value.fix
    with pytest.raises(ConfigError, match="there is no config"):
        find_config(str(folder / "none.py"))


def test_a_folder_is_not_a_config(folder: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder"):
        find_config(".")


def test_a_list_has_each_file_once_under_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "configs" / "models"
    own.mkdir(parents=True)
    for name in ("demo_chat", "mine"):
        (own / f"{name}.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CONFIG_FOLDERS.variable, str(tmp_path / "link"))
    found = list_shipped("models")
    names = [one.name for one in found]
    assert names[:2] == ["demo_chat", "mine"]
    assert "demo/demo_chat" in names
    assert len({one.path.resolve() for one in found}) == len(set(names)) == len(names)
    assert all(find_shipped("models", one.name) == one.path for one in found)
