"""Code of the peers reaches no network: neither another machine nor a server of this one."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests.extensions.programs.hostile.test_hostile import command_without_rights

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="namespaces and audit events of sockets are those of Linux"),
]

EMPTY = """
import os, socket, subprocess, sys
from ais_prompt.extensions.peers.code.worker import enter_empty_network
print(enter_empty_network())
port = int(sys.argv[1])
for kind, address in (
    (socket.SOCK_STREAM, ("127.0.0.1", port)),
    (socket.SOCK_STREAM, ("192.0.2.1", 53)),
    (socket.SOCK_DGRAM, ("192.0.2.1", 53)),
):
    try:
        with socket.socket(socket.AF_INET, kind) as one:
            one.settimeout(5)
            one.connect(address)
            one.send(b"x")
            print("sent", kind, address)
    except OSError:
        pass
program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('a program connected')"
subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
with socket.create_server(("127.0.0.1", 0)) as own, socket.create_connection(own.getsockname(), 5):
    print("own")
print(os.geteuid(), os.getegid(), os.stat("/").st_uid)
"""


@pytest.mark.parametrize("user", ["me", "without rights"])
def test_an_empty_network_has_a_loopback_of_its_own_only(user: str) -> None:
    python = [sys.executable] if user == "me" else command_without_rights()
    namespaces = ["unshare", "--user", "--net", "true"]
    if subprocess.run([*python[:-1], *namespaces], check=False).returncode:
        pytest.skip("this user may not make namespaces here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [*python, "-c", EMPTY, str(server.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    who = subprocess.run(
        [*python, "-c", "import os; print(os.geteuid(), os.getegid())"], capture_output=True, text=True
    )
    root = "0" if user == "me" else "65534"  # a user without rights knows no other user in its namespace
    assert done.stdout.splitlines() == ["True", "own", f"{who.stdout.strip()} {root}"]


REFUSED = {
    "stream": "socket.socket().connect(('192.0.2.1', 1))",
    "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    "datagram with flags": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', 0, ('192.0.2.1', 53))",
    "message": "socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('192.0.2.1', 53))",
    "IPv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 1))",
    "connected datagram": "socket.socket(type=socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 53))",
    "a name that begins like this machine": "socket.create_connection(('127.example.com', 1))",
    "its address": "socket.gethostbyname('127.example.com')",
    "its addresses": "socket.gethostbyname_ex('127.example.com')",
    "a name by its address": "socket.gethostbyaddr('192.0.2.1')",
    "a name by another call": "socket.getnameinfo(('192.0.2.1', 1), 0)",
    "a name as bytes": "socket.getaddrinfo(b'example.com', 1)",
    # A name is refused before it is looked up: else the error would be that no server of names knows it.
    "a name of a stream": "socket.socket().connect(('name.invalid', 1))",
    "a name of a stream with a number": "socket.socket().connect_ex(('name.invalid', 1))",
    "a name to listen on": "socket.socket().bind(('name.invalid', 1))",
    "a name of a datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('name.invalid', 53))",
    "a name of a datagram with flags": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', 0, ('name.invalid', 53))",
    "a name of a message": "socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('name.invalid', 53))",
    "a name of a secured stream": "import ssl; ssl.create_default_context().wrap_socket(socket.socket(), "
    "server_hostname='name.invalid').connect(('name.invalid', 1))",
    "a name of the module below": "import _socket; _socket.socket().connect(('name.invalid', 1))",
    "a name that begins like the IPv6 loopback": "socket.getaddrinfo('::1.example.com', 1)",
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_python_code_may_not_do_without_a_namespace(call: str) -> None:
    done = guarded(f"try:\n    {call}\nexcept NoNetwork as error:\n    print(error)")
    assert done.startswith("their code wants to connect to "), done


def test_what_serves_processes_of_this_machine_is_left() -> None:
    program = """
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
    socket.getaddrinfo("localhost", 1)
    socket.gethostbyname("127.0.0.1")
    left, right = socket.socketpair()
    print("fine")
"""
    assert guarded(program) == "fine"


def guarded(program: str) -> str:
    start = "import socket\nfrom ais_prompt.extensions.peers.code.worker import *\nrefuse_network()\n"
    done = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip()
