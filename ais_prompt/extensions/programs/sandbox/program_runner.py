"""Run a program in a sandbox: with its tests, for a verdict; or alone, for the text of its value.

`find_isolation` finds the strongest isolation that works on this machine, and refuses to go below the least that is
accepted.
"""

from __future__ import annotations

import json
import math
import os
import platform
import select
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from msgspec import Struct

from ais_prompt.errors import ConfigError, ModelError, SandboxError
from ais_prompt.extensions.programs.sandbox.bubblewrap import DISK_BYTES, executables
from ais_prompt.extensions.programs.sandbox.inside.confine import landlock_version
from ais_prompt.extensions.programs.sandbox.launch import Guard, Isolation, end_spares, prepare, started, taken
from ais_prompt.extensions.programs.sandbox.seccomp import is_supported
from ais_prompt.processes import hidden
from ais_prompt.utils import install_command

Outcome: TypeAlias = Literal["passed", "assertion", "exception", "syntax", "exited", "timeout", "memory", "forbidden"]
"""Why a program failed: a test did not hold; it raised; it is no Python; it ended early or crashed; it took too long or
too much memory; the sandbox refused what it tried to do."""

_LONGEST_VERDICT: Final = 4096
_LONGEST_TEXT: Final = 4096
"""Most characters of the text of a program that is evaluated."""
_LONGEST_LINE: Final = 2 * 4 * _LONGEST_TEXT
"""Most bytes of that text, in UTF-8 and hexadecimal: a pipe holds them, so its writer does not wait."""
_START_SECONDS: Final = 30.0
"""Most time for the start of the sandbox."""
_VERDICT_SECONDS: Final = 5.0
"""Most time for the verdict, beyond the program's own. A guard that takes longer is ended."""
_PROCESSES: Final = 64
_FILES: Final = 128
_NPROC_PER_NAMESPACE: Final = (5, 14)
"""The first Linux that counts the processes of a user in each user namespace; before, limits hit all of them."""

_COMMAND_FIX: Final = "sandbox='podman run --rm -i --network none IMAGE'"
_TRIAL_SECONDS: Final = 60.0
_TRIAL_MEGABYTES: Final = 512


class CheckedProgram(Struct, frozen=True):
    """A program and its tests.

    Attributes:
        program: the source text from a model.
        tests: names to take from the program, and statements that use them and raise if the program is wrong; one part
            after the other, in one namespace that is not the program's.
        prelude: statements that the program may build on; those that fail alone are skipped.
    """

    program: str
    tests: Sequence[tuple[Sequence[str], str]] = ()
    prelude: str = ""


Task = CheckedProgram  # its first name, which scripts import
_TRIAL: Final = CheckedProgram(
    "import tempfile\ndef double(x):\n    return 2 * x\n", [(["double"], "assert double(2) == 4")]
)


def run_program(task: CheckedProgram, isolation: Isolation, seconds: float, megabytes: int) -> Outcome:
    """Run a program and its tests, and return how that ended.

    Args:
        task: what is run.
        isolation: from `find_isolation`.
        seconds: most time, as the clock shows it.
        megabytes: most memory, in MiB, of each process and of all together.

    Raises:
        SandboxError: the sandbox does not start.
    """
    values = {"program": task.program, "prelude": task.prelude}
    return _outcome(_lines(taken, (values, task.tests), isolation, seconds, megabytes))


class Evaluation(Struct, frozen=True):
    """What a program without tests returned. It is the program's own claim, and no verdict.

    Attributes:
        outcome: ``passed`` if there is a value; else as for programs with tests.
        text: the value as a text; the ``repr`` of the error for ``exception``; empty for all others.
    """

    outcome: Outcome
    text: str = ""


