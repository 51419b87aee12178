"""Models that are described on the command line instead of in a config."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.support.cli import ROOT, run_cli
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


SUMS = ("--datasets", "demo_addition", "--num-prompts", "3")
DEMO_MODEL = ROOT / "configs" / "data" / "demo_model"


def test_a_server_is_asked_for_its_only_model(tmp_path: Path, server: MockServer) -> None:
    done = run_cli("run", "--url", server.base_url, *SUMS, folder=tmp_path)
    [name] = {request["body"]["model"] for request in server.requests() if request.get("body")}
    assert done.returncode in (0, 1), done.stderr
    assert f"--url {server.base_url}" in done.stdout
    [record] = tmp_path.glob("outputs/*/*/run.json")
    assert list(json.loads(record.read_text())["tasks"]) == [f"{name}/demo-addition"]


def test_the_model_can_be_named_and_then_no_server_is_needed_for_prompts(tmp_path: Path) -> None:
    options = ("--url", "http://127.0.0.1:9/v1", "--model", "lab/my-model", *SUMS)
    done = run_cli("view-prompt", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "my-model" in done.stdout


@pytest.mark.torch
def test_a_local_model(tmp_path: Path) -> None:
    done = run_cli("run", "--hf-path", str(DEMO_MODEL), "--hf-type", "base", *SUMS, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--hf-type base" in done.stdout


@pytest.mark.torch
def test_what_was_meant_can_be_saved_and_run(tmp_path: Path) -> None:
    options = ("--hf-path", str(DEMO_MODEL), "--hf-type", "base", "--datasets", "demo_addition")
    limits = ("--num-prompts", "3", "--cache", "shared answers", "--max-tokens-total", "2000000")
    saved = run_cli("run", *options, *limits, "--save-config", "mine.py", folder=tmp_path)
    assert saved.returncode == 0, saved.stderr
    assert not (tmp_path / "outputs").exists()
    _, _, command = saved.stdout.rstrip().rpartition("Run it: aisprompt ")
    assert shlex.split(command) == ["run", "mine.py", *limits]
    done = run_cli(*shlex.split(command), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "asked: 3 requests" in done.stdout
    again = run_cli("run", *options, "--save-config", "mine.py", folder=tmp_path)
    assert (again.returncode, "there is a file of that name" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("eval.py", "--url", "http://127.0.0.1:9/v1"), "either a config, or"),
        (("--url", "http://127.0.0.1:9/v1", "--hf-path", "x", *SUMS), "--hf-path for a local model"),
        (("--model", "name", *SUMS), "--model is the model of a server"),
        (("--url", "ftp://nowhere", *SUMS), "not the http(s) address"),
        (("--url", "depseek", "--model", "m", *SUMS), "did you mean 'deepseek'?"),
        (("--url", "http://127.0.0.1:9/v1"), "a model is named, and no dataset"),
        (("--datasets", "demo_addition"), "datasets are named, and no model"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, options: tuple[str, ...], what: str) -> None:
    done = run_cli("run", *options, folder=tmp_path)
    assert done.returncode in (2, 3)
    assert what in done.stderr
    assert "fix:" in done.stderr


def test_an_address_of_another_path(tmp_path: Path, server: MockServer) -> None:
    done = run_cli("run", "--url", server.base_url.replace("/v1", "/api"), *SUMS, folder=tmp_path)
    assert done.returncode == 3
    assert "the server lists no models (HTTP 404)" in done.stderr
    assert "/v1; or name the model: --model NAME" in done.stderr.splitlines()[-1]


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    done = run_cli("run", "--url", "http://127.0.0.1:9/v1", *SUMS, folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "  fix:   start the server, or correct its address"
