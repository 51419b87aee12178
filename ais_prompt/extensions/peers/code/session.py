"""Call the code of OpenCompass and AISBench: one worker process for all calls of this process.

The worker starts with the first call. It is started again after a call that ended it, or that took too long. Simulated
programs have a worker of their own, since a call of another kind may take long.
"""

from __future__ import annotations

import atexit
import os
import pickle
import tempfile
import threading
from pathlib import Path
from typing import Any, Final

import msgspec

from ais_prompt.errors import AisPromptError, ConfigError, DataError, MissingExtra, PartError
from ais_prompt.extensions.peers.code.calls import (
    NO_NETWORK,
    Call,
    CallFault,
    CallReply,
    CompareCall,
    SimulateCall,
    StartCall,
)
from ais_prompt.extensions.peers.data_path import CACHES, PACKAGES
from ais_prompt.extensions.peers.peer_packages import DISTRIBUTIONS, PEER_FOLDERS, is_complete, peer_of, peer_package
from ais_prompt.processes import Worker, WorkerDied

PEER_NETWORK: Final = "AISPROMPT_PEER_NETWORK"
"""Environment variable that lets code of the peers use the network if it is ``1``."""

CHECK_SECONDS: Final = 120.0
"""Time limit of an import."""
LOAD_SECONDS: Final = 1800.0
"""Time limit of a loader."""
SCORE_SECONDS: Final = 7200.0
"""Time limit of an evaluator."""
TEXT_SECONDS: Final = 60.0
"""Time limit of a postprocessor, for one call."""

STEP_SECONDS: Final = 10.0
"""Time limit of the calls that a model makes of simulated programs."""
PROGRAMS: Final = "bfcl_eval"
"""The package of the simulated programs."""


class TookTooLong(PartError):
    """Their code took too long."""


def call_peer(call: Call, path: str, seconds: float) -> Any:
    """Return the value of a call.

    Args:
        call: what to do.
        path: dotted name of the part, for errors.
        seconds: time limit.

    Raises:
        ConfigError: there is no such part, or its arguments do not fit.
        MissingExtra: the peer, or a package that its code needs, is not installed.
        DataError: files of a dataset are absent.
        PartError: its code failed, ended the process, or took too long.
    """
    package = path.partition(".")[0]
    if package not in DISTRIBUTIONS:
        fix = f"give a dotted name that begins with one of: {', '.join(DISTRIBUTIONS)}"
        raise ConfigError(f"{path!r} is no part of OpenCompass or AISBench", fix=fix)
    if peer_package(package) is None:
        raise MissingExtra(
            f"the config uses code of {peer_of(path)}, which is not installed",
            fix=f"pip install --no-deps {DISTRIBUTIONS[package]}, or --peer-path with the folder of a checkout",
        )
    reply = _SESSION.call(call, path, seconds)
    if reply.fault is not None:
        raise _error(reply.fault, path)
    return reply.value


def call_programs(call: SimulateCall | CompareCall) -> Any:
    """Return the value of a call of simulated programs; `programs_root` is the ``root`` of its scenario.

    Raises:
        MissingExtra: a package that they need is not installed.
        TookTooLong: the calls of the model took longer than `STEP_SECONDS`.
        PartError: their code failed, or ended the process.
    """
    reply = _PROGRAMS_SESSION.call(call, PROGRAMS, STEP_SECONDS)
    if reply.fault is not None:
        raise _error(reply.fault, PROGRAMS)
    return reply.value


def programs_root() -> str:
    """Return the folder that has the package of the simulated programs.

    Raises:
        MissingExtra: it is not installed.
    """
    folder = peer_package(PROGRAMS)
    if folder is None:
        fix = f"pip install mpmath && pip install --no-deps {PACKAGES[PROGRAMS]}"
        raise MissingExtra(f"conversations of BFCL need the simulated programs of {PROGRAMS}", fix=fix)
    return str(folder.parent)


