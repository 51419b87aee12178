"""Programs as agents: real processes, most of them hostile, in one run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.store import RunFolder
from ais_prompt.types import Completion, Prediction
from tests.support.cli import run_cli
from tests.support.servers import ROOT, MockServer
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = [pytest.mark.process, pytest.mark.thorough]
AGENT = Path(__file__).with_name("agent.py")
CONFIG = """
models = [dict(type='CommandModel', abbr='agent', command=[{python!r}, '-I', {agent!r}, '{{question}}'],
    model={model!r}, environment=dict(PIDS={pids!r}), **{options!r})]
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def write(folder: Path, rows: Sequence[Mapping[str, Any]], model: Mapping[str, Any], **options: Any) -> None:
    config = CONFIG.format(
        python=sys.executable, agent=str(AGENT), pids=str(folder), model=dict(model), options=options
    )
    (folder / "config.py").write_text(config, "utf-8")
    (folder / "rows.jsonl").write_text("".join(json.dumps({"answer": "yes", **row}) + "\n" for row in rows), "utf-8")


def predictions(folder: Path) -> dict[str, Prediction]:
    [path] = folder.glob("out/**/predictions/agent/tasks.jsonl")
    found = [Prediction.from_json(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return {str(one.origin_prompt).split()[0]: one for one in found}


SCRIPT = {"type": "ScriptedModel", "default": "yes", "max_concurrency": 16}


@pytest.mark.slow
def test_hostile_agents_fail_alone_and_leave_no_process(tmp_path: Path) -> None:
    kinds = ["steps 3", "loops", "silent", "exits", "floods", "hangs", "forks", "kills", "connects"]
    rows = [{"question": kind} for kind in kinds]
    write(tmp_path, rows, SCRIPT, max_concurrency=9, max_steps=250, timeout=20)
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert "Traceback" not in done.stderr + done.stdout
    found = predictions(tmp_path)
    assert found["steps"].prediction == "yes"
    assert found["forks"].prediction == "yes"
    assert found["connects"].prediction == "all answered"
    assert len(only(found["connects"]).trajectory) == 200
    failures = {
        "loops": ("agent_limit", "max_steps=250: the agent sent 251 requests"),
        "silent": ("agent_no_calls", "the agent answered without a request to its model"),
        "exits": ("agent_exit", "exit code 3; the last lines:\nfirst line\nlast words"),
        "floods": ("agent_output", "the agent printed more than 16 MiB"),
        "hangs": ("agent_limit", "timeout=20: the agent did not end, after 1 request"),
        "kills": ("agent_exit", "ended by signal 9"),
    }
    for name, (kind, message) in failures.items():
        failure = only(found[name]).failure
        assert failure is not None, name
        assert (failure.kind, failure.message[: len(message)]) == (kind, message)
    assert len(only(found["loops"]).trajectory) == 250
    assert len(only(found["kills"]).trajectory) == 1
    assert [(file.name, file.text) for file in only(found["hangs"]).files] == [("notes.txt", "so far")]
    for name in ("hangs", "forks"):
        assert has_ended(int((tmp_path / name).read_text())), name


def only(prediction: Prediction) -> Completion:
    [completion] = prediction.completions
    return completion


def has_ended(pid: int) -> bool:
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_row_brings_files_and_what_is_left_is_kept(tmp_path: Path) -> None:
    write(tmp_path, [{"question": "files", "files": {"in.txt": "hello"}}], SCRIPT, answer="json:answer")
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = predictions(tmp_path)["files"]
    assert json.loads(found.prediction) == ["in.txt", "large.bin", "out.txt", "question.txt"]
    files = {file.name: (file.size, file.text) for file in only(found).files}
    assert files == {"large.bin": (500_000, None), "out.txt": (6, "hello!")}


def test_a_file_that_has_changed_is_given_to_the_agent_again(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.txt").write_text("hello")
    rows = [{"question": "files", "files": {"in.txt": {"path": str(tmp_path / f"{n}.txt")}}} for n in (1, 2)]
    write(tmp_path, rows, SCRIPT)

    def asked() -> str:
        done = run_cli("run", "config.py", "-w", "out", "-r", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        [path] = tmp_path.glob("out/**/predictions/agent/tasks.jsonl")
        left = [Prediction.from_json(json.loads(line)).completions[0].files for line in path.read_text().splitlines()]
        return " ".join(str(file.text) for files in left for file in files if file.name == "out.txt")

    assert run_cli("run", "config.py", "-w", "out", folder=tmp_path).returncode == 0
    assert asked() == "hello! hello!"
    (tmp_path / "2.txt").write_text("good day")
    assert asked() == "hello! good day!"


@pytest.mark.parametrize(
    ("files", "words"),
    [({"../x": "a"}, "outside"), ("no json", "holds no files"), ({"x": {"path": "nowhere"}}, "cannot be read")],
)
def test_files_that_cannot_be_brought_fail_their_sample_alone(tmp_path: Path, files: Any, words: str) -> None:
    write(tmp_path, [{"question": "files", "files": files}, {"question": "steps 1", "files": None}], SCRIPT)
    run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    failure = only(predictions(tmp_path)["files"]).failure
    assert failure is not None
    assert words in failure.message
    assert predictions(tmp_path)["steps"].prediction == "yes"


def test_a_program_that_does_not_exist_is_one_error_before_anything_runs(tmp_path: Path) -> None:
    write(tmp_path, [{"question": "steps 1"}], SCRIPT)
    config = (tmp_path / "config.py").read_text("utf-8").replace(repr(sys.executable), "'no-such-agent'")
    (tmp_path / "config.py").write_text(config, "utf-8")
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("there is no program 'no-such-agent'") == 1
    assert "models[0] (config.py:2) · command" in done.stderr


def test_after_a_kill_a_resumed_run_asks_only_what_is_new(tmp_path: Path, server: MockServer) -> None:
    """Each request of each agent reaches the server once, but for those that were under way at the kill."""
    server.follow({"latency": 0.05})
    model = {"type": "OpenAIChatModel", "model": "mock", "base_url": server.base_url, "api_key": None}
    rows = [{"question": f"steps 6 row {number}"} for number in range(4)]
    write(tmp_path, rows, model, max_concurrency=2)
    command = [sys.executable, "-m", "ais_prompt", "run", "config.py", "-w", "out"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while server.stats()["requests"] < 9 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(server.requests())
    assert 9 <= before < 24
    done = run_cli("run", "config.py", "-w", "out", "-r", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = [json.dumps(one["body"]["messages"]) for one in server.requests()]
    assert len(set(asked)) == 24
    assert len(asked) <= 24 + 2  # two were under way
    [folder] = {RunFolder(path.parents[2]) for path in tmp_path.glob("out/**/predictions/agent/tasks.jsonl")}
    lines = [json.loads(line) for line in folder.journal("agent", "tasks").read_text("utf-8").splitlines()]
    steps = [line for line in lines if "step" in line]
    assert len(steps) == 24
    assert all(line["request"]["prompt"] for line in steps)
    again = run_cli("run", "config.py", "-w", "out", "-r", folder=tmp_path)
    assert again.returncode == 0
    assert len(server.requests()) == len(asked)


def test_no_agent_outlives_a_run_that_was_killed(tmp_path: Path) -> None:
    write(tmp_path, [{"question": "hangs"}], SCRIPT)
    command = [sys.executable, "-m", "ais_prompt", "run", "config.py", "-w", "out"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL)
    pid = tmp_path / "hangs"
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while not (pid.exists() and pid.read_text()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert has_ended(int(pid.read_text()))
