"""Starts a program in its confined process, waits for it, and clears up behind it."""

from __future__ import annotations

import json
import math
import os
import platform
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from ais_prompt.errors import ModelError
from ais_prompt.evaluators.sandbox.seccomp import build_filter, is_supported

Outcome: TypeAlias = Literal["passed", "failed", "timeout", "memory", "forbidden"]
"""``failed`` if it raised, ended early or crashed; ``forbidden`` if it was ended because of what it tried to do."""

GUARD: Final = Path(__file__).with_name("guard.py")
_LONGEST_REPLY: Final = 200
_ENDINGS: Final[dict[int, Outcome]] = {
    -signal.SIGXCPU: "timeout",
    -signal.SIGXFSZ: "forbidden",
    -signal.SIGKILL: "memory",  # by the kernel, when the machine has none left
    -signal.SIGSYS: "forbidden",
}


def check_sandbox() -> None:
    """See whether programs can be confined here.

    Raises:
        ModelError: they cannot; nothing is run then.
    """
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or not is_supported(machine):
        raise ModelError(
            f"programs can be confined on Linux with x86-64 or ARM64 only, not on {system} with {machine}",
            fix="score there, for example in a container: `aisprompt score RUN --allow-code-execution`",
        )


def run_program(program: str, seconds: float, megabytes: int) -> Outcome:
    """Run a Python program, confined, and tell how it ended.

    Args:
        program: the source text.
        seconds: most time, as the clock shows it.
        megabytes: most address space, in MiB.

    Raises:
        ModelError: it cannot be confined.
    """
    check_sandbox()
    task = {
        # A program that only sleeps takes no processor time, and one that computes takes no more than the clock shows.
        "seconds": math.ceil(seconds) + 1,
        "bytes": megabytes * 2**20,
        "filter": _filter(),
        "program": program,
    }
    with tempfile.TemporaryDirectory(prefix="aisprompt-") as home, tempfile.TemporaryFile() as stream:
        stream.write(json.dumps(task).encode())
        stream.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-B", str(GUARD)],
            stdin=stream,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=_environment(home),
            start_new_session=True,
        )
        return _outcome(process, seconds)


@cache
def _filter() -> str:
    return build_filter(platform.machine()).hex()


def _environment(home: str) -> dict[str, str]:
    return {
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",  # the same outcome every time
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _outcome(process: subprocess.Popen[bytes], seconds: float) -> Outcome:
    """How a process ends; it does so at the latest when this returns."""
    deadline = time.monotonic() + seconds
    try:
        reply = _read_reply(process, deadline)
        ending = process.wait(max(deadline - time.monotonic(), 0.01))
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]  # it is a pipe
    if reply.startswith("unconfined"):
        raise ModelError(
            f"the kernel does not let programs be confined: {reply.partition(' ')[2]}",
            fix="score where seccomp filters are allowed; nothing was run",
        )
    if ending == 0 and reply in get_args(Outcome):
        return cast(Outcome, reply)
    return _ENDINGS.get(ending, "failed")


def _read_reply(process: subprocess.Popen[bytes], deadline: float) -> str:
    """What the process writes until it closes its output; a program that writes without end is not listened to.

    Raises:
        TimeoutExpired: it goes on after the deadline.
    """
    assert process.stdout is not None
    reply = b""
    while len(reply) <= _LONGEST_REPLY:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            raise subprocess.TimeoutExpired(process.args, 0)
        part = os.read(process.stdout.fileno(), _LONGEST_REPLY)
        if not part:
            break
        reply += part
    return reply.decode(errors="replace")
