"""Work in a process of its own, whatever becomes of either side."""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.processes import Worker, WorkerDied
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process

ECHO = """
import os, pickle, sys, time
from ais_prompt.processes.child import serve


def answer(message):
    value = pickle.loads(message)
    if value == "die":
        os._exit(3)
    if value == "sleep":
        time.sleep(60)
    if value == "fork":
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        time.sleep(60)
    print("a part prints", value)
    if value == "forge":
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"x" * 64)
            except OSError:
                pass
    if value == "twice":
        pipe = int(sys.argv[2])
        os.write(pipe, b"n" * 8 + (1).to_bytes(8, "big") + b"x")
    if value == "half":
        os.write(int(sys.argv[2]), b"n")
        time.sleep(1)
    return pickle.dumps((os.getpid(), value))


serve(answer)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "echo_worker.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "echo_worker"


def call(worker: Worker, value: object, seconds: float | None = None) -> Any:
    return pickle.loads(worker.call(pickle.dumps(value), seconds))


def test_calls_are_answered_in_another_process_and_what_is_printed_is_no_answer(module: str) -> None:
    worker = Worker(module)
    try:
        values = [1, "two", {"three": [3.0]}, b"x" * 1_000_000]
        answers = [call(worker, value) for value in values]
    finally:
        worker.stop()
    assert [value for _, value in answers] == values
    assert {pid for pid, _ in answers} != {os.getpid()}
    assert len({pid for pid, _ in answers}) == 1


def test_the_end_of_the_worker_is_an_error(module: str) -> None:
    worker = Worker(module)
    with pytest.raises(WorkerDied, match="exit code 3"):
        call(worker, "die")
    with pytest.raises(WorkerDied):
        call(worker, 1)
    worker.stop()


def test_a_module_that_is_not_there_is_an_error() -> None:
    worker = Worker("no_such_module_at_all")
    with pytest.raises(WorkerDied, match="exit code 1"):
        call(worker, 1)
    worker.stop()


def test_a_call_under_way_ends_when_the_worker_is_stopped(module: str) -> None:
    worker = Worker(module)
    assert call(worker, 1)[1] == 1
    timer = threading.Timer(0.2, worker.stop)
    timer.start()
    with pytest.raises(WorkerDied, match="killed by signal 9"):
        call(worker, "sleep")
    timer.join()


def test_a_call_ends_with_its_worker_even_if_a_process_of_the_worker_lives_on(module: str) -> None:
    worker = Worker(module)
    threading.Timer(1.0, worker.stop).start()
    with pytest.raises(WorkerDied, match="killed by signal 9"):
        call(worker, "fork", WATCHDOG_SECONDS)


def test_a_call_ends_whenever_its_worker_is_stopped(module: str) -> None:
    for pause in (0.0, 0.01, 0.1, 0.2, 0.3):
        worker = Worker(module)
        threading.Timer(pause, worker.stop).start()
        with pytest.raises(WorkerDied):
            call(worker, "sleep", WATCHDOG_SECONDS)


@pytest.mark.parametrize("written", ["forge", "twice"])
def test_what_is_no_reply_is_not_taken_for_one(module: str, written: str) -> None:
    worker = Worker(module)
    with pytest.raises(WorkerDied, match="something else than its reply"):
        call(worker, written)
    with pytest.raises(WorkerDied):
        call(worker, 1)
    worker.stop()


def test_a_reply_that_comes_before_its_call_is_not_taken_for_it(module: str) -> None:
    worker = Worker(module)
    assert call(worker, 1)[1] == 1
    with pytest.raises(TimeoutError):
        call(worker, "half", 0.5)
    with pytest.raises(WorkerDied, match="something else than its reply"):
        call(worker, 2)
    worker.stop()


@pytest.mark.usefixtures("visible")
def test_this_process_is_hidden_while_a_worker_lives(module: str) -> None:
    libc = ctypes.CDLL(None)
    workers = [Worker(module), Worker(module)]
    for worker in workers:
        assert libc.prctl(3, 0, 0, 0, 0) == 0
        worker.stop()
        worker.stop()
    assert libc.prctl(3, 0, 0, 0, 0) == 1


def test_a_call_may_have_a_time_limit(module: str) -> None:
    worker = Worker(module)
    assert call(worker, 1, WATCHDOG_SECONDS)[1] == 1
    with pytest.raises(TimeoutError):
        call(worker, "sleep", 0.1)
    worker.stop()


def test_a_time_limit_holds_among_thousands_of_open_files(module: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("this process may not open 2,048 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        worker = Worker(module)
        assert call(worker, 1, WATCHDOG_SECONDS)[1] == 1
        worker.stop()
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_worker_ends_with_its_parent_even_in_the_middle_of_a_call(module: str) -> None:
    """The parent is killed, so that it can stop nothing."""
    program = (
        "from ais_prompt.processes.child import Worker\n"
        "import pickle\n"
        f"worker = Worker({module!r})\n"
        "print(pickle.loads(worker.call(pickle.dumps(1)))[0], flush=True)\n"
        "worker.call(pickle.dumps('sleep'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{Path(__file__).parents[4]}"}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while _is_alive(worker):
        assert time.monotonic() < deadline, "the worker outlives its parent"
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_ctrl_c_is_left_to_the_parent(module: str) -> None:
    worker = Worker(module)
    try:
        pid, _ = call(worker, 1)
        os.kill(pid, signal.SIGINT)
        assert call(worker, 2) == (pid, 2)
    finally:
        worker.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_signals_are_left_to_the_parent_while_the_worker_starts(module: str, tmp_path: Path, number: int) -> None:
    started = tmp_path / "started"
    (tmp_path / "slow_worker.py").write_text(
        f"import time\nopen({str(started)!r}, 'w').close()\ntime.sleep(0.3)\nimport {module}\n"
    )
    worker = Worker("slow_worker")
    try:
        while not started.exists():
            time.sleep(0.01)
        os.kill(worker._process.pid, number)
        assert call(worker, 1)[1] == 1
    finally:
        worker.stop()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])
