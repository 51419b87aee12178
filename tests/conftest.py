"""What all tests share: which of them ``make quick`` leaves out, and how Hypothesis looks for counterexamples.

Hypothesis draws the same examples in every run, so that a test that fails was most likely broken by the change at hand.
``make search`` draws others each time, to find faults that are there already. There are no deadlines: machines differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from ais_prompt.utils.secrets import SECRETS

TESTS: Final = Path(__file__).parent

NOT_QUICK: Final = {
    "browser/": "browser",
    "e2e/test_code_execution.py": "process",
    "e2e/test_demo.py": "model",
    "e2e/test_documents.py": "model",
    "e2e/test_examples.py": "model",
    "e2e/test_isolation.py": "thorough",
    "e2e/test_media.py": "model",
    "e2e/test_perplexity.py": "model",
    "e2e/test_resume.py": "process",
    "e2e/test_run_folder_versions.py": "process",
    "hostile/": "process",
    "unit/evaluators/code/": "process",
    "unit/models/huggingface/": "model",
    "unit/retrievers/test_encoders.py": "model",
    "unit/tools/": "model",
}
"""The start of a path below ``tests/`` → the marker of the tests there. The markers are explained in pyproject.toml.

A module that imports `tests.servers` is marked ``server`` without an entry.
"""

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=10)
settings.register_profile("search", settings.get_profile("steady"), derandomize=False, print_blob=True)
settings.load_profile("steady")


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark the tests that need more than the test process."""
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        for start, marker in NOT_QUICK.items():
            if place.startswith(start):
                item.add_marker(marker)
        if isinstance(item, pytest.Function) and "mock_server" in vars(item.module):
            item.add_marker("server")


@pytest.fixture(autouse=True)
def no_secrets() -> Iterator[None]:
    """Let no test see the secrets of another one."""
    yield
    SECRETS.clear()


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look like a process of a notebook: there is an IPython whose shell belongs to a kernel."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
