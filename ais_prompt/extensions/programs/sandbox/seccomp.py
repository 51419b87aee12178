"""The system call filter of a confined program: which calls it may make, as instructions for the kernel (seccomp-BPF).

The kernel runs the filter before each system call, and nothing can remove it. A call that is not allowed fails with
EPERM. The tables name the calls and the arguments that are allowed; the functions below turn them into instructions.
Sources: seccomp(2), and the kernel's ``Documentation/userspace-api/seccomp_filter.rst``. Numbers come from
``asm/unistd_64.h`` (x86-64) and ``asm-generic/unistd.h`` (ARM64) of Linux 6.1. libseccomp builds such filters as well,
but is missing on many machines, and its Python packages need it there.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

Number: TypeAlias = tuple[int | None, int | None]
"""On x86-64 and on ARM64; None where an architecture has a newer call only."""

_ALWAYS = """
# files that are open
read 0 63, write 1 64, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, preadv 295 69,
pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, close 3 57, close_range 436 436, dup 32 23,
dup2 33 -, dup3 292 24, fsync 74 82, fdatasync 75 83, flock 73 32, ftruncate 77 46, fallocate 285 47,
sendfile 40 71, copy_file_range 326 285, fadvise64 221 223
# files by name
open 2 -, openat 257 56, creat 85 -, stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291,
access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -,
getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -,
unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37,
symlink 88 -, symlinkat 266 36, umask 95 166, statfs 137 43, fstatfs 138 44, getxattr 191 8, lgetxattr 192 9,
fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13
# memory
mmap 9 222, mprotect 10 226, munmap 11 215, mremap 25 216, msync 26 227, mincore 27 232, madvise 28 233,
brk 12 214, membarrier 324 283
# waiting
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19,
pipe 22 -, pipe2 293 59, futex 202 98, pause 34 -
# time
nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169,
time 201 -, times 100 153, getitimer 36 102, setitimer 38 103, alarm 37 -, timer_create 222 107,
timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87
# sockets that exist
sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, shutdown 48 210, getsockname 51 204,
getpeername 52 205, getsockopt 55 209
# the process itself
exit 60 93, exit_group 231 94, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132,
restart_syscall 219 128, arch_prctl 158 -, set_tid_address 218 96, set_robust_list 273 99, rseq 334 293,
sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
sched_get_priority_max 146 125, sched_get_priority_min 147 126, getpriority 140 141, getcpu 309 168,
getrandom 318 278, getpid 39 172, getppid 110 173, gettid 186 178, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getgroups 115 158, getresuid 118 148, getresgid 120 150, getpgrp 111 -,
getpgid 121 155, getsid 124 156, capget 125 90, getrlimit 97 163, setrlimit 160 164, getrusage 98 165,
wait4 61 260, waitid 247 95, sysinfo 99 179, uname 63 160
"""
"""A table: name, number on x86-64, number on ARM64. No call here reaches anything that the process does not hold."""

_INSIDE_NAMESPACES = """
# processes
fork 57 -, vfork 58 -, execve 59 221, kill 62 129, tkill 200 130,
tgkill 234 131, setpgid 109 154, setsid 112 157, setgroups 116 159, setresuid 117 147, setresgid 119 149
# attributes
truncate 76 45, chmod 90 -, fchmod 91 52, fchmodat 268 53, utime 132 -, utimes 235 -, utimensat 280 88
# sockets
connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242
"""
"""Calls that reach further than files, which only namespaces keep inside."""

LAST_KNOWN: Final = 450
"""The C library replaces calls that the kernel does not know, so newer numbers are answered as unknown."""

UNKNOWN: Final[dict[str, Number]] = {"clone3": (435, 435), "openat2": (437, 437)}
"""Answered as unknown, so that the C library uses the older call, whose arguments a filter can read."""


class ArgumentRule(NamedTuple):
    """A call is allowed if ``argument & mask`` is one of the values, counting arguments from 0."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


_NEW_NAMESPACES: Final = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_CLONE_PTRACE, _CLONE_PARENT, _CLONE_THREAD = 0x2000, 0x8000, 0x00010000
_UNIX, _STREAM, _SOCKET_TYPE = 1, 1, 0xF  # a datagram socket could be pointed at sockets of other processes
_CLONE: Final = ArgumentRule(0, (0,), _NEW_NAMESPACES | _CLONE_PTRACE | _CLONE_PARENT)
_SOCKET: Final = (ArgumentRule(0, (_UNIX,)), ArgumentRule(1, (_STREAM,), _SOCKET_TYPE))

