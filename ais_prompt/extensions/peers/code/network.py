"""Keep code of OpenCompass and AISBench from the network.

Where Linux lets this user make namespaces, the worker has a network of its own with nothing in it: neither Python code
nor a C library nor a program that it starts reaches another machine, or a server of this one. Elsewhere an audit hook
refuses what Python code does with sockets, which a program that it starts does not feel.

Sources: user_namespaces(7), network_namespaces(7), netdevice(7), and Python's table of audit events.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_ADDRESSED: Final = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.bind": 1}
"""Event → which argument is the address."""
_NAMED: Final = {
    "socket.getaddrinfo": 0, "socket.gethostbyname": 0, "socket.gethostbyaddr": 0, "socket.getnameinfo": 0
}  # fmt: skip
"""Event → which argument is a name or address that may be asked of a server of names."""


class NoNetwork(OSError):
    """Their code tried to use the network, which it may not."""


def enter_empty_network() -> bool:
    """Move this process into a network that has only a loopback of its own; return whether that worked.

    The process must have one thread. It keeps its user and its files, and its rights beyond that become those over its
    own namespaces.
    """
    if sys.platform != "linux":
        return False
    import fcntl

    libc = ctypes.CDLL(None, use_errno=True)
    ready, is_ready = os.pipe()
    if not (helper := os.fork()):  # outside of the new namespace, where the users are known
        with suppress(OSError):
            os.close(is_ready)
            if os.read(ready, 1):
                _map_users(os.getppid())
                os._exit(0)
        os._exit(1)
    os.close(ready)
    has_moved = libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0
    if has_moved:
        os.write(is_ready, b"x")
    os.close(is_ready)
    _, status = os.waitpid(helper, 0)
    if not has_moved:
        return False
    if status:
        raise OSError("the users of a namespace cannot be set")
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    return True


def _map_users(process: int) -> None:
    """Let every user be itself in the namespace of a process; this user alone, if that is not root."""
    folder = Path(f"/proc/{process}")
    user, group, number = (0, 0, 2**32 - 1) if os.geteuid() == 0 else (os.geteuid(), os.getegid(), 1)
    if user:
        (folder / "setgroups").write_text("deny")
    (folder / "uid_map").write_text(f"{user} {user} {number}")
    (folder / "gid_map").write_text(f"{group} {group} {number}")


def refuse_network() -> None:
    """Let Python code of this process use no address but those of this machine, and look up no name."""
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event in _ADDRESSED:
        address = args[_ADDRESSED[event]]
        if isinstance(address, tuple) and address and not _is_here(address[0]):
            raise NoNetwork(f"their code wants to connect to {':'.join(map(str, address[:2]))}")
    elif event in _NAMED:
        name = args[_NAMED[event]]
        name = name[0] if isinstance(name, tuple) and name else name
        if not _is_here(name):
            raise NoNetwork(f"their code wants to connect to {name}")


def _is_here(host: object) -> bool:
    """Return whether a host is this machine, whatever a server of names would say."""
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        found = ipaddress.ip_address(str(host))
    except ValueError:  # a name, such as 127.example.com
        return False
    return found.is_loopback or found.is_unspecified
