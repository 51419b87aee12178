"""A run of many datasets: their conversations share the places of a server, and each is scored as it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import COMMAND, DATASET, Project, read_lines
from tests.core.e2e.test_bad_input import LIMITED
from tests.support.cli import run_cli
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


SERVED = (
    "dict(type='OpenAIChatModel', abbr={abbr!r}, model='mock', base_url={url!r}, "
    "max_concurrency={concurrency}, timeout=100, retry=1)"
)
PROBE = '''
"""Parts of a user's own, which note the process that they are in."""

import os
from pathlib import Path


class NotingEvaluator:
    """Accuracy; each process of a run that compares an answer leaves a file. The check compares before the run."""

    def score(self, extracted, gold):
        if Path("outputs").exists():
            Path(f"scored-by-{os.getpid()}").touch()
        return {"accuracy": float(extracted == gold)}


class DeadlyEvaluator(NotingEvaluator):
    """Ends the first process that compares an answer."""

    def score(self, extracted, gold):
        if Path("outputs").exists() and not Path("died").exists():
            Path("died").touch()
            os._exit(7)
        return super().score(extracted, gold)
'''
ENDS = """
import ctypes, os

from probe import NotingEvaluator


class EndingEvaluator(NotingEvaluator):
    def score(self, extracted, gold):
        if extracted.isdigit():  # the check compares blank texts
            {end}
        return super().score(extracted, gold)
"""
ONLY_HERE = """
import os
from pathlib import Path

if Path("imported").exists():
    raise RuntimeError("a second process must not import this")
Path("imported").touch()

from probe import NotingEvaluator
"""


FEW_FILES = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600))
os.execv(sys.argv[1], sys.argv[1:])
"""


def served(server: MockServer, abbr: str = "fake", concurrency: int = 4) -> str:
    return SERVED.format(abbr=abbr, url=server.base_url, concurrency=concurrency)


def write_suite(project: Project, models: str, sizes: list[int], evaluators: dict[int, str] | None = None) -> None:
    """Datasets ``part0``, ``part1``, … with so many questions, no two of them alike."""
    (project.root / "probe.py").write_text(PROBE)
    number = 0
    datasets = []
    for part, size in enumerate(sizes):
        rows = [{"question": f"part{part}: {n}+1=?", "answer": str(n + 1)} for n in range(number, number + size)]
        number += size
        project.write_data(rows, f"part{part}.jsonl")
        evaluator = (evaluators or {}).get(part, "Gsm8kEvaluator")
        text = DATASET.replace("'sums'", f"'part{part}'").replace("sums.jsonl", f"part{part}.jsonl")
        datasets.append(text.replace("Gsm8kEvaluator", evaluator))
    project.write_config(models=models, datasets=",\n".join(datasets))


def wait_for(what: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        if what():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"it did not come: {process.communicate()}")


def journals(project: Project, model: str = "fake") -> dict[str, list[str]]:
    """The ids of all answered samples, by dataset."""
    files = project.root.glob(f"outputs/eval/*/journal/{model}/*.jsonl")
    return {file.stem: [line["sample_id"] for line in read_lines(file)] for file in files}


def scores(project: Project) -> list[tuple[str, float | None]]:
    return [(row["dataset"], row["score"]) for row in project.summary()]


def test_datasets_share_the_places_of_a_server_and_scores_keep_the_order_of_the_config(
    project: Project, server: MockServer
) -> None:
    server.follow({"text": "part0", "latency": 1.0}, {"latency": 0.3})
    write_suite(project, served(server), [1, 1, 1, 1, 1])
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert server.stats()["most_in_flight"] == 4  # the first request is alone
    assert scores(project) == [(f"part{part}", 1.0) for part in range(5)]


def test_no_more_requests_are_in_flight_than_one_dataset_may_have(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.02})
    write_suite(project, served(server, concurrency=3), [7, 1, 5, 9])
    assert project.run("run", "eval.py").returncode == 0
    assert server.stats()["most_in_flight"] == 3
    assert server.stats()["requests"] == 22


def test_models_of_one_server_share_its_places(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.05})
    models = served(server, "first", 3) + ", " + served(server, "second", 2)
    write_suite(project, models, [5, 5])
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert server.stats()["most_in_flight"] == 3
    assert server.stats()["requests"] == 20


def test_accounts_at_one_address_have_limits_of_their_own(project: Project, server: MockServer) -> None:
    server.follow({"latency": 90})
    keys = {"FIRST_KEY": "sk-first-4711", "SECOND_KEY": "sk-second-4712", "SAME_AS_FIRST": "sk-first-4711"}
    project.environment |= keys
    names = ("first", 3, "FIRST_KEY"), ("second", 2, "SECOND_KEY"), ("third", 1, "SAME_AS_FIRST")
    models = [served(server, abbr, places).replace("retry=1", f"api_key={key!r}") for abbr, places, key in names]
    write_suite(project, ", ".join(models), [5])
    process = project.start("run", "eval.py")
    wait_for(lambda: server.stats()["requests"] == 5, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert (server.stats()["requests"], server.stats()["most_in_flight"]) == (5, 5)
    written = [path.read_bytes() for path in project.root.glob("outputs/**/*") if path.is_file()]
    assert not any(key.encode() in text for key in keys.values() for text in (*written, out.encode(), err.encode()))


def test_servers_are_asked_side_by_side(project: Project, server: MockServer, second_server: MockServer) -> None:
    """The second one answers everything while the first one says nothing."""
    server.follow({"latency": 90})
    write_suite(project, served(server, "first") + ", " + served(second_server, "second"), [3, 3])
    process = project.start("run", "eval.py")
    predictions = "outputs/eval/*/predictions/second/part1.jsonl"
    wait_for(lambda: list(project.root.glob(predictions)) and server.stats()["requests"] == 4, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "[second/part1] 3/3 · " in err
    assert "[first/part0]" not in err  # nothing was answered


def test_a_served_and_a_local_model_work_side_by_side(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.5})
    local = "dict(type='probe_model.Echo', abbr='local')"
    (project.root / "probe_model.py").write_text(LOCAL_MODEL)
    write_suite(project, local + ", " + served(server), [3, 3])
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    both = [(row["model"], row["dataset"], row["score"]) for row in project.summary()]
    assert both == [
        ("local", "part0", 0.0),
        ("local", "part1", 0.0),
        ("fake", "part0", 1.0),
        ("fake", "part1", 1.0),
    ]


LOCAL_MODEL = '''
"""A model in this process's memory that answers with nothing, and waits for the server to be asked."""

