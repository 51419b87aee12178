"""Agents of OpenCompass and lagent 0.1.2, really run, have the turns that the tests of every machine expect.

``AISPROMPT_AGENT_PYTHON`` names a Python that imports both. `python -m tests.extensions.peer_loaders.test_agents`
writes the file of their turns again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support import agent_cases
from tests.support.agent_turns import EXPECTED, expected, shortened

VARIABLE: Final = "AISPROMPT_AGENT_PYTHON"


def their_turns() -> dict[str, Any]:
    program = Path(__file__).with_name("their_agents.py")
    command = [os.environ[VARIABLE], str(program), agent_cases.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.process
@pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no Python with OpenCompass and lagent")
def test_their_agents_have_the_expected_turns() -> None:
    assert their_turns() == expected()


if __name__ == "__main__":
    EXPECTED.write_text(shortened(their_turns()), "utf-8")
