"""The watchdog of a server ends everything that the server started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from ais_prompt.processes import watched
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process

FAMILY = """
    import os, pathlib, signal, sys, time
    folder = pathlib.Path(sys.argv[1])
    def note(name):
        (folder / f"{name}.tmp").write_text(str(os.getpid()))
        (folder / f"{name}.tmp").rename(folder / name)
    if not os.fork():
        os.setsid()
        if not os.fork():  # its parent ends at once: an orphan in a session of its own
            note("grandchild")
            time.sleep(600)
        os._exit(0)
    if sys.argv[2] == "stubborn":
        signal.signal(signal.SIGTERM, lambda *_: None)
    while not (folder / "grandchild").exists():
        time.sleep(0.01)
    note("server")
    if sys.argv[2] == "ends":
        sys.exit(7)
    while True:
        time.sleep(600)
"""
"""A server that leaves an orphan in a session of its own."""

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans come back to a subreaper on Linux only")


def start(tmp_path: Path, how: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(FAMILY), str(tmp_path), how]
    return subprocess.Popen(watched(command, grace=0.5), stdin=subprocess.PIPE)


def pid(tmp_path: Path, name: str) -> int:
    wait_until((tmp_path / name).exists, f"the {name} runs")
    return int((tmp_path / name).read_text())


def runs(number: int) -> bool:
    """Whether there is such a process, a zombie aside."""
    with suppress(OSError):
        return b") Z " not in Path(f"/proc/{number}/stat").read_bytes()
    return False


@needs_linux
@pytest.mark.parametrize("how", ["obedient", "stubborn"])
def test_all_processes_end_when_the_program_is_gone(tmp_path: Path, how: str) -> None:
    process = start(tmp_path, how)
    server, grandchild = pid(tmp_path, "server"), pid(tmp_path, "grandchild")
    assert os.getsid(grandchild) != os.getsid(server)
    assert process.stdin
    process.stdin.close()
    process.wait(WATCHDOG_SECONDS)
    assert not runs(server)
    assert not runs(grandchild)


@needs_linux
def test_a_server_that_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    process = start(tmp_path, "ends")
    assert process.wait(WATCHDOG_SECONDS) == 7
    assert not runs(pid(tmp_path, "grandchild"))


@needs_linux
def test_a_signal_to_the_watchdog_stops_the_server(tmp_path: Path) -> None:
    process = start(tmp_path, "obedient")
    server = pid(tmp_path, "server")
    process.send_signal(signal.SIGTERM)
    process.wait(WATCHDOG_SECONDS)
    assert not runs(server)
    assert not runs(pid(tmp_path, "grandchild"))


def test_a_signal_that_ends_the_server_is_its_exit_code(tmp_path: Path) -> None:
    process = start(tmp_path, "obedient")
    os.kill(pid(tmp_path, "server"), signal.SIGSEGV)
    assert process.wait(WATCHDOG_SECONDS) == 128 + signal.SIGSEGV


@needs_linux
def test_a_process_whose_first_thread_has_ended_is_ended_too(tmp_path: Path) -> None:
    """Linux shows it as a zombie, although its other threads run."""
    program = """
        import ctypes, os, pathlib, sys, threading, time
        if not os.fork():
            os.setsid()
            threading.Thread(target=time.sleep, args=(600,)).start()
            def note():
                while ") Z " not in pathlib.Path("/proc/self/stat").read_text():
                    time.sleep(0.01)
                pathlib.Path(sys.argv[1], "tmp").write_text(str(os.getpid()))
                pathlib.Path(sys.argv[1], "tmp").rename(pathlib.Path(sys.argv[1], "headless"))
            threading.Thread(target=note).start()
            ctypes.CDLL(None).pthread_exit(None)
        time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    process = subprocess.Popen(watched(command, grace=0), stdin=subprocess.PIPE)
    headless = pid(tmp_path, "headless")
    assert process.stdin
    process.stdin.close()
    assert process.wait(WATCHDOG_SECONDS) == 128 + signal.SIGKILL
    assert not psutil.pid_exists(headless)


def test_a_command_that_does_not_exist_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert subprocess.run(watched(["no-such-server"]), stdin=subprocess.PIPE).returncode == 127
    assert "no-such-server: No such file or directory" in capfd.readouterr().err


@needs_linux
@pytest.mark.parametrize("killed", ["outer", "inner"])
def test_a_watchdog_that_is_killed_ends_everything(tmp_path: Path, killed: str) -> None:
    process = start(tmp_path, "stubborn")
    server, grandchild = pid(tmp_path, "server"), pid(tmp_path, "grandchild")
    inner = psutil.Process(server).ppid()
    assert psutil.Process(inner).ppid() == process.pid
    os.kill(process.pid if killed == "outer" else inner, signal.SIGKILL)
    for number in (inner, server, grandchild):
        wait_until(lambda number=number: not runs(number), "all are gone")  # type: ignore[misc]
    process.wait(WATCHDOG_SECONDS)


def test_each_process_has_a_limit_of_processor_time() -> None:
    command = [sys.executable, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[1])"]
    with subprocess.Popen(watched(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert 0 < int(process.stdout.readline()) < 2**40
