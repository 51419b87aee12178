"""What all tests share: what ``--quick`` or a missing torch leaves out, and how Hypothesis looks for counterexamples.

Hypothesis draws the same examples in every run, so that a test that fails was most likely broken by the change at hand.
``make search`` draws others each time, to find faults that are there already. There are no deadlines: machines differ.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import platform
import re
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from ais_prompt.processes import child as hidden
from ais_prompt.secrets import SECRETS
from tests.support.servers import MockServer, mock_server

NOT_QUICK: Final = frozenset(("browser", "process", "slow", "thorough", "torch"))
"""Markers of tests that ``--quick`` leaves out; pyproject.toml says what each of them means."""
QUICK_EXAMPLES: Final = 10
"""Most examples of a property with ``--quick``, whatever its own settings say."""

settings.register_profile(
    "steady", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=QUICK_EXAMPLES)
settings.register_profile(
    "search", settings.get_profile("steady"), max_examples=200, derandomize=False, print_blob=True
)
settings.load_profile("steady")


SUITE_SECONDS: Final = 2 * 3600
"""How long the server of all tests lives should they be killed: longer than any command of the Makefile takes."""
T = TypeVar("T")
HAS_TORCH: Final = find_spec("torch") is not None
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each program that a test starts would compile the package again
os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads would only wait for each other: the models are tiny


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--quick`` and ``--grids``."""
    parser.addoption("--quick", action="store_true", help="only tests that need nothing but the test process")
    parser.addoption("--grids", action="store_true", help="every combination of tests with the marker grid")


def pytest_configure(config: pytest.Config) -> None:
    """Draw few examples with ``--quick``, and watch that the tests keep to their markers."""
    # The key of the user who runs the tests is not theirs.
    os.environ.setdefault("XDG_STATE_HOME", str(Path(tempfile.gettempdir(), f"aisprompt-tests-{os.getuid()}")))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell without job control starts what it puts into the background so, and the programs that tests start and
        # interrupt would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Nothing outlives a machine that loses power here; waiting for the disk is a tenth of the time of a run.
    os.fsync = lambda _: None
    # After a load, `run -m perf` unfreezes what is frozen below: each collection would look through it from then on.
    gc.unfreeze = lambda: None
    if config.getoption("quick"):
        settings.load_profile("quick")
        config.pluginmanager.register(Watch(), "quick")


def left_out(config: pytest.Config) -> frozenset[str]:
    """Return the markers of tests that are left out, beside those that ``-m`` leaves out."""
    return (NOT_QUICK if config.getoption("quick") else frozenset()) | (frozenset() if HAS_TORCH else {"torch"})


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import a module whose ``pytestmark`` leaves all of it out: it may load torch."""
    if (names := left_out(config)) and collection_path.suffix == ".py":
        mark = re.search(r"^pytestmark = .*", collection_path.read_text("utf-8"), re.MULTILINE)
        if mark and any(f"pytest.mark.{name}" in mark[0] for name in names):
            return True
    return None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name no test after bytes: an archive may hold the time, and both processes must collect the same names."""
    return argname if isinstance(val, bytes) else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test that gets a server from a fixture, directly or through other fixtures."""
    if "running_server" in getattr(item, "fixturenames", ()):
        item.add_marker("process")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep some combinations of each grid; leave out tests by their markers; limit examples with ``--quick``."""
    kept = items if config.getoption("grids") else list(of_grids(items))
    if names := left_out(config):
        kept = [item for item in kept if names.isdisjoint(mark.name for mark in item.iter_markers())]
    ids = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in ids])
    items[:] = [item for item in items if item.nodeid in ids]
    if config.getoption("quick"):
        for item in items:
            limit_examples(item)


