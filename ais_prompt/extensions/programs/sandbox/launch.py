"""Start the guard in its sandbox, and end all of it.

`Isolation` says how far a program is kept apart from the machine. `started` starts a guard. `taken` takes one that was
started before: the sandbox of the next program starts while the present one runs, so that its start costs hardly any
time. Such a spare has run nothing, and is used once. It ends with the thread that started it.

What has started ends with the run at every moment, since it waits for nothing but pipes of the run, and no process of
a sandbox is killed while another one waits for it.
"""

from __future__ import annotations

import atexit
import base64
import marshal
import os
import platform
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from ais_prompt.config import shown_command
from ais_prompt.extensions.programs.sandbox import bubblewrap
from ais_prompt.extensions.programs.sandbox.bubblewrap import environment, interpreter, software
from ais_prompt.extensions.programs.sandbox.seccomp import build_filter
from ais_prompt.utils import temporary_folder

Method: TypeAlias = Literal["bubblewrap", "landlock", "command", "none"]

NAMES: Final[dict[str, str]] = {
    "bubblewrap": "bubblewrap + seccomp",
    "landlock": "landlock + seccomp",
    "none": "none",
}


class Isolation(Struct, frozen=True):
    """A way to run programs apart from the machine.

    Attributes:
        method: namespaces by bubblewrap; Landlock; whatever a command of the user does; nothing but limits.
        command: words before the command line of the interpreter.
    """

    method: Method
    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name for people: ``bubblewrap + seccomp``, ``landlock + seccomp``, ``none``, or the user's command."""
        return NAMES.get(self.method) or shown_command(self.command)


_INSIDE: Final = "ais_prompt.extensions.programs.sandbox.inside"
_MODULES: Final = ("confine", "channel", "program", "tests", "guard")  # each imports earlier ones only
_START: Final = """
import binascii, marshal, sys
for name, code in marshal.loads(binascii.a2b_base64(sys.argv[1])):
    module = sys.modules[name] = type(sys)(name)
    exec(code, module.__dict__)
module.main()
"""
_PASSED_ON: Final = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST")
"""Environment variables that a user's command may need."""
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_UNCONFINED: Final[Mapping[str, Any]] = {
    "guard_filter": "",
    "program_filter": "",
    "readable": (),
    "guard_user": None,
    "program_user": None,
    "namespaces": False,
}
"""The fields of a task that describe the sandbox, where there is nothing to confine a program."""
_PATIENCE: Final = 2.0
"""Seconds that a guard has to end by itself."""


class Guard(NamedTuple):
    """A started guard.

    Attributes:
        process: the guard, or the sandbox around it.
        confinement: the fields of a task that describe the sandbox.
        errors: a file with its standard error until it was confined.
    """

    process: subprocess.Popen[bytes]
    confinement: Mapping[str, Any]
    errors: IO[bytes]


