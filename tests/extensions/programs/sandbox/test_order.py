"""Programs whose processes take their steps in any order, and a sandbox that fails for one program."""

from __future__ import annotations

import base64
import marshal
import re
from pathlib import Path

import pytest
from msgspec import json

from ais_prompt.errors import SandboxError
from ais_prompt.extensions.programs.agent import AgentInferencer
from ais_prompt.extensions.programs.sandbox import (
    CheckedProgram,
    Evaluation,
    Isolation,
    evaluate_program,
    launch,
    run_program,
)
from ais_prompt.types import Execution, Request

pytestmark = pytest.mark.process

_PAUSE = """
def _pause():
    import random, time
    time.sleep(random.choice((0, 0, 0.02)))
"""


@pytest.fixture
def unsteady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every process of a sandbox wait at random before it says a thing, so that any order happens."""
    folder = Path(launch.__file__).with_name("inside")
    code = []
    for name in launch._MODULES:
        source = (folder / f"{name}.py").read_text("utf-8")
        if name == "guard":
            source, paused = re.subn(r"(?m)^( +)((?:_say|send|_expect_confined)\()", r"\1_pause(); \2", source)
            assert paused > 6
            source = source.replace("\ndef main()", f"{_PAUSE}\ndef main()")
        code.append((f"{launch._INSIDE}.{name}", compile(source, name, "exec")))
    text = base64.b64encode(marshal.dumps(code, 4)).decode()
    monkeypatch.setattr(launch, "_code", lambda **_: text)
    launch.end_spares()


@pytest.mark.usefixtures("unsteady")
@pytest.mark.parametrize("number", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_every_program_starts_in_whatever_order_its_processes_run(number: int, isolation: Isolation) -> None:
    for value in range(number):
        found = evaluate_program(f"def solution(): return {value}", "solution()", isolation, 30, 256)
        assert found == Evaluation("passed", str(value))
    wrong = evaluate_program("def solution(): return 1 / 0", "solution()", isolation, 30, 256)
    assert wrong == Evaluation("exception", "ZeroDivisionError('division by zero')")
    tested = CheckedProgram("def double(x): return 2 * x", [(["double"], "assert double(2) == 4")])
    assert run_program(tested, isolation, 30, 256) == "passed"
    launch.end_spares()


def test_a_sandbox_that_fails_for_one_program_fails_one_request(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = AgentInferencer(allow_code_execution=True, sandbox=isolation.method)
    asked = Execution("solution()", 10, 256, isolation.method, False)
    request = Request("0", "def solution(): return 'x' * 9000", asked)
    text = json.decode(agent.perform(request).text, type=Evaluation).text
    assert text.startswith("x" * 4096)
    monkeypatch.setattr(launch, "build_filter", lambda *_, **__: b"\xff" * 8)  # no instruction of the kernel
    failure = agent.perform(request).failure
    assert failure is not None
    assert (failure.kind, failure.fatal) == ("sandbox", False)
    assert "does not start" in failure.message
    with pytest.raises(SandboxError):
        evaluate_program("", "1", isolation, 10, 256)
