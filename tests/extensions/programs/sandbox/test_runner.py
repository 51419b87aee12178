"""What programs can do and how they fail, tried on the real kernel."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from ais_prompt.errors import ConfigError, ModelError, SandboxError
from ais_prompt.extensions.programs.sandbox import (
    CheckedProgram,
    Isolation,
    end_spares,
    find_isolation,
    launch,
    program_runner,
    run_program,
)
from ais_prompt.utils import install_command

pytestmark = pytest.mark.process


# Each of these says that all went well by `result = True`, which its test asks for.
EVERYWHERE = {
    "compute": "result = sum(range(10)) == 45",
    "print": "print('x' * 10**6)\nresult = True",
    "threads": "import threading\ndone = []\nt = threading.Thread(target=lambda: done.append(1))\nt.start()\n"
    "t.join()\n"
    "result = done == [1]",
    "a thread that goes on": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    "result = True",
    "asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return True\n"
    "result = asyncio.run(f())",
    "a dataclass": "from __future__ import annotations\nfrom dataclasses import *\n@dataclass\nclass A:\n"
    "    x: int = 1\n"
    "result = A() == A(1)",
    "a library with threads": "import numpy\nresult = numpy.ones((50, 50)).dot(numpy.ones(50)).sum() == 2500",
    "recursion": "def f(n):\n    return n and 1 + f(n - 1)\nresult = f(900) == 900",
    "more recursion": "import sys\nsys.setrecursionlimit(20000)\ndef f(n):\n    return n and 1 + f(n - 1)\n"
    "result = f(9000) > 1",
    "not the main program": "result = __name__ != '__main__'",
    "no input": "import sys\nresult = sys.stdin.read() == ''",
    "an empty environment": "import os\nresult = 'AIS_TEST_SECRET' not in os.environ and len(os.environ) < 12",
    "random numbers": "import os, random, secrets\nresult = len(os.urandom(8)) == 8 and secrets.randbelow(5) < 5",
    "an alarm": "import signal, time\nhit = []\nsignal.signal(signal.SIGALRM, lambda *a: hit.append(1))\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.01)\ntime.sleep(0.1)\nresult = hit == [1]",
}
IN_NAMESPACES = {
    "tempfile": "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as s:\n    s.write('x')\n    s.seek(0)\n    "
    "result = s.read() == 'x'",
    "folders": "import os, shutil, tempfile\nd = tempfile.mkdtemp()\nopen(d + '/a', 'w').close()\n"
    "shutil.copytree(d, d + '2')\n"
    "result = os.listdir(d + '2') == ['a']\nshutil.rmtree(d)",
    "sqlite": "import sqlite3\nc = sqlite3.connect('x.db')\nc.execute('create table t(x)')\nc.commit()\nresult = True",
    "subprocess": "import subprocess, sys\nresult = subprocess.run([sys.executable, '-c', 'print(6 * 7)'], "
    "capture_output=True).stdout == b'42\\n'",
    "a shell": "import subprocess\nresult = subprocess.check_output('echo hi | tr a-z A-Z', shell=True) == b'HI\\n'",
    "asyncio subprocess": "import asyncio, sys\nasync def f():\n"
    "    p = await asyncio.create_subprocess_exec(sys.executable, "
    "'-c', 'print(1)', stdout=-1)\n    return (await p.communicate())[0]\nresult = asyncio.run(f()) == b'1\\n'",
    "multiprocessing": "import multiprocessing as m\ndef f(x):\n    return x * x\nwith m.Pool(2) as p:\n    "
    "result = p.map(f, [1, 2, 3]) == [1, 4, 9]",
    "spawned processes": "import multiprocessing as m\ndef f(x):\n    return x * x\n"
    "if True:\n    with m.get_context('spawn').Pool(1) as p:\n        result = p.map(abs, [-1]) == [1]",
    "a queue and a lock": "import multiprocessing as m\nq, l = m.Queue(), m.Lock()\ndef f():\n    with l:\n"
    "        q.put(7)\n"
    "p = m.Process(target=f)\np.start()\nresult = q.get() == 7\np.join()",
    "a manager": "import multiprocessing as m\nwith m.Manager() as manager:\n    d = manager.dict()\n"
    "    d[1] = 2\n    "
    "result = dict(d) == {1: 2}",
    "executors": "from concurrent.futures import *\ndef f(x):\n    return x + 1\nwith ProcessPoolExecutor(2) as a, "
    "ThreadPoolExecutor(2) as b:\n    result = list(a.map(f, [1])) == list(b.map(f, [1])) == [2]",
    "shared memory": "from multiprocessing.shared_memory import SharedMemory\ns = SharedMemory(create=True, size=9)\n"
    "s.buf[0] = 7\nresult = s.buf[0] == 7\ns.close()\ns.unlink()",
    "its own source": "import inspect\ndef f():\n    pass\nresult = 'pass' in inspect.getsource(f)",
    "its own processes": "import os, signal, time\np = os.fork()\nif not p:\n    time.sleep(60)\n"
    "os.kill(p, signal.SIGKILL)\n"
    "result = os.waitpid(p, 0)[1] == signal.SIGKILL",
}
FAILING = {
    "a failed assertion of its own": ("assert False", "exception"),
    "no Python": ("def f(:", "syntax"),
    "nesting": ("(" * 100_000, "syntax"),
    "a lone surrogate": ("x = '\ud800'", "syntax"),
    "a null byte": ("x = '\0'", "syntax"),
    "an early end": ("import sys; sys.exit(0)", "exited"),
    "an end behind Python's back": ("import os; os._exit(0)", "exited"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "exited"),
    "endless recursion": ("def f(): return f()\nf()", "exception"),
    "wanting input": ("input()", "exception"),
    "wanting higher limits": ("import resource as r; r.setrlimit(r.RLIMIT_AS, (2**40, 2**40))", "exception"),
    "a long list": ("x = [0] * 10**10", "memory"),
    "longer and longer": ("x = []\nwhile True:\n    x.append('x' * 10**6)", "memory"),
    "a wrong result": ("result = False", "assertion"),
    "no result": ("pass", "exception"),
}
ENDLESS = {
    "a loop": "while True:\n    pass",
    "sleep": "import time\ntime.sleep(60)",
    "a loop in C": "sum(range(10**12))",
    "deaf to signals": "import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\nwhile True: time.sleep(1)",
    "a stand-in without end": "class A:\n    def __iter__(self): return self\n    def __next__(self): return 0\n"
    "result = A()",
}


def outcome(program: str, isolation: Isolation, seconds: float = 60, megabytes: int = 1024) -> str:
    return run_program(CheckedProgram(program, [(["result"], "assert result is True")]), isolation, seconds, megabytes)


@pytest.mark.parametrize("program", EVERYWHERE.values(), ids=EVERYWHERE)
def test_what_programs_do_everywhere(program: str, isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIS_TEST_SECRET", "secret")
    assert outcome(program, isolation) == "passed"


@pytest.mark.parametrize("program", IN_NAMESPACES.values(), ids=IN_NAMESPACES)
def test_what_programs_do_in_namespaces(program: str, bubblewrap: Isolation) -> None:
    assert outcome(program, bubblewrap) == "passed"


@pytest.mark.parametrize(("program", "reason"), FAILING.values(), ids=FAILING)
def test_wrong_programs_fail_for_their_own_reason(program: str, reason: str, isolation: Isolation) -> None:
    assert outcome(program, isolation, megabytes=256) == reason


@pytest.mark.grid(len(ENDLESS))
@pytest.mark.parametrize("program", ENDLESS.values(), ids=ENDLESS)
def test_time_is_limited(program: str, isolation: Isolation) -> None:
    tests = [(["result"], "assert list(result) == []")]
    assert run_program(CheckedProgram(program, tests), isolation, 1, 1024) == "timeout"


def forge(reply: str) -> str:
    """A program whose function `f` writes a reply of its own to every pipe, and then waits."""
    return f"""