@contextmanager
def started(isolation: Isolation) -> Iterator[Guard]:
    """Start a guard; at the end of the block it and all that it started are gone.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    with ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        if isolation.method == "bubblewrap":
            process = _in_namespaces(isolation, stack, errors)
            own = {"guard_user": bubblewrap.GUARD_USER, "program_user": bubblewrap.PROGRAM_USER}
            users = own if bubblewrap.is_root() else {}
            yield Guard(process, {**_UNCONFINED, **users, "namespaces": True}, errors)
        elif isolation.method == "command":
            variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            command = [*isolation.command, "python3", *_guard(compiled=False)]
            yield Guard(_popen(command, "/", variables, stack, errors), _UNCONFINED, errors)
        elif isolation.method == "landlock":
            home = "/"  # nothing can be written anywhere
            process = _popen([interpreter(), "-S", *_guard()], home, environment(home), stack, errors)
            program_filter = build_filter(platform.machine(), namespaces=False)
            # The guard must be able to end the program, as no PID namespace does.
            guard_filter = build_filter(platform.machine(), namespaces=False, also=["kill"])
            filters = {"guard_filter": guard_filter.hex(), "program_filter": program_filter.hex()}
            yield Guard(process, {**_UNCONFINED, **filters, "readable": [*software(), *_DEVICES]}, errors)
        else:
            home = stack.enter_context(temporary_folder())
            process = _popen([interpreter(), "-S", *_guard()], home, environment(home), stack, errors)
            yield Guard(process, _UNCONFINED, errors)


def _in_namespaces(isolation: Isolation, stack: ExitStack, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    filter_read, filter_write = _pipe(stack)
    filter_write.write(build_filter(platform.machine(), namespaces=True))  # less than a pipe holds
    filter_write.close()
    info_read, info_write = _pipe(stack)
    block_read, block_write = _pipe(stack)
    used = [stream.fileno() for stream in (filter_read, info_write, block_read)]
    command = [*isolation.command, *bubblewrap.arguments(*used), interpreter(), "-S", *_guard()]
    # With a reader of its own, bubblewrap can say its number after the run has ended; else it would end halfway.
    process = _popen(command, "/", {}, stack, errors, [*used, info_read.fileno()])
    info_write.close()
    bubblewrap.map_users(info_read.fileno(), block_write.fileno())
    return process


def _popen(
    command: Sequence[str],
    folder: str,
    variables: Mapping[str, str],
    stack: ExitStack,
    errors: IO[bytes],
    passed: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=folder,
        env=variables,
        pass_fds=passed,
        start_new_session=True,
    )
    stack.callback(_end, process)
    return process


def _pipe(stack: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    read_end, write_end = os.pipe()
    return stack.enter_context(os.fdopen(read_end, "rb", 0)), stack.enter_context(os.fdopen(write_end, "wb", 0))


def _guard(*, compiled: bool = True) -> list[str]:
    """Arguments of the interpreter. The guard brings its code along: nothing of this package is in the sandbox."""
    return ["-s", "-P", "-B", "-c", _START, _code(compiled=compiled)]


@cache
def _code(*, compiled: bool) -> str:
    """The modules of the guard, compiled for this interpreter, or as sources for any other.

    They are in base64, since Linux takes 128 KiB in one argument at most.
    """
    folder = Path(__file__).with_name("inside")
    sources = [(f"{_INSIDE}.{name}", (folder / f"{name}.py").read_text("utf-8")) for name in _MODULES]
    code = [(name, compile(source, name, "exec") if compiled else source) for name, source in sources]
    return base64.b64encode(marshal.dumps(code, 4)).decode()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a guard. It does so itself when its input ends, also where it cannot be killed, as in a container."""
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        with suppress(BrokenPipeError):
            stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Waiting(dict[Isolation, tuple[Guard, ExitStack]]):
    """One guard of each isolation, with the stack that ends it."""

    def __del__(self) -> None:
        self.end()

    def end(self) -> None:
        while self:
            self.popitem()[1][1].close()


class _Spares(threading.local):
    def __init__(self) -> None:
        self.waiting = _Waiting()


_spares = _Spares()


@contextmanager
def taken(isolation: Isolation) -> Iterator[Guard]:
    """Take the spare guard, or start one; at the end of the block it and all that it started are gone.

    Raises:
        OSError, ValueError: none can be started.
    """
    prepare(isolation)
    guard, stack = _spares.waiting.pop(isolation)
    with stack:
        yield guard


def prepare(isolation: Isolation) -> None:
    """Start a spare guard, if there is none that lives.

    Raises:
        OSError, ValueError: none can be started.
    """
    waiting = _spares.waiting
    if isolation in waiting and waiting[isolation][0].process.poll() is not None:
        waiting.pop(isolation)[1].close()
    if isolation not in waiting:
        with ExitStack() as stack:
            guard = stack.enter_context(started(isolation))
            waiting[isolation] = guard, stack.pop_all()


def end_spares() -> None:
    """End the spare guards of this thread. They also end with it, and with the run."""
    _spares.waiting.end()


atexit.register(end_spares)
