"""Configs of the peers by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.config import compose_config, find_shipped, match_shipped, search_configs, shipped_root
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS


def test_configs_of_an_installed_peer_come_before_shipped_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says so, and the name of a package before that of the config decides otherwise."""
    theirs = tmp_path / "opencompass/configs/datasets/gsm8k/gsm8k_gen.py"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("gsm8k_datasets = []")
    monkeypatch.setenv(PEER_FOLDERS.variable, str(tmp_path))
    notes: list[str] = []
    assert find_shipped("datasets", "gsm8k_gen", notes) == theirs
    assert notes == ["'gsm8k_gen' is opencompass/gsm8k_gen; there is also ais_prompt/gsm8k_gen"]
    assert find_shipped("datasets", "ais_prompt/gsm8k_gen", notes).is_relative_to(shipped_root())
    assert find_shipped("datasets", "opencompass/gsm8k/gsm8k_gen", notes) == theirs
    assert match_shipped("datasets", "opencompass/gsm*", notes) == [theirs]
    assert len(notes) == 1


def test_each_found_config_has_a_name_that_finds_exactly_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of one name in several folders and packages: the name on the command line leads to the shown path."""
    for name in (
        "opencompass/configs/datasets/quiz/quiz_gen.py",
        "opencompass/configs/datasets/zoo/quiz_gen.py",
        "opencompass/configs/datasets/quiz_gen.py",
        "ais_bench/benchmark/configs/datasets/quiz/quiz_gen.py",
        "ais_bench/benchmark/configs/datasets/quiz/quiz_gen_0.py",
        "own/configs/datasets/quiz/Quiz_mine.py",
        "own/configs/datasets/quiz/quiz_gen.py",
        "own/configs/models/quiz.py",
    ):
        (file := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text('"""Questions."""\n')
    monkeypatch.setenv(PEER_FOLDERS.variable, str(tmp_path))
    monkeypatch.chdir(tmp_path / "own")
    found = search_configs("datasets", ["QUIZ"])
    assert len(found) == 7
    assert {find_shipped("datasets", one.name) for one in found} == {one.path for one in found}
    assert all(find_shipped("datasets", one.name) == one.path for one in found)
    assert {one.summary for one in found} == {"Questions."}
    assert [one.name for one in search_configs("datasets", ["quiz_mine.py"])] == ["Quiz_mine"]
    assert [one.name for one in search_configs("datasets", ["zoo*gen"])] == ["zoo/quiz_gen"]
    assert [one.name for one in search_configs("models", ["zzz", "qu?z"])] == ["quiz"]
    assert search_configs("models", ["zzz"]) == []


def test_a_name_of_a_peer_that_is_not_at_hand_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PEER_FOLDERS.variable, "")
    for name, says_it in (("hf_some_model_7b", True), ("demo_chta", False)):
        with pytest.raises(ConfigError) as caught:
            find_shipped("models", name)
        assert ("--peer-path" in caught.value.fix) is says_it
    (tmp_path / "opencompass/configs/models").mkdir(parents=True)
    monkeypatch.setenv(PEER_FOLDERS.variable, str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        find_shipped("models", "hf_some_model_7b")
    assert "--peer-path" not in caught.value.fix


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("types", "package"),
    [
        (["ais_bench.benchmark.models.VLLMCustomAPIChat"], "ais_bench"),
        (["opencompass.models.OpenAI"], "opencompass"),
        (["ScriptedModel"], "opencompass"),
        (["ais_bench.benchmark.models.VLLMCustomAPIChat", "opencompass.models.OpenAI"], "opencompass"),
        (["ais_bench.benchmark.models.VLLMCustomAPIChat", "ScriptedModel"], "opencompass"),
    ],
)
def test_a_dataset_of_both_peers_is_that_of_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, types: list[str], package: str
) -> None:
    files = {
        "peers/opencompass/configs/datasets/math/math_gen.py": "datasets = [dict(abbr='opencompass')]",
        "peers/ais_bench/benchmark/configs/datasets/math/math_gen.py": "datasets = [dict(abbr='ais_bench')]",
        "configs/models/m.py": f"models = {[{'type': name} for name in types]}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PEER_FOLDERS.variable, str(tmp_path / "peers"))
    for name in ("math_gen", "math", "math_*"):
        loaded = compose_config(["m"], [name])
        assert [one["abbr"] for one in loaded.values["datasets"]] == [package]
        other = ({"opencompass", "ais_bench"} - {package}).pop()
        if name != "math":
            reason = ", as the models are" if package in types[0] and len(types) == 1 else ""
            note = f"{name!r} is {package}/{name}{reason}; there is also {other}/{name}"
            assert [one.what for one in loaded.notes] == [note]