import json, os, stat, time
def f():
    data = {reply}
    data = len(data).to_bytes(4, 'big') + data
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode): os.write(fd, data)
        except OSError: pass
    time.sleep(60)
"""


COLLIDING = "json.dumps(['value', ['set', [['int', hex(n * (2**61 - 1))] for n in range(10**6, 2 * 10**6)]]]).encode()"
HOLDING = {
    "one call of C": ("f = range", "sum(f(10**13))"),
    "a power": ("f = int", "f(10) ** f(10**9)"),
    "a search": ("f = range", "-1 in iter(f(10**13))"),
    "a regular expression": ("def f(): return '(a+)+b', 'a' * 50", "import re\nre.match(*f())"),
    "an exponent": ("import decimal\ndef f(): return decimal.Decimal('1e999999999')", "int(f())"),
    "values that collide": (forge(COLLIDING), "f()"),
    "nothing": ("f = int", "import time\ntime.sleep(f(60))"),
}
"""What keeps the process of the tests busy, most of it where no other thread of an interpreter runs."""


@pytest.mark.grid(len(HOLDING))
@pytest.mark.parametrize(("program", "tests"), HOLDING.values(), ids=HOLDING)
def test_nothing_keeps_the_guard_from_its_watch(
    program: str, tests: str, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    read_lines = program_runner._read_lines

    def listen(process: subprocess.Popen[bytes], seconds: float) -> list[str]:
        said.extend(read_lines(process, seconds))
        return said

    monkeypatch.setattr(program_runner, "_read_lines", listen)
    assert run_program(CheckedProgram(program, [(["f"], tests)]), isolation, 1, 1024) == "timeout"
    assert said == ["confined", "timeout"]  # by the guard itself; the run says "late"


FORGED = {
    "a fraction": """b'["value", ["text", ["fractions", "Fraction", "1e300000000"]]]'""",
    "digits": """b'["value", ' + b'9' * 10**7 + b']'""",
    "nesting": "b'[' * 10**7",
    "nested values": """b'["value", ' + b'["list", [' * 10**6 + b']]' * 10**6 + b']'""",
    "an exponent": """b'["value", 1e999999999]'""",
    "a length without a message": "b''",
}


@pytest.mark.grid(len(FORGED))
@pytest.mark.parametrize("reply", FORGED.values(), ids=FORGED)
def test_a_forged_reply_ends_its_program(reply: str, isolation: Isolation) -> None:
    tests = [(["f"], "assert f() == 1")]
    assert run_program(CheckedProgram(forge(reply), tests), isolation, 60, 1024) in ("assertion", "exited")


def test_a_guard_that_gives_no_verdict_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_runner, "_VERDICT_SECONDS", 0.5)
    silent = Isolation("command", ("sh", "-c", "echo confined; exec sleep 20"))
    assert run_program(CheckedProgram("", []), silent, 0.5, 64) == "timeout"  # at its own end it would be "memory"


def test_every_process_has_a_limit_of_processor_time(bubblewrap: Isolation) -> None:
    own = "import resource\nsoft, hard = resource.getrlimit(resource.RLIMIT_CPU)\n"
    tests = f"{own}assert 0 < soft < hard < 70 and program == (soft, hard)\n"
    tests += "guard = next(line for line in open('/proc/1/limits') if 'cpu time' in line)\n"
    tests += "assert guard.split()[3:5] == [str(soft), str(hard)]"
    assert (
        run_program(CheckedProgram(f"{own}program = soft, hard", [(["program"], tests)]), bubblewrap, 60, 512)
        == "passed"
    )


def test_processor_time_of_all_threads_is_limited(isolation: Isolation) -> None:
    program = "import hashlib, threading\ndata = bytes(10**7)\nfor _ in range(4):\n"
    program += "    threading.Thread(target=lambda: [hashlib.sha256(data) for _ in range(10**5)]).start()\n"
    assert outcome(f"{program}import time; time.sleep(60)", isolation, 1) == "timeout"


EARLY_ENDS = {"os._exit(0)": "exited", "ctypes.string_at(0)": "exited", "bytes(10**11)": "memory"}


@pytest.mark.parametrize(("end", "reason"), EARLY_ENDS.items())
def test_tests_that_end_early_are_not_passed(end: str, reason: str, isolation: Isolation) -> None:
    tests: list[tuple[list[str], str]] = [([], f"import ctypes, os\n{end}")]
    assert run_program(CheckedProgram("", tests), isolation, 60, 512) == reason


@pytest.mark.parametrize("sent", ["SIGKILL", "SIGSTOP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGXCPU"])
def test_signals_to_all_processes_are_no_verdict(sent: str, bubblewrap: Isolation) -> None:
    program = f"""
