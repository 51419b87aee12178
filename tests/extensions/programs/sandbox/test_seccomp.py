"""The filter of system calls, against the kernel's headers and run as the kernel runs it."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from ais_prompt.extensions.programs.sandbox.seccomp import UNKNOWN, allowed_calls, build_filter, restricted_calls

pytestmark = pytest.mark.process


ALLOW, KILL, REFUSE, SAY_UNKNOWN = 0x7FFF0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def decide(filter_: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would do: an interpreter of the instructions that filters use."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    accumulator, position = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("HBBI", filter_, 8 * position)
        position += 1
        if code == 0x06:
            return value
        if code == 0x20:
            [accumulator] = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            accumulator &= value
        else:
            holds = {0x15: accumulator == value, 0x25: accumulator > value, 0x35: accumulator >= value}[code]
            position += if_true if holds else if_false


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("namespaces", [True, False])
def test_what_is_on_the_list_is_allowed_and_nothing_else(machine: str, namespaces: bool) -> None:
    filter_, architecture = build_filter(machine, namespaces=namespaces), ARCHITECTURES[machine]
    column = list(ARCHITECTURES).index(machine)
    allowed = {number[column] for number in allowed_calls(namespaces=namespaces).values()}
    restricted = {number[column] for number, _ in restricted_calls(namespaces=namespaces).values()}
    unknown = {number[column] for number in UNKNOWN.values()}
    for number in range(451):
        if number not in restricted:
            expected = ALLOW if number in allowed else SAY_UNKNOWN if number in unknown else REFUSE
            assert decide(filter_, architecture, number) == expected, number
    for number in (451, 10_000, 0x40000000, 0x40000000 + 41, 0xFFFFFFFF - 2**32):
        assert decide(filter_, architecture, number) == SAY_UNKNOWN
    assert decide(filter_, 0x40000003, 1) == KILL  # the interface of 32 bits


CASES = [  # name, arguments, with namespaces, without
    ("clone", (0x00010F00,), True, True),  # a thread
    ("clone", (17,), True, False),  # a process
    *[
        ("clone", (17 | flag,), False, False)
        for flag in (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
    ],
    ("clone", (0x00010F00 | 0x8000,), False, False),
    *[("fcntl", (3, command), True, True) for command in (0, 1, 2, 3, 4, 1030)],
    *[("fcntl", (3, command), False, False) for command in (8, 10, 15, 1031, 1033)],  # F_SETOWN, SETSIG, SETOWN_EX …
    ("ioctl", (0, 0x5401), True, True),
    *[("ioctl", (0, command), False, False) for command in (0x5412, 0x541C, 0x8901, 0x5452, 0x8902)],
    ("socketpair", (1, 1), True, True),
    ("socketpair", (1, 1 | 0x80000), True, True),
    *[("socketpair", (1, kind), False, False) for kind in (2, 5, 3)],
    ("prlimit64", (0, 7), True, True),
    ("prlimit64", (4242, 7), False, False),
    ("prctl", (15,), True, True),
    ("prctl", (1,), True, False),  # PR_SET_PDEATHSIG
    *[("prctl", (option,), False, False) for option in (8, 22, 24, 28, 38, 47, 0x59616D61)],
    ("socket", (1, 1), True, False),
    *[("socket", (family, 1), False, False) for family in (2, 10, 16, 17, 38, 40)],
    ("setsockopt", (3, 1, 7), False, False),  # SO_SNDBUF
]


def test_arguments_decide() -> None:
    for name, arguments, inside, alone in CASES:
        for machine in ARCHITECTURES:
            for namespaces, allowed in ((True, inside), (False, alone)):
                number = restricted_calls(namespaces=True)[name][0][list(ARCHITECTURES).index(machine)]
                assert number is not None
                found = decide(build_filter(machine, namespaces=namespaces), ARCHITECTURES[machine], number, *arguments)
                assert found == (ALLOW if allowed else REFUSE)


@pytest.mark.parametrize(
    ("header", "column"),
    [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1)],
)
def test_numbers_are_those_of_the_kernel(header: str, column: int) -> None:
    if not Path(header).is_file():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    numbers = {name: int(number) for name, number in found}
    numbers |= {"newfstatat": numbers.get("fstatat", numbers.get("newfstatat"))}
    ours = {name: number for name, (number, _) in restricted_calls(namespaces=True).items()}
    ours |= allowed_calls(namespaces=True) | UNKNOWN
    assert {name: call[column] for name, call in ours.items()} == {name: numbers.get(name) for name in ours}