_RESTRICTED: Final[dict[str, tuple[Number, tuple[ArgumentRule, ...]]]] = {
    # F_DUPFD, GETFD, SETFD, GETFL, SETFL, locks, F_DUPFD_CLOEXEC, GETPIPE_SZ; not F_SETOWN, which sends signals
    "fcntl": ((72, 25), (ArgumentRule(1, (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
    "ioctl": ((16, 29), (ArgumentRule(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),)),
    "prlimit64": ((302, 261), (ArgumentRule(0, (0,)),)),  # of the process itself
    "socketpair": ((53, 199), _SOCKET),
}
# PR_GET_PDEATHSIG, GET_DUMPABLE, SET_DUMPABLE, SET_NAME, GET_NAME, CAPBSET_READ, GET_NO_NEW_PRIVS, SET_VMA
_PRCTL: Final = (2, 3, 4, 15, 16, 23, 39, 0x53564D41)
_SET_PDEATHSIG: Final = 1
_RESTRICTED_ALONE: Final[dict[str, tuple[Number, tuple[ArgumentRule, ...]]]] = {
    "prctl": ((157, 167), (ArgumentRule(0, _PRCTL),)),
    "clone": ((56, 220), (_CLONE, ArgumentRule(0, (_CLONE_THREAD,), _CLONE_THREAD))),
}
_RESTRICTED_IN_NAMESPACES: Final[dict[str, tuple[Number, tuple[ArgumentRule, ...]]]] = {
    "prctl": ((157, 167), (ArgumentRule(0, (*_PRCTL, _SET_PDEATHSIG)),)),
    "clone": ((56, 220), (_CLONE,)),
    "socket": ((41, 198), _SOCKET),
    "setsockopt": (
        (54, 208),
        (ArgumentRule(1, (1,)), ArgumentRule(2, (2,))),
    ),  # SO_REUSEADDR; larger buffers would evade the limit
}


def allowed_calls(*, namespaces: bool) -> dict[str, Number]:
    """Return the calls that are allowed whatever their arguments.

    Args:
        namespaces: whether the process has namespaces of its own, so that its calls reach no other processes.
    """
    return dict(_rows(_ALWAYS + _INSIDE_NAMESPACES if namespaces else _ALWAYS))


def restricted_calls(*, namespaces: bool) -> dict[str, tuple[Number, tuple[ArgumentRule, ...]]]:
    """Return the calls that are allowed with some arguments only: their numbers, and rules that must all hold."""
    return _RESTRICTED | (_RESTRICTED_IN_NAMESPACES if namespaces else _RESTRICTED_ALONE)


def _rows(table: str) -> Iterator[tuple[str, Number]]:
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    for row in ",".join(lines).split(","):
        if row.strip():
            name, first, second = row.split()
            yield name, (_number(first), _number(second))


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


_ALLOW: Final = 0x7FFF0000  # SECCOMP_RET_ALLOW
_KILL: Final = 0x80000000  # SECCOMP_RET_KILL_PROCESS
_ERRNO: Final = 0x00050000  # SECCOMP_RET_ERRNO
_REFUSE: Final = _ERRNO | errno.EPERM
_SAY_UNKNOWN: Final = _ERRNO | errno.ENOSYS

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data; an argument has 64 bits


class _Machine(NamedTuple):
    column: int
    architecture: int  # AUDIT_ARCH_*


_MACHINES: Final = {"x86_64": _Machine(0, 0xC000003E), "aarch64": _Machine(1, 0xC00000B7)}


def is_supported(machine: str) -> bool:
    """Return whether there is a filter for a kind of processor, as `platform.machine` names it."""
    return machine in _MACHINES


def build_filter(machine: str, *, namespaces: bool, also: Collection[str] = ()) -> bytes:
    """Build the filter for a kind of processor: ``struct sock_filter`` after ``struct sock_filter``, 8 bytes each.

    Args:
        machine: as `platform.machine` names it.
        namespaces: whether the process has namespaces of its own. Without them it can start no processes, send no
            signals and change no attributes of files.
        also: names of calls that are allowed beyond that.
    """
    column, architecture = _MACHINES[machine]
    filter_ = [_load(_ARCHITECTURE), _jump_if_equal(architecture, 1, 0), _return(_KILL)]
    # The numbers of the x32 interface are beyond the last one too.
    filter_ += [_load(_NUMBER), _jump_if_greater(LAST_KNOWN, 0, 1), _return(_SAY_UNKNOWN)]
    for call in UNKNOWN.values():
        filter_ += [_jump_if_equal(call[column] or 0, 0, 1), _return(_SAY_UNKNOWN)]
    for number, rules in restricted_calls(namespaces=namespaces).values():
        if number[column] is not None:
            filter_ += _restricted(number[column] or 0, rules)
    calls = allowed_calls(namespaces=namespaces) | {name: allowed_calls(namespaces=True)[name] for name in also}
    numbers = {call[column] for call in calls.values()} - {None}
    for first, last in _ranges(sorted(number for number in numbers if number is not None)):
        filter_ += [_jump_if_less(first, 2, 0), _jump_if_greater(last, 1, 0), _return(_ALLOW)]
    return b"".join([*filter_, _return(_REFUSE)])


def _restricted(number: int, rules: Sequence[ArgumentRule]) -> list[bytes]:
    """Allow a call if all rules hold, refuse it elsewhere; other calls are left to what follows."""
    body: list[bytes] = []
    for rule in rules:
        body += [_load(_ARGUMENTS + 8 * rule.argument), _and(rule.mask)]
        for tested, value in enumerate(rule.values):
            body.append(_jump_if_equal(value, len(rule.values) - tested, 0))
        body.append(_return(_REFUSE))
    body.append(_return(_ALLOW))
    return [_jump_if_equal(number, 0, len(body)), *body]


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Join ascending numbers without a gap into ranges, ends included."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return ranges


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One ``struct sock_filter``; the jumps say how many instructions are skipped."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _instruction(0x20, offset)  # BPF_LD | BPF_W | BPF_ABS: 32 bits, the low ones of an argument


def _and(mask: int) -> bytes:
    return _instruction(0x54, mask)  # BPF_ALU | BPF_AND | BPF_K


def _return(action: int) -> bytes:
    return _instruction(0x06, action)  # BPF_RET | BPF_K


def _jump_if_equal(value: int, if_true: int, if_false: int) -> bytes:
    return _instruction(0x15, value, if_true, if_false)  # BPF_JMP | BPF_JEQ | BPF_K


def _jump_if_greater(value: int, if_true: int, if_false: int) -> bytes:
    return _instruction(0x25, value, if_true, if_false)  # BPF_JMP | BPF_JGT | BPF_K


def _jump_if_less(value: int, if_true: int, if_false: int) -> bytes:
    return _instruction(0x35, value, if_false, if_true)  # BPF_JMP | BPF_JGE | BPF_K, turned around
