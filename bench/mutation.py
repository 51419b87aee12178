"""Which share of small changes of the code the tests notice: the mutation score of the files that matter most.

    python -m bench.mutation                                    # 25 mutants of each file; --samples N, --all, --seed
    python -m bench.mutation --only metrics/interval -- --quick tests/unit      # what follows goes to pytest

A mutant is killed by a test that fails or hangs with it. The tests that reach its place judge it, the fastest modules
first, until one fails. A run of all tests with every mutant switched off finds them once; ``--cache`` keeps the result.

All tests judge but those with a marker ``browser``, ``real``, ``slow`` or ``torch``, those that take longer than
``--longest`` seconds, and those that fail without mutants. What happens in other processes is not seen.

The sample depends on the names and the code of functions, not on their files: after a function or a test has moved, the
same mutants are drawn; only `TARGETS` must name the new file. Nothing is written to the package: an import hook
compiles the mutants into its modules, the tests are collected once, and a fork of that process judges each mutant.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple, NoReturn, TypeVar

import pytest

from bench.mutants import SWITCH, Mutant, mutated

ROOT: Final = Path(__file__).parents[1]
TARGETS: Final = {
    "scoring/scorer": ("ais_prompt.scoring.scorer",),
    "engine/infer": ("ais_prompt.engine.infer",),
    "models/asking": ("ais_prompt.models.asking",),
    "prompts/compiled": ("ais_prompt.prompts.compiled",),
    "metrics/interval": ("ais_prompt.metrics.interval",),
    "store/journal": ("ais_prompt.store.journal",),
}
"""Row of the table → the modules that hold its functions. Rows keep their names, so that they can be compared."""

PYTEST: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "-m", "not (browser or real or slow or torch)")
PATIENCE: Final = 10
"""A test hangs if it takes so many seconds, and so many times its own time, longer than without the mutant."""
MEMORY: Final = 8 << 30
"""Bytes of address space of a fork: an endless loop must not take all the memory of the machine."""

T = TypeVar("T")


class Mutants(MetaPathFinder):
    """The mutants of all targets, and the import hook that compiles them into their modules.

    Attributes:
        all: row of the table, file and mutant, at the place of its number.
        active: the number of the active mutant; None if the code is as it is.
        reached: numbers of the mutants whose places were reached, while none is active.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, str, Mutant]] = []
        self.active: int | None = None
        self.reached: set[int] = set()
        self._code: dict[str, CodeType] = {}
        for row, modules in TARGETS.items():
            for module in modules:
                path = f"{module.replace('.', '/')}.py"
                tree, mutants = mutated((ROOT / path).read_text("utf-8"), len(self.all))
                self._code[module] = compile(tree, str(ROOT / path), "exec")
                self.all += [(row, path, mutant) for mutant in mutants]

    def find_spec(self, fullname: str, path: Sequence[str] | None, _: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module that has mutants."""
        spec = PathFinder.find_spec(fullname, path) if fullname in self._code else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin, self._code[fullname], self.is_active)
        return spec

    def is_active(self, number: int) -> bool:
        """Return whether a mutant is active."""
        if self.active is None:
            self.reached.add(number)
        return number == self.active

    def sample(self, row: str, count: int | None, seed: int) -> list[int]:
        """Draw numbers of mutants of a row, or return all of them; in the order of the code."""

        def draw(number: int) -> bytes:
            return hashlib.sha256(f"{seed} {self.all[number][2].key}".encode()).digest()

        return sorted(sorted((number for number, (of, *_) in enumerate(self.all) if of == row), key=draw)[:count])


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType, is_active: Callable[[int], bool]) -> None:
        super().__init__(name, path)
        self._code = code
        self._is_active = is_active

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[SWITCH] = self._is_active
        exec(self._code, vars(module))


class Verdict(NamedTuple):
    """What happened to a mutant.

    Attributes:
        number: of the mutant.
        tests: how many tests reach its place.
        killer: the test that failed; empty if all passed.
    """

    number: int
    tests: int
    killer: str


class Baseline(NamedTuple):
    """What a run of the tests finds while no mutant is active.

    Attributes:
        seconds: test → its time.
        failed: tests that failed.
        reached: number of a mutant, as text → tests that reach its place, and modules of tests whose fixtures do.
    """

    seconds: dict[str, float]
    failed: list[str]
    reached: dict[str, list[str]]


class Judge:
    """A plugin of pytest that judges mutants in place of running the tests once.

    Args:
        mutants: all of them.
        numbers: the mutants to judge.
        options: of the command line.
        tell: shows progress.

    Attributes:
        verdicts: the results.
    """

    def __init__(
        self, mutants: Mutants, numbers: Sequence[int], options: argparse.Namespace, tell: Callable[[str], None]
    ) -> None:
        self.verdicts: list[Verdict] = []
        self._mutants = mutants
        self._numbers = numbers
        self._options = options
        self._tell = tell
        self._measured: Baseline | None = None  # in the fork that measures

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge the mutants."""
        if session.testsfailed:
            raise session.Interrupted("a module of tests cannot be imported")
        self._items = {item.nodeid: item for item in session.items}
        self._baseline = self._read_baseline()
        usable = {test for test, seconds in self._baseline.seconds.items() if seconds <= self._options.longest}
        usable.difference_update(self._baseline.failed)
        self._tell(
            f"{len(usable)} of {len(self._items)} tests judge; {len(self._baseline.failed)} fail without mutants"
        )
        with tempfile.TemporaryDirectory() as folder:
            todo = list(self._numbers)
            while todo:
                todo = self._judge(todo, usable, Path(folder))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the process if a test fails; without mutants, note the test and what it reached."""
        if self._measured is None:
            if report.failed:
                os._exit(1)
            return
        times, failed, reached = self._measured
        times[report.nodeid] = times.get(report.nodeid, 0.0) + report.duration
        failed += [report.nodeid] if report.failed else []
        # A fixture may work for all tests of its module.
        name = _module(report.nodeid) if report.when == "setup" else report.nodeid
        for number in self._mutants.reached:
            reached.setdefault(str(number), []).append(name)
        self._mutants.reached.clear()

    def _read_baseline(self) -> Baseline:
        """Return what the tests reach, from the cache if neither mutants nor names of tests have changed since."""
        names = [(row, mutant.key) for row, _, mutant in self._mutants.all], list(self._items)
        digest = hashlib.sha256(repr(names).encode()).hexdigest()[:16]
        path = self._options.cache / f"{digest}.json"
        if not path.exists() or self._options.fresh:
            self._tell(f"running {len(self._items)} tests without mutants")
            path.parent.mkdir(parents=True, exist_ok=True)
            for _, status in _forked(self._measure, [path], 1):
                if status:
                    raise pytest.UsageError(f"the tests without mutants ended with {status}")
        return Baseline(*json.loads(path.read_text("utf-8")))

    def _measure(self, path: Path) -> None:
        self._measured = Baseline({}, [], {})
        self._mutants.reached.clear()
        items = list(self._items.values())
        for item, following in zip(items, [*items[1:], None], strict=False):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        path.write_text(json.dumps(self._measured), "utf-8")

    def _judge(self, numbers: Sequence[int], usable: set[str], folder: Path) -> list[int]:
        """Judge mutants; return those to judge again, as their killer fails without them too, and is not usable."""
        judges = {number: self._judges(number, usable) for number in numbers}
        again = []
        runs = _forked(lambda number: self._run(number, judges[number], folder), numbers, self._options.jobs)
        for number, status in runs:
            killer = (folder / str(number)).read_text("utf-8") if status else ""
            if killer and self._fails_alone(killer, folder):
                self._tell(f"{killer} fails alone without mutants")
                usable.discard(killer)
                again.append(number)
                continue
            self.verdicts.append(Verdict(number, len(judges[number]), killer))
            outcome = "hangs" if status == signal.SIGALRM else "killed" if killer else "survived"
            self._tell(f"{len(self.verdicts)} of {len(self._numbers)}: {outcome}")
        return again

    def _judges(self, number: int, usable: Collection[str]) -> list[str]:
        """Return the tests that reach a mutant: module by module, the fastest module first."""
        reached = set(self._baseline.reached.get(str(number), ()))
        tests = [test for test in self._items if test in usable and (test in reached or _module(test) in reached)]
        seconds = defaultdict[str, float](float)
        for test in tests:
            seconds[_module(test)] += self._baseline.seconds[test]
        return sorted(tests, key=lambda test: (seconds[_module(test)], _module(test)))

    def _fails_alone(self, test: str, folder: Path) -> bool:
        """Return whether a test fails without mutants, in a fork of its own."""
        return any(status for _, status in _forked(lambda one: self._run(None, [one], folder), [test], 1))

    def _run(self, number: int | None, tests: Sequence[str], folder: Path) -> None:
        """Run tests with a mutant, or without, and write down which runs. The first that fails or hangs ends all."""
        self._mutants.active = -1 if number is None else number
        items = [self._items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=False):
            (folder / str(number)).write_text(item.nodeid, "utf-8")
            signal.alarm(int(PATIENCE * (1 + self._baseline.seconds[item.nodeid])))  # ends the process
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            signal.alarm(0)


def _module(test: str) -> str:
    return test.partition("::")[0]


def _forked(task: Callable[[T], None], values: Iterable[T], jobs: int) -> Iterator[tuple[T, int]]:
    """Call a task for each value in a fork of this process; yield each value, in turn, with the status of its fork."""
    waiting, running = deque(values), dict[int, T]()
    while waiting or running:
        while waiting and len(running) < jobs:
            value = waiting.popleft()
            if (process := os.fork()) == 0:
                _end_after(task, value)
            running[process] = value
        process = next(iter(running))
        _, status = os.waitpid(process, 0)
        with suppress(ProcessLookupError):  # what the tests have left
            os.killpg(process, signal.SIGKILL)
        yield running.pop(process), status


def _end_after(task: Callable[[T], None], value: T) -> NoReturn:
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        task(value)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def main() -> None:
    """Judge the mutants of each file, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS), help="rows of the table")
    parser.add_argument("--samples", type=int, default=25, help="mutants of each file")
    parser.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=2.0, help="most seconds of a test that judges")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), f"aisprompt-mutation-{os.getuid()}"))
    parser.add_argument("--fresh", action="store_true", help="do not use the cache")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    os.chdir(ROOT)
    mutants = Mutants()
    drawn = {row: mutants.sample(row, None if options.all else options.samples, options.seed) for row in options.only}
    sys.meta_path.insert(0, mutants)
    output, errors, started = os.dup(1), os.dup(2), time.monotonic()

    def tell(text: str) -> None:
        os.write(errors, f"{time.monotonic() - started:6.0f} s  {text}\n".encode())

    judge = Judge(mutants, [number for numbers in drawn.values() for number in numbers], options, tell)
    with tempfile.TemporaryFile() as shown:
        for descriptor in (1, 2):  # of all forks
            os.dup2(shown.fileno(), descriptor)
        status = pytest.main([*PYTEST, *options.pytest], plugins=[judge])
        os.dup2(output, 1)
        os.dup2(errors, 2)
        if status:
            shown.seek(0)
            sys.exit(shown.read().decode("utf-8", "replace"))
    rows = [Row.of_verdicts(row, judge.verdicts, mutants) for row in drawn]
    if options.json:
        print(json.dumps([row._asdict() for row in rows], indent=1, ensure_ascii=False))
        return
    print(f"{'file':20}{'mutants':>8}{'of':>6}{'killed':>8}{'survived':>10}{'score':>8}   95 %")
    for row in rows:
        print(
            f"{row.file:20}{row.mutants:8}{row.of:6}{row.killed:8}{len(row.survivors):10}{row.score:8.0%}"
            f"   {row.low:.0%} to {row.high:.0%}"
        )
    for row in rows:
        print(f"\n{row.file}", *row.survivors, sep="\n    ")


