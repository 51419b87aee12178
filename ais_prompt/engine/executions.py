"""Run the programs that conversations ask for in the sandbox (`Execution`), in place of asking the model."""

from __future__ import annotations

import os
import threading
from time import perf_counter
from typing import Final

from msgspec import json

from ais_prompt.errors import SandboxError
from ais_prompt.sandbox import evaluate_program, find_isolation
from ais_prompt.types import Completion, Execution, Failure, Request

_PLACES: Final = threading.BoundedSemaphore(os.cpu_count() or 1)
"""As many programs run at a time as the machine has processors, so that none takes longer because of the others."""


def execute(request: Request) -> Completion:
    """Run the program of a request and return what it returned, as the JSON of an `ais_prompt.sandbox.Evaluation`.

    The request fails if the sandbox of this program does not start.

    Raises:
        ModelError: no sandbox works on this machine.
    """
    asked, program = request.decoding, request.prompt
    assert isinstance(asked, Execution)
    assert isinstance(program, str)
    isolation = find_isolation(asked.sandbox, unsafe=asked.unsafe)
    with _PLACES:
        begun = perf_counter()
        try:
            found = evaluate_program(program, asked.expression, isolation, asked.timeout, asked.memory)
        except SandboxError as error:
            return Completion(failure=Failure("sandbox", error.what))
        return Completion(json.encode(found).decode(), "stop", seconds=perf_counter() - begun)
