"""Run loaders, evaluators and postprocessors of OpenCompass and AISBench in a process of its own.

Calls and replies hold plain values, as JSON has them; rows are in Arrow files. The other side is
`ais_prompt.extensions.peers.code.session`.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ais_prompt.extensions.peers.code.calls import (
    NO_NETWORK,
    Call,
    CallFault,
    CallReply,
    CheckCall,
    EvaluateCall,
    JudgedCall,
    LoadCall,
    PostprocessCall,
    RetrieveCall,
    StartCall,
)
from ais_prompt.extensions.peers.code.data import DataAbsent
from ais_prompt.extensions.peers.code.importing import NoSuchName, install_finders
from ais_prompt.extensions.peers.code.missing import advice, missing_package
from ais_prompt.extensions.peers.code.network import NoNetwork, enter_empty_network, refuse_network
from ais_prompt.extensions.peers.code.running import (
    WrongArguments,
    check,
    load,
    postprocess,
    retrieve,
    score,
    score_judged,
)
from ais_prompt.extensions.peers.code.verdicts import NoVerdict
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.peers import PEER_PATH
from ais_prompt.utils.places import users_line
from ais_prompt.utils.worker import serve

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
        reply = CallReply(_answers()[type(call)](call))
        return _encoded(reply)
    except BaseException as error:  # their code may also call `exit`
        return _encoded(CallReply(fault=_fault(error)))


def _answers() -> Mapping[type, Callable[[Any], Any]]:
    return {
        StartCall: _start,
        CheckCall: check,
        LoadCall: load,
        EvaluateCall: score,
        JudgedCall: score_judged,
        PostprocessCall: postprocess,
        RetrieveCall: retrieve,
    }


def _start(call: StartCall) -> None:
    with Path(call.log).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    if not call.network:
        os.environ.update(dict.fromkeys(OFFLINE, "1"))
        refuse_network()
    # The same folders as the parent sees, whose search path may have one that this process lacks.
    os.environ[PEER_PATH] = os.pathsep.join(str(Path(folder).parent) for folder in call.peers.values())
    install_finders({package: folder for package, folder in call.peers.items() if package not in call.whole})


def _encoded(reply: CallReply) -> bytes:
    return msgspec.json.encode(reply, enc_hook=str)


def _fault(error: BaseException) -> CallFault:
    """Return what a call's exception means."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DataAbsent):
            return CallFault("data", cause.what, fix=cause.fix)
        if isinstance(cause, NoNetwork):
            return CallFault("data", f"{cause}, and nothing is downloaded unasked", fix=NETWORK_FIX)
        if type(cause) is ConnectionError or type(cause).__name__ in NOT_CACHED:
            return CallFault("data", f"it is not on this machine: {exception_line(cause)}", fix=DOWNLOAD_FIX)
        if package := missing_package(cause):
            return CallFault("package", f"their code needs the package {package!r}", fix=advice(package))
        cause = cause.__cause__ or cause.__context__
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