def evaluate_program(program: str, expression: str, isolation: Isolation, seconds: float, megabytes: int) -> Evaluation:
    """Run a program, compute an expression in its namespace, and return the value as a text.

    Args:
        program: the source text from a model.
        expression: such as ``solution()``.
        isolation, seconds, megabytes: as in `run_program`.

    Raises:
        SandboxError: the sandbox does not start.
    """
    values = {"program": "", "prelude": ""}  # `evaluate` runs it, for the text of its errors
    asked = {"source": program, "expression": expression, "longest": _LONGEST_TEXT}
    lines = _lines(started, (values, asked), isolation, seconds, megabytes)
    text = lines[1].partition(" ")[2] if lines[1:] else ""
    return Evaluation(_outcome(lines), bytes.fromhex(text).decode(errors="replace"))


_Start: TypeAlias = Callable[[Isolation], AbstractContextManager[Guard]]


def _outcome(lines: Sequence[str]) -> Outcome:
    outcome = lines[1].partition(" ")[0] if lines[1:] else ""
    if outcome in get_args(Outcome):
        return cast(Outcome, outcome)
    return "timeout" if outcome == "late" else "memory"  # the machine ran out of it, and the kernel chose the guard


def _lines(
    start: _Start, messages: tuple[dict[str, Any], Any], isolation: Isolation, seconds: float, megabytes: int
) -> list[str]:
    """Return the lines of a guard that does a task, the first of which is ``confined``.

    Args:
        start: starts the guard, or takes one that has started.
        messages: the task, without its limits, and the tests.
        isolation, seconds, megabytes: as in `run_program`.

    Raises:
        SandboxError: the sandbox does not start.
    """
    try:
        with hidden(), start(isolation) as guard:
            _send_task(guard, messages, isolation, seconds, megabytes)
            if start is taken:
                with suppress(OSError, ValueError):  # the next program will meet it again
                    prepare(isolation)
            lines = _read_lines(guard.process, seconds)
            if lines[:1] != ["confined"]:
                guard.errors.seek(0)
                said = guard.errors.read(_LONGEST_VERDICT).decode(errors="replace").strip().splitlines()
                raise OSError(" ".join(lines) or (said or ["it ended without a word"])[-1])
    except (OSError, ValueError) as error:
        raise SandboxError(
            f"the sandbox ({isolation.name}) does not start: {error}",
            fix="read docs/sandbox.md; nothing was run",
        ) from error
    return lines


def _send_task(
    guard: Guard, messages: tuple[dict[str, Any], Any], isolation: Isolation, seconds: float, megabytes: int
) -> None:
    """Send a task with its limits, as setrlimit(2) names them, and the tests."""
    stream = guard.process.stdin
    assert stream is not None
    size = megabytes * 2**20
    # Of one process, all its threads together; the clock comes first for a single thread.
    processor_seconds = math.ceil(seconds) + 2
    limits = {
        "CPU": processor_seconds,
        "AS": size,
        "CORE": 0,
        "FSIZE": DISK_BYTES if isolation.method != "landlock" else 0,
        "NOFILE": _FILES,
        "MSGQUEUE": 0,
        "MEMLOCK": 2**16,
    }
    if isolation.method in ("bubblewrap", "command") and _linux_version() >= _NPROC_PER_NAMESPACE:
        limits["NPROC"] = _PROCESSES
    task = {
        **messages[0],
        "seconds": seconds,
        "bytes": size,
        "guard_limits": {"AS": size, "CORE": 0, "CPU": processor_seconds},
        "program_limits": limits,
        **guard.confinement,
    }
    with suppress(BrokenPipeError):
        for message in (task, messages[1]):
            data = json.dumps(message).encode()
            stream.write(len(data).to_bytes(4, "big") + data)
            stream.flush()


def _linux_version() -> tuple[int, ...]:
    return tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())