class Row(NamedTuple):
    """The result of a file.

    Attributes:
        file: the row of the table.
        mutants: how many were judged.
        of: how many there are.
        killed: how many were noticed.
        score: the share of killed mutants, with its 95 % interval from ``low`` to ``high`` (Wilson 1927).
        survivors: place and change of the others, and how many tests reach them.
    """

    file: str
    mutants: int
    of: int
    killed: int
    score: float
    low: float
    high: float
    survivors: list[str]

    @classmethod
    def of_verdicts(cls, file: str, verdicts: Iterable[Verdict], mutants: Mutants) -> Row:
        """Count the verdicts about the mutants of a file."""
        from ais_prompt.metrics.interval import wilson_interval  # only now: the import hook must see it first

        own = sorted(verdict for verdict in verdicts if mutants.all[verdict.number][0] == file)
        survivors = []
        for number, tests, killer in own:
            _, path, mutant = mutants.all[number]
            if not killer:
                survivors.append(f"{path}:{mutant.line} {mutant.function}: {mutant.change} ({tests} tests)")
        killed = len(own) - len(survivors)
        of = sum(row == file for row, *_ in mutants.all)
        low, high = wilson_interval(killed, len(own))
        return cls(file, len(own), of, killed, killed / len(own), low, high, survivors)


if __name__ == "__main__":
    main()
