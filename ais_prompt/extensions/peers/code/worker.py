"""Run loaders, evaluators and postprocessors of OpenCompass and AISBench in a process of its own.

Calls and replies hold plain values, as JSON has them; rows are in Arrow files. The other side is
`ais_prompt.extensions.peers.code.session`.

The code is kept from the network. Where Linux lets this user make namespaces, the worker has an empty network of its
own: neither Python code nor a C library nor a program that it starts reaches another machine, or a server of this
machine. Elsewhere an audit hook refuses sockets of Python code, but not those of programs that it starts.

Sources: user_namespaces(7), network_namespaces(7), netdevice(7), and Python's table of audit events.
"""

from __future__ import annotations

import _socket
import ctypes
import functools
import ipaddress
import os
import pickle
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ais_prompt.extensions.peers.code.calls import (
    NO_NETWORK,
    Call,
    CallFault,
    CallReply,
    CheckCall,
    CompareCall,
    EvaluateCall,
    JudgedCall,
    LoadCall,
    PostprocessCall,
    RetrieveCall,
    SimulateCall,
    StartCall,
)
from ais_prompt.extensions.peers.code.importing import DataAbsent, NoSuchName, StubFinder, install_finders
from ais_prompt.extensions.peers.code.running import (
    NoVerdict,
    WrongArguments,
    check,
    load,
    postprocess,
    retrieve,
    score,
    score_judged,
)
from ais_prompt.extensions.peers.code.simulated import compare, simulate
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS
from ais_prompt.parts import exception_line, users_line
from ais_prompt.processes import serve
from ais_prompt.utils import install_command

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_ADDRESSED: Final = {
    "socket.connect": 1, "socket.connect_ex": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.bind": 1
}  # fmt: skip
"""Event → which argument is the address."""
_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "connect": lambda address: address,
    "connect_ex": lambda address: address,
    "bind": lambda address: address,
    "sendto": lambda _, *others: others[-1] if others else None,
    "sendmsg": lambda _, ancillary=(), flags=0, address=None: address,  # noqa: ARG005
}
"""Method of a socket → returns the address of its arguments."""
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
    """Let Python code of this process use no address but those of this machine, and look up no name.

    The methods of a socket look a name up before their event, so they are checked before as well.
    """
    sys.addaudithook(_refuse)
    below = type("socket", (_socket.socket,), {})  # the type itself cannot be changed
    for kind in (socket.socket, below):
        for name, address_of in _METHODS.items():
            setattr(kind, name, _checked(getattr(kind, name), f"socket.{name}", address_of))
    vars(_socket)["socket"] = below


def _checked(method: Callable[..., Any], event: str, address_of: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: socket.socket, *args: Any) -> Any:
        _refuse(event, (self, address_of(*args)))
        return method(self, *args)

    return call


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


PIP_NAMES: Final = {
    "Levenshtein": "levenshtein",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "rdkit": "rdkit",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "bfcl_eval": "bfcl-eval",
}
"""Module → package, where the names differ by more than case and dashes."""