class PeerSession:
    """A worker process and its lock. Use `call_peer` or `call_programs`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._settings: tuple[str, ...] = ()
        self._log = Path()

    def call(self, call: Call, path: str, seconds: float) -> CallReply:
        """Make a call, one at a time.

        Raises:
            PartError: the worker ended.
            TookTooLong: there was no reply in time.
        """
        with self._lock:
            try:
                return self._answer(call, seconds)
            except TimeoutError:
                self._stop()
                fix = "repair their code, or take the dataset out"
                raise TookTooLong(f"{path} took longer than {seconds:g} s", fix=fix) from None
            except WorkerDied as error:
                lines = self._log.read_text("utf-8", errors="replace").split("\n") if self._log.is_file() else []
                last = next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
                self._stop()
                what = f"{path} ended its process: {error}" + (f"; its last line: {last}" if last else "")
                raise PartError(what, fix="repair their code, or take the dataset out") from None
            except OSError as error:
                what = f"no process for the code of {_owner(path)}: {error}"
                raise PartError(what, fix="free memory or processes, and start again") from error
            except BaseException:  # Ctrl-C: the reply that comes later must not be taken for that of the next call
                self._stop()
                raise

    def stop(self) -> None:
        """End the worker, at once and from any thread; a call that waits for it fails."""
        if (worker := self._worker) is not None:
            worker.stop()
        with self._lock:
            self._stop()

    def _answer(self, call: Call, seconds: float) -> CallReply:
        folders = map(str, (Path.cwd(), *PEER_FOLDERS.paths()))
        settings = (*folders, *(os.environ.get(name, "") for name in _VARIABLES))
        if self._worker is not None and settings != self._settings:
            self._stop()
        if self._worker is None:
            has_network = os.environ.get(PEER_NETWORK) == "1"
            arguments = () if has_network else (NO_NETWORK,)
            self._worker = Worker("ais_prompt.extensions.peers.code.worker", arguments=arguments)
            self._settings = settings
            descriptor, name = tempfile.mkstemp(prefix="aisprompt-peer-", suffix=".log")
            os.close(descriptor)
            self._log = Path(name)
            peers = {package: str(folder) for package in DISTRIBUTIONS if (folder := peer_package(package))}
            whole = [package for package in peers if is_complete(package)]
            self._reply(StartCall(name, has_network, peers, whole), CHECK_SECONDS)
        return self._reply(call, seconds)

    def _reply(self, call: Call, seconds: float) -> CallReply:
        assert self._worker is not None
        try:
            # The worker runs code of others, so a reply is plain data; a call comes from here.
            return msgspec.json.decode(self._worker.call(pickle.dumps(call), seconds), type=CallReply)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise WorkerDied("its reply cannot be read") from error

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
            self._log.unlink(missing_ok=True)


def _owner(path: str) -> str:
    return peer_of(path) or path


def _error(fault: CallFault, path: str) -> AisPromptError:
    if fault.kind == "package":
        return MissingExtra(f"code of {_owner(path)}: {fault.what}", fix=fault.fix)
    if fault.kind == "config":
        return ConfigError(fault.what, where=fault.where, fix=fault.fix)
    if fault.kind == "data":
        return DataError(fault.what, where=fault.where, fix=fault.fix)
    what = f"{path} {'failed' if fault.what.startswith('it ') else 'raised'}: {fault.what}"
    return PartError(what, where=fault.where, fix=fault.fix or "see the peer's source")


_VARIABLES: Final = (PEER_NETWORK, *CACHES.values(), "DATASET_SOURCE", "HF_HOME", "HOME")
"""Environment variables that say where code and data are; a worker is started again when one of them changes."""
_SESSION: Final = PeerSession()
_PROGRAMS_SESSION: Final = PeerSession()
atexit.register(_SESSION.stop)
atexit.register(_PROGRAMS_SESSION.stop)
