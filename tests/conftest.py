"""What all tests share: what ``--quick`` leaves out, and how Hypothesis looks for counterexamples.

Hypothesis draws the same examples in every run, so that a test that fails was most likely broken by the change at hand.
``make search`` draws others each time, to find faults that are there already. There are no deadlines: machines differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from ais_prompt.utils.secrets import SECRETS

TESTS: Final = Path(__file__).parent

NOT_QUICK: Final = {
    "browser/": "needs Chromium",
    "e2e/test_code_execution.py": "starts programs in the sandbox",
    "e2e/test_demo.py": "loads a model with torch",
    "e2e/test_documents.py": "loads a model with torch",
    "e2e/test_examples.py": "loads a model with torch",
    "e2e/test_isolation.py": "breaks every method of every protocol",
    "e2e/test_media.py": "loads a model with torch",
    "e2e/test_perplexity.py": "loads a model with torch",
    "e2e/test_resume.py": "starts processes and kills them",
    "e2e/test_role_template.py": "loads a model with torch",
    "e2e/test_run_folder_versions.py": "starts processes and kills them",
    "hostile/": "starts programs in the sandbox",
    "property/test_causes.py": "compares many runs",
    "property/test_extraction_work.py": "counts the work on long texts",
    "property/test_file_shapes.py": "tries many files",
    "unit/cli/test_completion.py": "starts shells",
    "unit/cli/test_startup.py": "starts processes",
    "unit/evaluators/code/": "starts programs in the sandbox",
    "unit/metrics/test_claims.py": "simulates many runs",
    "unit/models/huggingface/": "loads a model with torch",
    "unit/retrievers/test_encoders.py": "loads a model with torch",
    "unit/tools/": "loads a model with torch",
}
"""The start of a path below ``tests/`` → why ``--quick`` leaves it out. Modules with a `mock_server` need no entry."""

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=10)
settings.register_profile("search", settings.get_profile("steady"), derandomize=False, print_blob=True)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--quick``."""
    parser.addoption("--quick", action="store_true", help="only tests that need nothing but the test process")


def pytest_configure(config: pytest.Config) -> None:
    """Draw few examples with ``--quick``.

    Raises:
        pytest.UsageError: an entry of `NOT_QUICK` has no file, since it was moved.
    """
    if config.getoption("quick"):
        settings.load_profile("quick")
    if missing := [place for place in NOT_QUICK if not (TESTS / place).exists()]:
        raise pytest.UsageError(f"NOT_QUICK in tests/conftest.py names what is not there: {', '.join(missing)}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out, with ``--quick``, what is in the table, and servers. It is not even imported, and so is no torch."""
    if not config.getoption("quick"):
        return None
    place = collection_path.relative_to(TESTS).as_posix() + "/" * collection_path.is_dir()
    uses_server = collection_path.suffix == ".py" and "mock_server(" in collection_path.read_text("utf-8")
    return True if uses_server or place.startswith(tuple(NOT_QUICK)) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, with ``--quick``, single tests that try very many cases."""
    if config.getoption("quick"):
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


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
