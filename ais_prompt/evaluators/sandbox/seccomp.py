"""The filter of system calls that confines a program, as instructions for the Linux kernel (seccomp-BPF).

The kernel runs the filter before each system call, and nothing can take it off again. Sources: seccomp(2), and the
kernel's ``Documentation/userspace-api/seccomp_filter.rst``; numbers from ``asm/unistd_64.h`` (x86-64) and
``asm-generic/unistd.h`` (ARM64) of Linux 6.1.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import Final, NamedTuple, TypeAlias

_Call: TypeAlias = tuple[int, int | None]
"""Number on x86-64, and on ARM64, which lacks the calls that a newer one replaces."""

_FORBIDDEN: Final[dict[str, _Call]] = {
    # other processes: none can be started, signalled or looked into
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "unshare": (272, 97),
    "setns": (308, 268),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    # the network, and the ring that does calls on behalf of a process, past this filter
    "socket": (41, 198),
    "io_uring_setup": (425, 425),
    # changes of files; for opening them see `build_filter`
    "creat": (85, None),
    "truncate": (76, 45),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "open_by_handle_at": (304, 265),
    # memory that the limit on address space does not count
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # parts of the kernel that no answer needs
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
# The C library falls back on older calls, whose arguments the filter can read.
_AS_IF_UNKNOWN: Final[dict[str, _Call]] = {"clone3": (435, 435), "openat2": (437, 437)}
_REFUSED: Final[dict[str, _Call]] = {"setrlimit": (160, 164), "prlimit64": (302, 261)}
_CLONE: Final = (56, 220)
_OPEN: Final[_Call] = (2, None)
_OPENAT: Final[_Call] = (257, 56)
_LAST_KNOWN: Final = 450
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CLONE_THREAD: Final = 0x00010000

_ALLOW: Final = 0x7FFF0000  # SECCOMP_RET_ALLOW
_KILL: Final = 0x80000000  # SECCOMP_RET_KILL_PROCESS
_ERRNO: Final = 0x00050000  # SECCOMP_RET_ERRNO


class _Machine(NamedTuple):
    column: int
    architecture: int  # AUDIT_ARCH_*


_MACHINES: Final = {"x86_64": _Machine(0, 0xC000003E), "aarch64": _Machine(1, 0xC00000B7)}


def is_supported(machine: str) -> bool:
    """Whether there is a filter for a kind of processor, as `platform.machine` names it."""
    return machine in _MACHINES


def build_filter(machine: str) -> bytes:
    """The filter for a kind of processor: ``struct sock_filter`` after ``struct sock_filter``, 8 bytes each."""
    column, architecture = _MACHINES[machine]

    def numbers(calls: dict[str, _Call]) -> list[int]:
        return [number for call in calls.values() if (number := call[column]) is not None]

    filter_ = [_load(4), *_unless_equal(architecture, _KILL), _load(0), *_if_greater(_LAST_KNOWN, _unknown())]
    for number in numbers(_FORBIDDEN):
        filter_ += _if_equal(number, _KILL)
    for number in numbers(_AS_IF_UNKNOWN):
        filter_ += _if_equal(number, _unknown())
    for number in numbers(_REFUSED):
        filter_ += _if_equal(number, _ERRNO | errno.EPERM)
    for call, argument in ((_OPEN, 1), (_OPENAT, 2)):
        if (opening := call[column]) is not None:
            filter_ += _by_flags(opening, argument, _WRITING, if_set=_KILL, if_clear=_ALLOW)
    filter_ += _by_flags(_CLONE[column], 0, _CLONE_THREAD, if_set=_ALLOW, if_clear=_KILL)
    return b"".join([*filter_, _return(_ALLOW)])


def _unknown() -> int:
    return _ERRNO | errno.ENOSYS


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One ``struct sock_filter``; the jumps say how many instructions are skipped."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    """Load 32 bits of ``struct seccomp_data``: number at 0, architecture at 4, arguments from 16 on, 64 bits each."""
    return _instruction(0x20, offset)  # BPF_LD | BPF_W | BPF_ABS


def _return(action: int) -> bytes:
    return _instruction(0x06, action)  # BPF_RET | BPF_K


def _if_equal(value: int, action: int) -> list[bytes]:
    return [_instruction(0x15, value, 0, 1), _return(action)]  # BPF_JMP | BPF_JEQ | BPF_K


def _unless_equal(value: int, action: int) -> list[bytes]:
    return [_instruction(0x15, value, 1, 0), _return(action)]


def _if_greater(value: int, action: int) -> list[bytes]:
    return [_instruction(0x25, value, 0, 1), _return(action)]  # BPF_JMP | BPF_JGT | BPF_K


def _by_flags(number: int, argument: int, flags: int, *, if_set: int, if_clear: int) -> list[bytes]:
    """Decide a call by the low 32 bits of one of its arguments: is any of the flags set?"""
    return [
        _instruction(0x15, number, 0, 4),
        _load(16 + 8 * argument),
        _instruction(0x45, flags, 0, 1),  # BPF_JMP | BPF_JSET | BPF_K
        _return(if_set),
        _return(if_clear),
    ]