def _read_lines(process: subprocess.Popen[bytes], seconds: float) -> list[str]:
    """Read the lines of the guard until it ends; the program's time begins with the first line.

    Returns:
        The lines; ``late`` takes the place of an outcome.
    """
    assert process.stdout is not None
    answer = b""
    deadline = time.monotonic() + _START_SECONDS
    while len(answer) <= _LONGEST_VERDICT + _LONGEST_LINE:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return [*answer.decode(errors="replace").splitlines(), "late"]
        part = os.read(process.stdout.fileno(), _LONGEST_VERDICT)
        if not part:
            break
        if not answer:
            deadline = time.monotonic() + seconds + _VERDICT_SECONDS
        answer += part
    return answer.decode(errors="replace").splitlines()


def find_isolation(sandbox: str | None = None, *, unsafe: bool = False) -> Isolation:
    """Return the strongest isolation that works here. A small program is run to find out.

    Args:
        sandbox: ``bubblewrap`` or ``landlock`` to accept nothing else, or a command that is put before the command line
            of the interpreter; by default bubblewrap, or Landlock where that does not work.
        unsafe: whether programs may be run with no isolation if none works.

    Raises:
        ConfigError: ``sandbox`` is no command line.
        ModelError: no isolation works.
    """
    if sandbox is not None and sandbox not in ("bubblewrap", "landlock"):
        return _command(sandbox)
    reasons = []
    for isolation in _candidates(sandbox):
        if not (reason := _reason_against(isolation)):
            return isolation
        reasons.append(f"{isolation.name}: {reason}")
    if unsafe and sandbox is None:
        return Isolation("none")
    why = "; ".join(reasons) or f"it needs bubblewrap, or Linux with Landlock, not {platform.system()} here"
    fix = (
        f"install bubblewrap (`{install_command('sandbox')}`, or your system's package), or give the evaluator "
        f"{_COMMAND_FIX}; --allow-code-execution=unsafe does without"
    )
    raise ModelError(f"programs cannot be kept apart from this machine ({why})", fix=fix)


def allowed_isolation(part: str, allowed: bool | Literal["unsafe"], sandbox: str | None) -> Isolation:
    """Return the isolation for a part that runs programs, as `find_isolation` does.

    Args:
        part: its name, for errors.
        allowed: whether the user allows to run programs; ``unsafe``: with no isolation if none works.
        sandbox: as in `find_isolation`.

    Raises:
        ConfigError: running programs was not allowed; or as `find_isolation`.
        ModelError: no isolation works.
    """
    if not allowed:
        raise ConfigError(
            f"{part} runs programs that a model wrote, which was not allowed",
            fix="read docs/sandbox.md, then add --allow-code-execution",
        )
    return find_isolation(sandbox, unsafe=allowed == "unsafe")


def _candidates(sandbox: str | None) -> Iterator[Isolation]:
    if platform.system() != "Linux" or not is_supported(platform.machine()):
        return
    if sandbox != "landlock":
        yield from (Isolation("bubblewrap", (path,)) for path in executables())
    if sandbox != "bubblewrap" and landlock_version():
        yield Isolation("landlock")


def _command(sandbox: str) -> Isolation:
    try:
        command = tuple(shlex.split(sandbox))
    except ValueError as error:
        raise ConfigError(f"sandbox={sandbox!r} is no command line: {error}", fix=_COMMAND_FIX) from error
    if not command:
        raise ConfigError("sandbox='' names no command", fix=_COMMAND_FIX)
    isolation = Isolation("command", command)
    if reason := _reason_against(isolation):
        shown = isolation.name
        fix = f"try it: {shown} python3 -c 'print(1)'; it needs Python 3.11 or newer, and passes standard input on"
        raise ModelError(f"no program runs behind `{shown}`: {reason}", fix=fix)
    return isolation


@cache
def _reason_against(isolation: Isolation) -> str:
    """Why an isolation does not work here; empty if it does."""
    try:
        outcome = run_program(_TRIAL, isolation, _TRIAL_SECONDS, _TRIAL_MEGABYTES)
    except SandboxError as error:
        return error.what
    finally:
        end_spares()  # it may be long until there is a program to run
    return "" if outcome == "passed" else f"a program that is right was said to be wrong ({outcome})"