import time

from ais_prompt.types import Completion, Decoding


class Echo:
    prompt_style = "text"
    max_out_len = 8
    max_seq_len = None
    batch_size = 2

    def load(self):
        pass

    def generate(self, requests):
        return [Completion("0", "stop") for _ in requests]

    def identity(self):
        return {"model": "echo"}

    def decoding(self, max_out_len, stop):
        return Decoding(8)

    def tokenizer(self):
        return None

    def count_tokens(self, prompt):
        return None

    def preflight(self):
        pass

    def close(self):
        pass
'''


def test_a_model_that_cannot_be_loaded_is_loaded_once(project: Project) -> None:
    loading = (
        'def load(self):\n        open("loaded", "a").write("x")\n        raise ModelError("the GPU is too small")'
    )
    head = "from ais_prompt.errors import ModelError\n"
    (project.root / "big.py").write_text(head + LOCAL_MODEL.replace("def load(self):\n        pass", loading))
    local = "dict(type='big.Echo', abbr='big'), dict(type='ScriptedModel', abbr='small', default='none')"
    write_suite(project, local, [2] * 12)
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert (project.root / "loaded").read_text() == "x"
    assert "12 of 24 tasks failed, with 24 samples:\nModelError: the GPU is too small" in done.stderr
    assert "tasks: all 12 datasets of big" in done.stderr
    assert [row["score"] for row in project.summary() if row["model"] == "small"] == [0.0] * 12


def test_a_task_that_fails_ends_alone(project: Project, server: MockServer) -> None:
    refusal = {"error": {"message": "unexpected role", "type": "invalid_request_error"}}
    server.follow({"text": "part1", "status": 400, "body": refusal}, {"text": "part0", "latency": 0.3})
    write_suite(project, served(server), [6, 6, 6])
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert "http_400" in done.stderr
    assert scores(project) == [("part0", 1.0), ("part1", None), ("part2", 1.0)]
    assert {part: len(ids) for part, ids in journals(project).items() if part != "part1"} == {"part0": 6, "part2": 6}


WRONG_KEY = {"status": 401, "body": {"error": {"message": "Incorrect API key provided", "type": "invalid_request"}}}


def test_a_wrong_key_ends_all_tasks_of_its_model_at_once_and_is_printed_once(
    project: Project, server: MockServer, second_server: MockServer
) -> None:
    second_server.follow(WRONG_KEY)
    server.follow({})
    models = [served(second_server, f"refused{number}", 8) for number in range(7)]
    write_suite(project, ", ".join([*models, served(server, "good", 8)]), [3] * 30)
    done = project.run("run", "eval.py")
    assert second_server.stats()["requests"] <= 7 * 8
    assert done.returncode == 3, done.stderr
    assert server.stats()["requests"] == 90
    assert [row["score"] for row in project.summary() if row["model"] == "good"] == [1.0] * 30
    assert "210 of 240 tasks failed, with 630 samples:" in done.stderr
    assert (
        "tasks: all 30 datasets of refused0, all 30 datasets of refused1, all 30 datasets of refused2, … and"
        in done.stderr
    )
    assert (done.stdout + done.stderr).count("Incorrect API key") == 1


def test_a_key_that_no_model_may_use_is_three_lines(project: Project, server: MockServer) -> None:
    server.follow(WRONG_KEY)
    models = ", ".join(served(server, f"refused{number}", 8) for number in range(8))
    write_suite(project, models.replace("timeout=100", "timeout=100, api_key='SUITE_KEY'"), [3, 3])
    project.environment["SUITE_KEY"] = "abcdefgh"
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.splitlines()[-3:] == [
        f"401 from {server.base_url} for all 8 models: Incorrect API key provided",
        "  the key is SUITE_KEY (8 characters, from the environment)",
        "  nothing was answered; set it and run the same command with -r",
    ]


def test_eight_models_on_thirty_datasets_are_a_screen_and_a_half(project: Project) -> None:
    models = [f"dict(type='ScriptedModel', abbr='a-model-with-a-long-name-{n}', default='none')" for n in range(8)]
    write_suite(project, ", ".join(models), [2] * 30)
    done = run_cli("run", "eval.py", "--gate", "accuracy >= 50%", folder=project.root, columns=80)
    assert done.returncode == 1, done.stderr
    assert len((done.stdout + done.stderr).splitlines()) <= 90
    for columns in (80, None):
        for verb, most in ((["check", "eval.py"], 10), (["run", "eval.py", "--dry-run"], 10), (["score", "eval"], 70)):
            again = run_cli(*verb, folder=project.root, columns=columns)
            assert len((again.stdout + again.stderr).splitlines()) <= most, again
        for shown in (done, again):
            table = re.sub(r"\x1b\[[0-9;]*m", "", shown.stdout).partition("Not scored")[0].splitlines()
            assert max(map(len, table)) <= (columns or 140)
            assert [sum(line.startswith(f"part{part} ") for line in table) for part in range(30)] == [1] * 30


def test_after_ctrl_c_in_the_middle_of_three_tasks_only_what_is_missing_is_asked(
    project: Project, server: MockServer
) -> None:
    # Of each task one question is held back, so that all three are under way.
    held = [{"text": f"part{part}: {4 * part}+", "latency": 90} for part in range(3)]
    server.follow(*held)
    write_suite(project, served(server), [4, 4, 4])
    process = project.start("run", "eval.py")
    wait_for(lambda: sum(map(len, journals(project).values())) == 9, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "never awaited" not in err
    assert [f"[fake/part{part}] 3/4" in err for part in range(3)] == [True] * 3

    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 3
    assert scores(project) == [(f"part{part}", 1.0) for part in range(3)]


@pytest.mark.parametrize("answers", [1, 13])
def test_after_kill_9_over_several_tasks_nothing_finished_is_asked_twice(
    project: Project, server: MockServer, answers: int
) -> None:
    server.follow({"latency": 0.05})
    write_suite(project, served(server), [5, 1, 7, 3, 4])
    process = project.start("run", "eval.py")
    wait_for(lambda: sum(map(len, journals(project).values())) >= answers, process)
    process.kill()
    process.communicate()
    kept = sum(len(ids) for ids in journals(project).values())

    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 20 - kept
    found = journals(project)
    assert {part: (len(ids), len(set(ids))) for part, ids in found.items()} == {
        "part0": (5, 5),
        "part1": (1, 1),
        "part2": (7, 7),
        "part3": (3, 3),
        "part4": (4, 4),
    }
    assert scores(project) == [(f"part{part}", 1.0) for part in range(5)]


def test_a_finished_task_is_scored_in_another_process_while_the_next_one_is_asked(
    project: Project, server: MockServer
) -> None:
    server.follow({"text": "part1", "latency": 90})
    write_suite(project, served(server), [3, 1], {0: "probe.NotingEvaluator"})
    process = project.start("run", "eval.py")
    wait_for(lambda: list(project.root.glob("outputs/eval/*/results/fake/part0.json")), process)
    [noted] = project.root.glob("scored-by-*")
    assert noted.name != f"scored-by-{process.pid}"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert scores(project) == [("part0", 1.0), ("part1", 1.0)]


def test_a_part_that_another_process_cannot_find_is_used_after_the_asking(project: Project, server: MockServer) -> None:
    server.follow({"text": "part1", "latency": 90})
    write_suite(project, served(server), [3, 1], {0: "only_here.NotingEvaluator"})
    (project.root / "only_here.py").write_text(ONLY_HERE)
    process = project.start("run", "eval.py")

    def log() -> str:
        return "".join(path.read_text() for path in project.root.glob("outputs/eval/*/logs/run.log"))

    wait_for(lambda: "is scored after the asking" in log(), process)
    process.kill()
    process.communicate()
    assert "a second process must not import this" in log()

    server.follow({})
    (project.root / "imported").unlink()
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert scores(project) == [("part0", 1.0), ("part1", 1.0)]


def test_an_evaluator_that_ends_its_process_costs_its_own_task(project: Project, server: MockServer) -> None:
    server.follow({"text": "part2", "latency": 90})
    write_suite(project, served(server), [3, 3, 1], {0: "probe.DeadlyEvaluator"})
    process = project.start("run", "eval.py")
    wait_for(lambda: list(project.root.glob("outputs/eval/*/results/fake/part1.json")), process)
    wait_for((project.root / "died").exists, process)  # the tasks are scored in any order
    server.follow({})
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert not list(project.root.glob("outputs/eval/*/results/fake/part0.json"))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert scores(project) == [(f"part{part}", 1.0) for part in range(3)]


def test_an_evaluator_that_ends_its_process_does_not_end_the_run_when_nothing_is_asked_any_more(
    project: Project, server: MockServer
) -> None:
    server.follow({})
    own = "ending.EndingEvaluator"
    write_suite(project, served(server), [2] * 4, {0: own, 2: own, 3: own.replace("ending", "crashing")})
    (project.root / "ending.py").write_text(ENDS.format(end="os._exit(7)"))
    (project.root / "crashing.py").write_text(ENDS.format(end="ctypes.string_at(0)"))
    for command in (["run", "eval.py"], ["score", "eval"]):
        done = project.run(*command)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("PartError: the process that scored this task ended: exit code 7") == 1
        assert done.stderr.count("PartError: the process that scored this task ended: killed by signal 11") == 1
        assert "3 of 4 tasks failed" in done.stderr
        assert scores(project) == [("part0", None), ("part1", 1.0), ("part2", None), ("part3", None)]


def test_a_disk_that_fills_while_one_task_is_scored_and_another_asked(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.01})
    write_suite(project, served(server), [20, 300], {0: "probe.NotingEvaluator"})
    limited = subprocess.run(
        [sys.executable, "-c", LIMITED, "20000", *COMMAND, "run", "eval.py"],
        cwd=project.root,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).parents[3])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 3, limited.stderr
    assert "StoreError: cannot write" in limited.stderr
    kept = sum(len(ids) for ids in journals(project).values())
    assert kept > 40
    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] <= 320 - kept
    assert scores(project) == [("part0", 1.0), ("part1", 1.0)]


def test_many_datasets_have_few_files_open_at_a_time(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.02})
    write_suite(project, served(server, concurrency=100), [1] * 150)
    done = subprocess.run(
        [sys.executable, "-c", FEW_FILES, *COMMAND, "run", "eval.py"],
        cwd=project.root,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).parents[3])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads((project.folder() / "summary" / "summary.json").read_text())) == 150


def test_the_board_shows_the_whole_run_and_each_endpoint(
    project: Project, server: MockServer, second_server: MockServer
) -> None:
    second_server.follow({"latency": 90})
    server.follow({"text": "part0", "latency": 0}, {"latency": 90})
    models = served(server, "first").removesuffix(")") + ", price=dict(input=1000, output=1000)), "
    write_suite(project, models + served(second_server, "second", 3), [4, 30])
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    command = [*COMMAND, "run", "eval.py"]
    process = subprocess.Popen(
        command, cwd=project.root, env=project.variables(), stdout=subprocess.DEVNULL, stderr=terminal, text=True
    )
    os.close(terminal)
    shown = ""

    def is_shown(*texts: str) -> bool:
        nonlocal shown
        shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(controller, 65536).decode(errors="replace"))
        return all(text in shown for text in texts)

    def host(running: MockServer) -> str:
        return running.base_url.removeprefix("http://").removesuffix("/v1")

    try:
        whole = ("1 of 4 tasks done", "4/68 5 % · 0 failed", "0.016 USD", "1 task to come: second/part1")
        wait_for(lambda: is_shown(*whole, f"{host(server)}: 4 asking", f"{host(second_server)}: 3 asking"), process)
    finally:
        process.kill()
        process.wait()
        os.close(controller)
