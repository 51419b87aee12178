"""Agents of OpenCompass: what is asked, run and kept is what OpenCompass 0.5.4 and lagent 0.1.2 do, to the byte."""

from __future__ import annotations

import pytest

from tests.support.agent_cases import CASES
from tests.support.agent_turns import expected, our_turns

pytestmark = pytest.mark.process
EXPECTED = expected()


@pytest.mark.parametrize("name", CASES)
def test_the_turns_are_those_of_opencompass(name: str) -> None:
    assert our_turns(CASES[name]) == EXPECTED[name]
