"""The kinds of isolation that this machine has."""

from __future__ import annotations

import platform

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.extensions.programs.sandbox import Isolation, find_isolation


def isolation_or_skip(name: str) -> Isolation:
    if platform.system() != "Linux":
        pytest.skip("programs are confined on Linux only")
    try:
        return find_isolation(name)
    except ModelError as error:
        pytest.skip(error.what)


# The same programs run with Landlock in `make slow`.
@pytest.fixture(params=["bubblewrap", pytest.param("landlock", marks=pytest.mark.slow)])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return isolation_or_skip(request.param)


@pytest.fixture
def bubblewrap() -> Isolation:
    return isolation_or_skip("bubblewrap")


@pytest.fixture
def landlock() -> Isolation:
    return isolation_or_skip("landlock")