def missing_module(error: BaseException) -> str | None:
    """Return the library whose import failed; None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    module = error.name.partition(".")[0]
    return None if module in sys.stdlib_module_names or module in sys.modules else module


def missing_modules(call: CheckCall) -> list[str]:
    """Return the libraries that the import of a part lacks, found in a copy of this process that gets mocks of them.

    Those that their code can do without are not among them. Empty where processes cannot be copied.
    """
    if not hasattr(os, "fork"):
        return []
    found, names = os.pipe()
    if not (child := os.fork()):
        stubs = StubFinder()
        sys.meta_path.append(stubs)
        try:
            while (module := _missing_in(call)) and module not in stubs.modules:
                stubs.modules.add(module)
            os.write(names, msgspec.json.encode(sorted(stubs.modules)))
        finally:
            os._exit(0)
    os.close(names)
    with os.fdopen(found, "rb") as pipe:
        written = pipe.read()
    os.waitpid(child, 0)
    return msgspec.json.decode(written, type=list[str]) if written else []


def _missing_in(call: CheckCall) -> str | None:
    try:
        check(call)
    except BaseException as error:
        return next(filter(None, map(missing_module, _causes(error))), None)
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _lacks(modules: Sequence[str]) -> CallFault:
    """Return the fault for libraries that are not installed."""
    packages = [PIP_NAMES.get(module) or canonicalize_name(module) for module in modules]
    extra = set(packages) <= _extra()
    what = f"package{'s' if len(packages) > 1 else ''} {', '.join(map(repr, packages))}"
    fix = install_command("peers") if extra else f"pip install {' '.join(packages)}"
    return CallFault("package", f"their code needs the {what}", fix=fix)


def _extra() -> set[str]:
    """Return the libraries of the extra ``peers``."""
    try:
        listed = [Requirement(text) for text in requires("ais-prompt") or ()]
    except PackageNotFoundError:
        return set()
    return {canonicalize_name(one.name) for one in listed if one.marker and one.marker.evaluate({"extra": "peers"})}


OFFLINE: Final = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_EVALUATE_OFFLINE")
"""Environment variables that keep libraries from the network."""
NOT_CACHED: Final = ("DatasetNotFoundError", "LocalEntryNotFoundError", "OfflineModeIsEnabled")
"""Errors of the libraries of Hugging Face for what is not in their cache."""
DOWNLOAD_FIX: Final = "load it once with AISPROMPT_PEER_NETWORK=1; then it is in the cache of the library"
NETWORK_FIX: Final = "set AISPROMPT_PEER_NETWORK=1 to let their code use the network"


def answer(message: bytes) -> bytes:
    """Answer one call."""
    call: Call = pickle.loads(message)
    try:
        reply = CallReply(_ANSWERS[type(call)](call))
        return _encoded(reply)
    except BaseException as error:  # their code may also call `exit`
        fault = _fault(error)
        if fault.kind == "package" and isinstance(call, CheckCall) and len(modules := missing_modules(call)) > 1:
            fault = _lacks(modules)
        return _encoded(CallReply(fault=fault))


def _start(call: StartCall) -> None:
    with Path(call.log).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    if not call.network:
        os.environ.update(dict.fromkeys(OFFLINE, "1"))
        refuse_network()
    # The same folders as the parent sees, whose search path may have one that this process lacks.
    PEER_FOLDERS.given = [str(Path(folder).parent) for folder in call.peers.values()]
    install_finders({package: folder for package, folder in call.peers.items() if package not in call.whole})


_ANSWERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    StartCall: _start,
    CheckCall: check,
    LoadCall: load,
    EvaluateCall: score,
    JudgedCall: score_judged,
    PostprocessCall: postprocess,
    RetrieveCall: retrieve,
    SimulateCall: simulate,
    CompareCall: compare,
}


def _encoded(reply: CallReply) -> bytes:
    return msgspec.json.encode(reply, enc_hook=str)


def _fault(error: BaseException) -> CallFault:
    """Return what a call's exception means."""
    for cause in _causes(error):
        if isinstance(cause, DataAbsent):
            return CallFault("data", cause.what, fix=cause.fix)
        if isinstance(cause, NoNetwork):
            return CallFault("data", f"{cause}, and nothing is downloaded unasked", fix=NETWORK_FIX)
        if type(cause) is ConnectionError or type(cause).__name__ in NOT_CACHED:
            return CallFault("data", f"it is not on this machine: {exception_line(cause)}", fix=DOWNLOAD_FIX)
        if module := missing_module(cause):
            return _lacks([module])
    if type(error) is ImportError and "install" in str(error):
        return CallFault("package", f"their code needs a package: {exception_line(error)}", fix="install what it names")
    if isinstance(error, WrongArguments):
        return CallFault("config", str(error), fix="see the signature in the peer's source")
    if isinstance(error, NoVerdict):
        return CallFault("raised", str(error))
    if isinstance(error, NoSuchName):
        return CallFault("config", f"there is no {error}", fix="check the spelling, or the version of the peer")
    if isinstance(error, FileNotFoundError):
        return CallFault("data", exception_line(error), users_line(error), "put the file there")
    if isinstance(error, SystemExit):
        return CallFault("raised", f"it calls exit({error.code!r})", users_line(error))
    return CallFault("raised", exception_line(error), users_line(error))


if __name__ == "__main__":
    from ais_prompt.extensions.peers.code import worker

    if NO_NETWORK in sys.argv:  # before `serve` starts a thread
        enter_empty_network()
    serve(worker.answer)
