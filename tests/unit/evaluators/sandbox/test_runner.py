"""What a confined program can and cannot do, tried on the real kernel."""

from __future__ import annotations

import platform
import re
import time
from pathlib import Path

import psutil
import pytest

from ais_prompt.errors import ModelError
from ais_prompt.evaluators.sandbox import run_program, runner
from ais_prompt.evaluators.sandbox.runner import check_sandbox
from ais_prompt.evaluators.sandbox.seccomp import _AS_IF_UNKNOWN, _CLONE, _FORBIDDEN, _OPEN, _OPENAT, _REFUSED

linux = pytest.mark.skipif(platform.system() != "Linux", reason="programs are confined on Linux only")

HARMLESS = {
    "compute": "assert sum(range(10)) == 45",
    "print": "print('x' * 10**6)",
    "read a file": "assert 'root' in open('/etc/passwd').read()",
    "threads": "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()",
    "a thread that goes on": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()",
    "asyncio": "import asyncio\nasync def f(): return 1\nassert asyncio.run(f()) == 1",
    "a dataclass": "from __future__ import annotations\nfrom dataclasses import *\n@dataclass\nclass A:\n  x: int = 1",
    "a library with threads": "import numpy\nassert numpy.ones((50, 50)).dot(numpy.ones(50)).sum() == 2500",
    "not the main program": "assert __name__ != '__main__'",
    "no input": "import sys\nassert sys.stdin.read() == ''",
    "an empty home": "import os\nassert os.listdir() == [] and os.path.samefile(os.environ['HOME'], os.getcwd())",
    "no secrets": "import os\nassert 'AIS_TEST_SECRET' not in os.environ",
}

FAILING = {
    "a failed test": "assert False",
    "no Python": "def f(:",
    "an early end": "import sys; sys.exit(0)",
    "an end behind Python's back": "import os; os._exit(0)",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "endless recursion": "def f(): return f()\nf()",
    "nesting": "(" * 100_000,
    "a lone surrogate": "x = '\ud800'",
    "a null byte": "x = '\0'",
    "wanting input": "input()",
    "wanting more memory": "import resource as r; r.setrlimit(r.RLIMIT_AS, (2**40, 2**40))",
}

FORBIDDEN = {
    "fork": "import os\nos.fork()",
    "fork without end": "import os\nwhile True:\n    os.fork()",
    "fork and hide it": "import os\ntry:\n    os.fork()\nexcept BaseException:\n    pass",
    "fork past Python": "import ctypes\nctypes.CDLL(None).fork()",
    "a program": "import subprocess\nsubprocess.run(['true'])",
    "a shell": "import os\nos.system('true')",
    "a socket": "import socket\nsocket.socket()",
    "a local socket": "import socket\nsocket.socket(socket.AF_UNIX)",
    "an address": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')",
    "write a file here": "open('file', 'w')",
    "write a file there": "open('{outside}', 'a')",
    "write a file past Python": "import ctypes, os\nctypes.CDLL(None).open(b'{outside}', os.O_RDWR)",
    "a temporary file": "import tempfile\ntempfile.TemporaryFile()",
    "a folder": "import os\nos.mkdir('folder')",
    "delete": "import os\nos.remove('{outside}')",
    "rename": "import os\nos.rename('{outside}', 'x')",
    "rights": "import os\nos.chmod('{outside}', 0o777)",
    "a link": "import os\nos.symlink('{outside}', 'x')",
    "memory beside the limit": "import os\nos.memfd_create('x')",
    "a signal": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "a signal to all": "import os, signal\nos.killpg(0, signal.SIGKILL)",
}

MEMORY = {"a long list": "x = [0] * 10**10", "longer and longer": "x = []\nwhile True:\n    x.append('x' * 10**6)"}

ENDLESS = {
    "a loop": "while True:\n    pass",
    "sleep": "import time\ntime.sleep(60)",
    "a closed reply": "import os, time\nos.closerange(0, 100)\ntime.sleep(60)",
    "a reply without end": "import os\nwhile True:\n  for fd in range(3, 9):\n    try: os.write(fd, b'x' * 10**6)\n"
    "    except OSError: pass",
}


@linux
@pytest.mark.parametrize("program", HARMLESS.values(), ids=HARMLESS)
def test_harmless_programs_pass(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIS_TEST_SECRET", "secret")
    assert run_program(program, 30, 1024) == "passed"


@linux
@pytest.mark.parametrize("program", FAILING.values(), ids=FAILING)
def test_programs_that_do_not_come_to_their_end_fail(program: str) -> None:
    assert run_program(program, 30, 1024) == "failed"


@linux
@pytest.mark.parametrize("program", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_is_forbidden_ends_a_program(program: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("as it was")
    mode = outside.stat().st_mode
    assert run_program(program.replace("{outside}", str(outside)), 30, 1024) == "forbidden"
    assert outside.read_text() == "as it was"
    assert outside.stat().st_mode == mode
    assert [entry.name for entry in tmp_path.iterdir()] == ["outside"]


@linux
@pytest.mark.parametrize("program", MEMORY.values(), ids=MEMORY)
def test_memory_is_limited(program: str) -> None:
    assert run_program(program, 30, 256) == "memory"


@linux
@pytest.mark.parametrize("program", ENDLESS.values(), ids=ENDLESS)
def test_time_is_limited(program: str) -> None:
    begin = time.monotonic()
    assert run_program(program, 1, 1024) == "timeout"
    assert time.monotonic() - begin < 20


@linux
def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = psutil.Process().children()  # other tests leave some, such as servers
    run_program("import time\ntime.sleep(60)", 0.5, 1024)
    assert list(tmp_path.iterdir()) == []
    assert set(psutil.Process().children()) <= set(before)


def test_elsewhere_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(ModelError, match="Linux") as caught:
        run_program("pass", 1, 1024)
    assert "container" in caught.value.fix
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "sparc64")
    with pytest.raises(ModelError, match="sparc64"):
        check_sandbox()


@linux
def test_a_kernel_that_takes_no_filter_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_filter", lambda: "ff" * 8)  # no instruction of the kernel
    with pytest.raises(ModelError, match="does not let programs be confined"):
        run_program("pass", 30, 1024)


@pytest.mark.parametrize(
    ("header", "column"),
    [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1)],
)
def test_numbers_are_those_of_the_kernel(header: str, column: int) -> None:
    if not Path(header).is_file():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    numbers = {name: int(number) for name, number in found} | {"memfd_secret": 447}
    ours = {**_FORBIDDEN, **_AS_IF_UNKNOWN, **_REFUSED, "clone": _CLONE, "open": _OPEN, "openat": _OPENAT}
    assert {name: call[column] for name, call in ours.items()} == {name: numbers.get(name) for name in ours}