import os, signal
def f():
    for pid in range(1, 99):
        try:
            if pid != os.getpid(): os.kill(pid, signal.{sent})
        except OSError: pass
    return 3
"""
    assert run_program(CheckedProgram(program, [(["f"], "assert f() == 4")]), bubblewrap, 3, 512) != "passed"


def named(name: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["name"]) if process.info["name"] == name]


@pytest.mark.parametrize("end", ["while True: time.sleep(1)", "result = True", "result = False", "os._exit(0)"])
def test_no_process_is_left_behind(end: str, isolation: Isolation) -> None:
    name = f"left{uuid.uuid4().hex[:8]}"
    program = f"import ctypes, os, threading, time\nctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n"
    program += f"threading.Thread(target=time.sleep, args=(300,)).start()\n{end}"
    outcome(program, isolation, 1)
    assert named(name) == []


def test_no_process_of_the_tests_is_left_behind(isolation: Isolation) -> None:
    name = f"left{uuid.uuid4().hex[:8]}"
    tests = f"import ctypes\nctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\nsum(range(10**13))"
    assert run_program(CheckedProgram("", [([], tests)]), isolation, 1, 512) == "timeout"
    assert named(name) == []


def test_nothing_is_left_behind(isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    end_spares()
    before = psutil.Process().children()  # other tests leave some, such as servers
    open_files = psutil.Process().num_fds()
    assert outcome("import time\ntime.sleep(60)", isolation, 0.5) == "timeout"
    end_spares()
    assert list(tmp_path.iterdir()) == []
    assert set(psutil.Process().children()) <= set(before)
    assert psutil.Process().num_fds() == open_files


def test_a_user_may_bring_a_sandbox(bubblewrap: Isolation) -> None:
    command = f"{bubblewrap.command[0]} --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --chdir /tmp"
    found = find_isolation(command)
    assert found.name == command
    assert outcome("result = __import__('os').listdir('.') == ['solution.py']", found) == "passed"
    assert outcome("import sys; sys.exit(0)", found) == "exited"
    assert outcome("while True: pass", found, 1) == "timeout"


@pytest.mark.parametrize("command", ["no-such-command --flag", "true"])
def test_a_sandbox_that_runs_nothing_is_refused(command: str) -> None:
    with pytest.raises(ModelError, match=f"no program runs behind `{command}`"):
        find_isolation(command)


@pytest.mark.parametrize("command", ["", "podman 'run"])
def test_a_sandbox_must_be_a_command_line(command: str) -> None:
    with pytest.raises(ConfigError):
        find_isolation(command)


def test_elsewhere_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(ModelError, match="not Darwin here") as caught:
        find_isolation()
    assert install_command("sandbox") in caught.value.fix
    assert find_isolation(unsafe=True).name == "none"
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "sparc64")
    with pytest.raises(ModelError):
        find_isolation()


def test_without_bubblewrap_landlock_takes_its_place(landlock: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_runner, "executables", lambda: iter(()))
    assert find_isolation() == landlock
    monkeypatch.setattr(program_runner, "executables", lambda: iter(["/bin/false"]))
    assert find_isolation() == landlock
    with pytest.raises(ModelError, match=r"bubblewrap \+ seccomp: the sandbox"):
        find_isolation("bubblewrap")


def test_without_isolation_programs_are_limited_all_the_same() -> None:
    isolation = Isolation("none")
    assert outcome("open('file', 'w').write('x')\nresult = True", isolation) == "passed"
    assert outcome("while True: pass", isolation, 1) == "timeout"
    assert outcome("x = [0] * 10**10", isolation) == "memory"
    assert outcome("import os; os._exit(0)", isolation) == "exited"


def test_a_kernel_that_takes_no_filter_runs_nothing(isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    end_spares()
    monkeypatch.setattr(launch, "build_filter", lambda *_, **__: b"\xff" * 8)  # no instruction of the kernel
    with pytest.raises(SandboxError, match="does not start"):
        outcome("result = True", isolation)


def test_a_spare_that_ended_is_replaced(isolation: Isolation) -> None:
    end_spares()
    before = set(psutil.Process().children())
    assert outcome("result = True", isolation) == "passed"
    [spare] = set(psutil.Process().children()) - before
    spare.kill()
    psutil.wait_procs([spare], 10)
    assert outcome("result = True", isolation) == "passed"


def test_spares_end_with_their_thread(isolation: Isolation) -> None:
    end_spares()
    before = set(psutil.Process().children())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(outcome, "result = True", isolation).result() == "passed"
    assert set(psutil.Process().children()) <= before
    assert outcome("result = True", isolation) == "passed"


@pytest.mark.usefixtures("visible")
def test_a_run_is_hidden_while_programs_run(isolation: Isolation) -> None:
    get_dumpable = 3
    libc = ctypes.CDLL(None)
    before = libc.prctl(get_dumpable)
    seen: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(outcome, "import time; time.sleep(60)", isolation, seconds) for seconds in (0.3, 0.8)]
        while not all(one.done() for one in running):
            seen.append(libc.prctl(get_dumpable))
            time.sleep(0.05)
    assert 0 in seen[2:]
    assert libc.prctl(get_dumpable) == before == 1
