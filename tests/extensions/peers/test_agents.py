"""Agents of OpenCompass: what is asked, run and kept is what OpenCompass 0.5.4 and lagent 0.1.2 do, to the byte."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.peers.agent import peer_step, steps_of
from tests.support.agent_cases import CASES
from tests.support.agent_turns import expected, our_turns

pytestmark = pytest.mark.process
EXPECTED = expected()


@pytest.mark.parametrize("name", CASES)
def test_the_turns_are_those_of_opencompass(name: str) -> None:
    assert our_turns(CASES[name]) == EXPECTED[name]


@pytest.mark.parametrize("name", CASES)
def test_imported_steps_are_those_of_opencompass(name: str) -> None:
    steps = EXPECTED[name]["steps"]
    assert [peer_step(step) for step in steps_of(steps)] == steps


@pytest.mark.parametrize("steps", [None, "text", 3, [None, 3], {}, [{}], [{"args": "x", "result": 3, "type": {}}]])
def test_steps_of_another_form_end_no_import(steps: object) -> None:
    assert all(step.status == "error" for step in steps_of(steps))
