"""Take rights away from a process: by rlimits, Landlock and a system call filter.

Sources: prctl(2), setrlimit(2), landlock(7), seccomp(2).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3: Final = 0x20080522
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ: Final = 1 << 0 | 1 << 2 | 1 << 3  # EXECUTE, READ_FILE, READ_DIR
_READ_FILE_ONLY: Final = 1 << 0 | 1 << 2
_FILES_BY_VERSION: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""ABI version → how many rights over files it knows."""
_NETWORK: Final = 1 << 0 | 1 << 1  # BIND_TCP, CONNECT_TCP
_SCOPES: Final = 1 << 0 | 1 << 1  # ABSTRACT_UNIX_SOCKET, SIGNAL

_libc = ctypes.CDLL(None, use_errno=True)


class SockFprog(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def limit(values: Mapping[str, int]) -> None:
    """Set resource limits for good; a lower limit that holds already is kept.

    Args:
        values: name without ``RLIMIT_`` → most, as in setrlimit(2).
    """
    for name, value in values.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # One second before the kernel kills, SIGXCPU says that it was the processor time.
        soft = most - 1 if name == "CPU" else most
        with suppress(ValueError, OSError):  # macOS knows limits that it does not let be set
            resource.setrlimit(kind, (soft, most))


def change_user(number: int) -> None:
    """Become another user for good, in the group of the same number and no others.

    Raises:
        OSError: the process is not privileged.
    """
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


def set_dumpable(value: int) -> None:
    """Let other processes of the user read this one's memory, environment and file descriptors with 1, not with 0."""
    prctl(PR_SET_DUMPABLE, value)


def end_with(parent: int) -> None:
    """End when the process that started this one ends, also if it has ended already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def drop_privileges() -> None:
    """Give up all capabilities, and the way to gain new ones by starting a program.

    Raises:
        OSError: the kernel refuses.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def landlock_version() -> int:
    """Return the version of Landlock's ABI, 0 if the kernel has none."""
    return max(int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)), 0)


def restrict_files(readable: Sequence[str]) -> None:
    """Allow reading below some paths, and no other use of files, by Landlock.

    Args:
        readable: files and folders; those that are missing are skipped.

    Raises:
        OSError: the kernel refuses.
    """
    version = landlock_version()
    files = (1 << _FILES_BY_VERSION.get(version, 16)) - 1
    handled = struct.pack("QQQ", files, _NETWORK if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    handled = handled[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0), "landlock")
    for path in readable:
        with suppress(FileNotFoundError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", _READ if os.path.isdir(path) else _READ_FILE_ONLY, opened)  # noqa: PTH112
            _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0), f"landlock rule for {path}")
            os.close(opened)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)


def filter_calls(instructions: bytes) -> None:
    """Put a system call filter on this process and all that it starts.

    Raises:
        OSError: the kernel refuses.
    """
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = SockFprog(len(instructions) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


def prctl(option: int, *arguments: Any) -> int:
    """prctl(2), which other systems do not have.

    Raises:
        OSError: it failed.
    """
    if sys.platform != "linux":
        return 0
    values = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    padding = [ctypes.c_ulong(0)] * (4 - len(values))
    return _checked(_libc.prctl(option, *values, *padding), f"prctl {option}")


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result
