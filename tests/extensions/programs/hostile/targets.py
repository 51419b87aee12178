"""Throwaway targets for hostile programs, and whether they are as they were."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmat.restype = ctypes.c_void_p
_IPC_CREAT, _IPC_RMID, _IPC_STAT = 0o1000, 0, 2
_CONTENT = "as it was"
_OPEN_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/", "/run", "/dev", "/etc")


class Targets:
    """Files, servers, a process and shared memory of the current user, all of them open to the user's programs."""

    def __init__(self) -> None:
        self.tag = f"h{uuid.uuid4().hex[:10]}"
        self._stack = ExitStack()

    def __enter__(self) -> Targets:
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix=f"targets-{self.tag}-")))
        self.folder.chmod(0o777)
        for name in ("file", "secret"):
            (self.folder / name).write_text(_CONTENT)
        os.utime(self.folder / "file", (1_000_000, 1_000_000))
        self._servers = [
            self._server(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            self._server(socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "stream")),
            self._server(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.tag}"),
            self._server(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "datagram")),
        ]
        self.port = self._servers[0].getsockname()[1]
        self._servers.append(self._server(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.port)))
        self._victim = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(3600)"], env={"KEY": f"SECRET-{self.tag}"}
        )
        self._stack.callback(self._end_victim)
        self._victim_state = self._state()
        self._shared = _libc.shmget(0, 4096, _IPC_CREAT | 0o666)
        self._queue = _libc.msgget(0, _IPC_CREAT | 0o666)
        self._stack.callback(lambda: _libc.shmctl(self._shared, _IPC_RMID, None))
        self._stack.callback(lambda: _libc.msgctl(self._queue, _IPC_RMID, None))
        self._where = _libc.shmat(self._shared, None, 0)
        ctypes.memmove(self._where, _CONTENT.encode(), len(_CONTENT))
        self._memory = Path(f"/dev/shm/{self.tag}")
        self._memory.write_text(_CONTENT)
        self._memory.chmod(0o666)
        self._stack.callback(self._memory.unlink)
        self._listing = self._list()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def fill_in(self, program: str, level: str) -> str:
        """Put the names of the targets into a program."""
        values = {
            "FOLDER": self.folder,
            "PORT": self.port,
            "VICTIM": self._victim.pid,
            "RUN": os.getpid(),
            "SHM": self._shared,
            "MSG": self._queue,
            "TAG": self.tag,
            "HEX": self.tag[1:8],
            "DIGITS": int(self.tag[1:], 16),
            "LEVEL": level,
        }
        for name, value in values.items():
            program = program.replace(f"@{name}@", str(value))
        return program

    def complaints(self) -> list[str]:
        """What is not as it was. Empty if nothing happened."""
        found = []
        if self._list() != self._listing:
            found.append(f"files changed: {sorted(set(self._list()) ^ set(self._listing))}")
        if os.path.ismount(self.folder):
            found.append("something is mounted over the folder")
        if self._victim.poll() is not None:
            found.append(f"the victim ended: {self._victim.returncode}")
        elif self._state() != self._victim_state:
            found.append(f"the victim changed: {self._state()}")
        if ready := select.select(self._servers, [], [], 0)[0]:
            found.append(f"a server was reached: {ready}")
        if ctypes.string_at(self._where, len(_CONTENT)) != _CONTENT.encode():
            found.append("shared memory was written")
        status = ctypes.create_string_buffer(256)
        if _libc.shmctl(self._shared, _IPC_STAT, status) or _libc.msgctl(self._queue, _IPC_STAT, status):
            found.append("shared memory or a queue is gone")
        if self._memory.read_text() != _CONTENT:
            found.append("POSIX shared memory was written")
        found += [f"left in {folder}: {name}" for folder in _OPEN_FOLDERS for name in self._left_in(folder)]
        return found + [f"still running: {process}" for process in self.leftovers()]

    def leftovers(self) -> list[int]:
        """Processes of hostile programs that call themselves by the tag."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    name, line = (entry / "comm").read_text(), (entry / "cmdline").read_bytes()
                    if self.tag[:15] in name or str(int(self.tag[1:], 16)).encode() in line:
                        found.append(int(entry.name))
        return found

    def _left_in(self, folder: str) -> list[str]:
        with suppress(OSError):
            return [name for name in os.listdir(folder) if f"hostile{self.tag}" in name]
        return []

    def _server(self, family: int, kind: int, address: tuple[str, int] | str) -> socket.socket:
        server = self._stack.enter_context(socket.socket(family, kind))
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()
        if isinstance(address, str) and address.startswith("/"):
            Path(address).chmod(0o777)
        return server

    def _list(self) -> list[tuple[object, ...]]:
        """All files in the folder, with everything about them that can be changed."""
        rows: list[tuple[object, ...]] = []
        for path in sorted(self.folder.iterdir()):
            about = path.lstat()
            content = path.read_text() if stat.S_ISREG(about.st_mode) else ""
            attributes = tuple(os.listxattr(path, follow_symlinks=False))
            rows.append((path.name, about.st_mode, about.st_nlink, about.st_mtime, content, attributes))
        return rows

    def _state(self) -> tuple[object, ...]:
        process = self._victim.pid
        limits = Path(f"/proc/{process}/limits").read_text()
        return os.getpriority(os.PRIO_PROCESS, process), os.sched_getaffinity(process), limits

    def _end_victim(self) -> None:
        self._victim.send_signal(signal.SIGKILL)
        self._victim.wait()