def of_grids(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield all tests, but of each function with ``grid(N)`` at most N combinations."""
    functions = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    for tests in functions.values():
        grid = tests[0].get_closest_marker("grid")
        yield from tests if grid is None or len(tests) <= grid.args[0] else corners(tests, grid.args[0])


def corners(tests: list[pytest.Item], count: int) -> Iterator[pytest.Item]:
    """Yield at most so many combinations: all values of an axis that has no more, evenly spread ones of another."""
    marks = [mark.args[0] for mark in tests[0].iter_markers("parametrize")]
    axes = [names.replace(" ", "").split(",") if isinstance(names, str) else names for names in marks]
    given = [test.callspec.params for test in tests]  # type: ignore[attr-defined]
    axes += [[name] for name in given[0] if all(name not in names for names in axes)]  # those of fixtures
    places = [tuple(tuple(id(one[name]) for name in names) for names in axes) for one in given]
    chosen = set(zip(*(spread(dict.fromkeys(values), count) for values in zip(*places, strict=True)), strict=True))
    yield from (test for test, place in zip(tests, places, strict=True) if place in chosen)


def spread(values: Iterable[T], count: int) -> list[T]:
    """Return so many of the values: all of them again and again, or evenly from the first to the last."""
    each = list(values)
    if len(each) <= count:
        return [each[place % len(each)] for place in range(count)]
    return [each[place * (len(each) - 1) // max(count - 1, 1)] for place in range(count)]


def pytest_collection_finish() -> None:
    """Leave what exists by now out of every garbage collection to come: a million objects that stay to the end."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say that tests are missing."""
    if not HAS_TORCH:
        terminalreporter.write_line("torch is not installed: the tests with the marker torch were left out")


def pytest_sessionfinish() -> None:
    """Spare pytest's own five collections at the end what it would look through: all that the tests have left."""
    gc.freeze()


def limit_examples(item: pytest.Item) -> None:
    """Let a property with settings of its own draw no more examples than the others."""
    test = getattr(item, "obj", None)
    # Hypothesis keeps the settings of a test there, for its own plugin; there is no public way to change them.
    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if isinstance(own, settings) and own.max_examples > QUICK_EXAMPLES:
        test._hypothesis_internal_use_settings = settings(own, max_examples=QUICK_EXAMPLES)  # type: ignore[union-attr]


class Watch:
    """Let a test fail with ``--quick`` if it starts a process or loads torch without the marker for it."""

    def __init__(self) -> None:
        self._missing: set[str] = set()
        platform.platform()  # starts uname the first time
        # An audit hook sees every way to start a process, and cannot be removed.
        sys.addaudithook(self._see)

    def _see(self, event: str, args: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"):
            self._missing.add("process")
        elif event == "import" and args[0] == "torch":
            self._missing.add("torch")

    def pytest_runtest_logstart(self) -> None:
        """Forget what happened before this test, such as at its import."""
        self._missing.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Run a test, and fail if a marker is missing. What its fixtures did counts too."""
        yield
        if self._missing:
            pytest.fail(f"this test needs a marker for what it does: {', '.join(sorted(self._missing))}", pytrace=False)


@pytest.fixture(scope="session")
def running_server() -> Iterator[MockServer]:
    with mock_server(lifetime=SUITE_SECONDS) as server:
        yield server


@pytest.fixture
def server(running_server: MockServer) -> MockServer:
    """A mock server that has forgotten the script and the requests of earlier tests."""
    running_server.follow()
    return running_server


@pytest.fixture(scope="session")
def second_running_server() -> Iterator[MockServer]:
    with mock_server(lifetime=SUITE_SECONDS) as server:
        yield server


@pytest.fixture
def second_server(second_running_server: MockServer, server: MockServer) -> MockServer:
    """A second one beside `server`."""
    second_running_server.follow()
    return second_running_server


@pytest.fixture(autouse=True)
def no_secrets() -> Iterator[None]:
    """Let no test see the secrets of another one."""
    yield
    SECRETS.clear()


@pytest.fixture(autouse=True)
def unchanged_process() -> Iterator[None]:
    """Fail if a test leaves the process of all tests different, since it is a later test that breaks then."""
    before = process_state()
    yield
    assert process_state() == before, "this test changes the process for the tests after it"


OURS: Final = ("logging", "ais_prompt.terminal.log")
"""Where handlers of a run come from; pytest adds others."""


def process_state() -> dict[str, object]:
    """What belongs to the whole process, and changes how the program behaves."""
    return {
        "logging.disable": logging.root.manager.disable,
        "logging.raiseExceptions": logging.raiseExceptions,
        "handlers": [str(one) for one in logging.getLogger("ais_prompt").handlers if type(one).__module__ in OURS],
        "level": logging.getLogger("ais_prompt").level,
        "folder": Path.cwd(),
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)},
    }


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look like a process of a notebook: there is an IPython whose shell belongs to a kernel."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


@pytest.fixture
def visible(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process be readable at first, whatever workers of other tests still live."""
    get_dumpable, set_dumpable = 3, 4
    libc = ctypes.CDLL(None)
    before = libc.prctl(get_dumpable, 0, 0, 0, 0)
    monkeypatch.setattr(hidden, "_HIDING", hidden._Hiding())
    libc.prctl(set_dumpable, 1, 0, 0, 0)
    yield
    libc.prctl(set_dumpable, before, 0, 0, 0)
