"""Build the system call filter of a confined program: instructions for the Linux kernel (seccomp-BPF).

The kernel runs the filter before each system call, and nothing can remove it. What is not allowed fails with EPERM.
Sources: seccomp(2), and the kernel's ``Documentation/userspace-api/seccomp_filter.rst``. libseccomp builds such filters
as well, but is missing on many machines, and its Python packages need it there.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from ais_prompt.sandbox.syscalls import LAST_KNOWN, UNKNOWN, Rule, allowed_calls, restricted_calls

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


def _restricted(number: int, rules: Sequence[Rule]) -> list[bytes]:
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
