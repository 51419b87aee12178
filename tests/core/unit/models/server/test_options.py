"""The option `server` of a model: presets, commands, GPUs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ais_prompt import OpenAIChatModel
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import (
    PRESETS,
    GpuPool,
    ServerToStart,
    address_of,
    cache_identity,
    gpu_variable,
    read_server,
    visible_gpus,
)

COMMAND = "serve {model} --port {port}"


def server(num_gpus: int | None = None, **options: Any) -> ServerToStart:
    return read_server({"command": COMMAND, **options}, "org/model", num_gpus)


def test_placeholders_are_filled_and_other_braces_stay() -> None:
    options = {"command": ["{python}", "serve", "{model}", "{port}", '{"a": {}}'], "args": "--gpus {num_gpus}"}
    words = read_server(options, "org/my model", None).words(2)
    assert words == [sys.executable, "serve", "org/my model", "{port}", '{"a": {}}', "--gpus", "2"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_whole_command(name: str) -> None:
    alone = read_server(name, "org/model", None)
    assert {"org/model", "{port}", "127.0.0.1"} <= set(alone.words(1))
    assert not [word for word in alone.words(1) if "{" in word and word != "{port}"]
    several = read_server({"preset": name, "args": "--seed 1"}, "org/model", 4).words(4)
    assert several[-2:] == ["--seed", "1"]
    assert several[: len(alone.words(1))] == alone.words(1)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "needs a command or a preset"),
        ({"command": COMMAND, "preset": "vllm"}, "needs a command or a preset"),
        ({"command": "serve {model} --port 8000"}, "has no {port}"),
        ("vlm", "there is no preset 'vlm'"),
        ({"command": COMMAND, "replicas": 0}, "replicas must be at least 1"),
        ({"command": COMMAND, "replicas": "all"}, "server cannot be"),
        ({"command": COMMAND, "start_timeout": 0}, "start_timeout must be more than 0"),
        ({"command": COMMAND, "timeout": 5}, "server has no field 'timeout'"),
    ],
)
def test_a_wrong_option_is_refused(given: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what.replace("{", r"\{")):
        OpenAIChatModel("m", server=given)


def test_a_near_miss_of_a_preset_is_offered() -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChatModel("m", server="vlm")
    assert caught.value.fix == "did you mean 'vllm'?"


def test_an_address_beside_a_server_is_refused() -> None:
    with pytest.raises(ConfigError, match="base_url or provider cannot be given beside server"):
        OpenAIChatModel("m", "http://127.0.0.1:8000/v1", server="vllm")


def test_the_address_of_a_started_server_is_its_command_without_a_port() -> None:
    model = OpenAIChatModel("org/m", server={"command": COMMAND})
    assert address_of(model) == "serve org/m --port {port}"
    assert model.identity() == OpenAIChatModel("org/m").identity()
    assert cache_identity(model)["base_url"] == address_of(model)


def test_a_program_that_is_not_installed_is_named_before_the_run() -> None:
    with pytest.raises(ModelError, match="'no-such-server', which is to start the server, is not installed"):
        OpenAIChatModel("m", server={"command": "no-such-server --port {port}"}).preflight()


@pytest.mark.parametrize(
    ("gpus", "num_gpus", "replicas", "each", "number"),
    [
        (0, None, 1, 0, 1),
        (0, 1, "auto", 0, 1),
        (4, None, 1, 4, 1),
        (4, 2, 1, 2, 1),
        (4, None, "auto", 1, 4),
        (4, 2, "auto", 2, 2),
        (5, 2, "auto", 2, 2),
        (4, None, 3, 1, 3),
        (4, 0, "auto", 0, 4),
    ],
)
def test_gpus_are_divided_among_replicas(
    gpus: int, num_gpus: int | None, replicas: Any, each: int, number: int
) -> None:
    wanted = server(num_gpus, replicas=replicas)
    assert (wanted.gpus_each(gpus), wanted.replicas(gpus)) == (each, number)


def test_too_few_gpus_are_an_error_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    wanted = read_server({"command": "{python} {port}"}, "m", 3)
    with pytest.raises(ModelError, match="needs 3 GPUs, and this machine shows 2"):
        wanted.preflight()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # a config from a machine with GPUs works on one without
    wanted.preflight()


NPUS = """\tTotal Count                    : 2

\tNPU ID                         : 0
\tChip Count                     : 2

\tNPU ID                         : 1
\tChip Count                     : 2
"""


@pytest.mark.process
def test_npus_of_ascend_are_found_and_handed_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "npu-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{NPUS}END\n")
    program.chmod(0o755)
    for variable in ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("shutil.which", lambda name: str(program) if name == "npu-smi" else None)
    assert (gpu_variable(), visible_gpus()) == ("ASCEND_RT_VISIBLE_DEVICES", ("0", "1", "2", "3"))
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "4,5")
    assert (gpu_variable(), visible_gpus()) == ("ASCEND_RT_VISIBLE_DEVICES", ("4", "5"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert (gpu_variable(), visible_gpus()) == ("CUDA_VISIBLE_DEVICES", ("1",))


@pytest.mark.parametrize(
    ("variable", "gpus"), [("", ()), ("3", ("3",)), ("2, 0", ("2", "0")), ("0,-1,1", ("0",)), ("-1", ())]
)
def test_visible_gpus_are_those_of_the_variable(
    variable: str, gpus: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert visible_gpus() == gpus


def test_a_pool_gives_each_gpu_to_one_holder() -> None:
    pool = GpuPool("0123")
    first, second = pool.take(3), pool.take(1)
    assert (first, second, pool.take(1)) == (("0", "1", "2"), ("3",), None)
    assert first
    pool.give_back(first[1:])
    assert pool.take(3) is None
    assert pool.take(2) == ("1", "2")
