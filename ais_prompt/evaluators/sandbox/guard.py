"""Confines its own process, then runs a program in it. It is run as a file, not imported.

Input: one JSON object with ``program``, ``filter`` (hexadecimal, from `ais_prompt.evaluators.sandbox.seccomp`),
``seconds`` and ``bytes``. Output: one word, an `Outcome`, or ``unconfined`` and why; nothing if the process was ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import types
from typing import Any

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
SECCOMP_MODE_FILTER = 2
LINUX_CAPABILITY_VERSION_3 = 0x20080522


class SockFprog(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def main() -> None:
    """Read the task, run it, and write its outcome."""
    task = json.load(sys.stdin)
    reply = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    try:
        limit(task["seconds"], task["bytes"])
        confine(bytes.fromhex(task["filter"]))
    except OSError as error:
        os.write(reply, f"unconfined {error}".encode())
        return
    os.write(reply, run(task["program"]).encode())
    os._exit(0)  # threads of the program may still be at work


def limit(seconds: int, size: int) -> None:
    """Limit processor time, memory and files, and end with the process that started this one."""
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def confine(instructions: bytes) -> None:
    """Give up all privileges, and put the filter on.

    Raises:
        OSError: the kernel refuses.
    """
    header = (ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = SockFprog(len(instructions) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


def prctl(option: int, *arguments: Any) -> None:
    """prctl(2).

    Raises:
        OSError: it failed.
    """
    values = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    padding = [ctypes.c_ulong(0)] * (4 - len(values))
    if ctypes.CDLL(None, use_errno=True).prctl(option, *values, *padding) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def run(program: str) -> str:
    """Run a program as a module of its own; ``passed`` if it comes to its end."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    try:
        exec(compile(program, "solution.py", "exec"), module.__dict__)
    except MemoryError:
        return "memory"
    except BaseException:  # SystemExit too: a program that ends early has not come to its end
        return "failed"
    return "passed"


if __name__ == "__main__":
    main()
