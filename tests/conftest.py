"""How Hypothesis looks for counterexamples.

As a rule from the same seed in every run, so that a test that fails has most likely been broken by the change at hand;
with ``make search`` from another each time, to find what nobody has broken yet. Never by the clock: machines differ.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from ais_prompt.utils.secrets import SECRETS

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("search", settings.get_profile("steady"), derandomize=False, print_blob=True)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def no_secrets() -> Iterator[None]:
    """What one test keeps secret, another may show."""
    yield
    SECRETS.clear()
