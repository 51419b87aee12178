"""Which share of small changes of the code the tests notice: the mutation score of the files that matter most.

    python -m bench.mutation                                    # 25 mutants of each file; --samples N, --all, --seed
    python -m bench.mutation --only metrics/interval -- --quick tests/core/unit      # what follows goes to pytest

A mutant is killed by a test that fails or hangs with it. The tests that reach its place judge it, the fastest modules
first, until one fails. A run of all tests with every mutant switched off finds them once; ``--cache`` keeps the result.

All tests judge but those with a marker ``browser``, ``real``, ``slow`` or ``torch``, those that take longer than
``--longest`` seconds, and those that fail without mutants; each mutant is judged for at most ``--most`` seconds. What
happens in other processes is not seen.

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
from itertools import accumulate
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import pytest
from hypothesis import Phase, settings

from bench.mutants import SWITCH, Mutant, mutated

ROOT: Final = Path(__file__).parents[1]
TARGETS: Final = {
    "scoring/scorer": ("ais_prompt.scoring.scorer",),
    "engine/infer": ("ais_prompt.engine.job", "ais_prompt.engine.conversations"),
    "models/asking": ("ais_prompt.models.api.asking", "ais_prompt.models.api.outage"),
    "prompts/compiled": ("ais_prompt.prompts.compiled",),
    "metrics/interval": ("ais_prompt.metrics.interval",),
    "store/journal": ("ais_prompt.store.journal",),
}
"""File of the table → the modules with its functions now. The names stay, so that tables can be compared."""

PYTEST: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "-m", "not (browser or real or slow or torch)")
LONGEST_WORK: Final = 10
"""A test hangs if it takes so many seconds of the processor, and so many times its own time, more than before."""
LONGEST_WAIT: Final = 60
"""The same in seconds that pass, whatever else the machine does."""
MEMORY: Final = 8 << 30
"""Bytes of address space of a fork: an endless loop must not take all the memory of the machine."""

T = TypeVar("T")


class Mutants(MetaPathFinder):
    """The mutants of all targets, and the import hook that compiles them into their modules.

    Attributes:
        all: file of the table, path and mutant, at the place of its number.
        active: the number of the active mutant; None if the code is as it is.
        reached: numbers of the mutants whose places were reached, while none is active.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, str, Mutant]] = []
        self.active: int | None = None
        self.reached: set[int] = set()
        self._code: dict[str, CodeType] = {}
        for file, modules in TARGETS.items():
            for module in modules:
                path = f"{module.replace('.', '/')}.py"
                tree, mutants = mutated((ROOT / path).read_text("utf-8"), len(self.all))
                self._code[module] = compile(tree, str(ROOT / path), "exec")
                self.all += [(file, path, mutant) for mutant in mutants]

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

    def sample(self, file: str, count: int | None, seed: int) -> list[int]:
        """Draw numbers of mutants of a file, all of them without a count; in the order of the code."""

        def draw(number: int) -> bytes:
            return hashlib.sha256(f"{seed} {self.all[number][2].key}".encode()).digest()

        return sorted(sorted((number for number, (of, *_) in enumerate(self.all) if of == file), key=draw)[:count])


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
        file: as in `TARGETS`.
        place: path and line.
        change: its function, and what changes there; with the file, the name of the mutant.
        tests: how many tests reach the place.
        killer: the test that failed; empty if all passed.
    """

    file: str
    place: str
    change: str
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
        # Whether a property fails matters, not the smallest counterexample.
        settings.register_profile("unshrunk", phases=(Phase.explicit, Phase.generate))
        settings.load_profile("unshrunk")
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
        names = [(file, mutant.key) for file, _, mutant in self._mutants.all], list(self._items)
        digest = hashlib.sha256(repr(names).encode()).hexdigest()[:16]
        path = self._options.cache / f"{digest}.json"
        if not path.exists():
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
            file, path, mutant = self._mutants.all[number]
            place = f"{path}:{mutant.line}"
            self.verdicts.append(Verdict(file, place, mutant.key, len(judges[number]), killer))
            outcome = "hangs" if status in (signal.SIGALRM, signal.SIGPROF) else "killed" if killer else "survived"
            self._tell(f"{len(self.verdicts)} of {len(self._numbers)}: {outcome}")
        return again

    def _judges(self, number: int, usable: Collection[str]) -> list[str]:
        """Return the tests that reach a mutant, module by module, the fastest first, until the time is used up."""
        reached = set(self._baseline.reached.get(str(number), ()))
        modules = defaultdict(list)
        for test in self._items:
            if test in usable and (test in reached or _module(test) in reached):
                modules[_module(test)].append(test)
        times = {module: sum(self._baseline.seconds[test] for test in tests) for module, tests in modules.items()}
        fastest = sorted(times, key=times.__getitem__)
        ends = accumulate(times[module] for module in fastest)
        return [
            test
            for module, end in zip(fastest, ends, strict=True)
            if end <= self._options.most
            for test in modules[module]
        ]

    def _fails_alone(self, test: str, folder: Path) -> bool:
        """Return whether a test fails without mutants, in a fork of its own."""
        return any(status for _, status in _forked(lambda one: self._run(None, [one], folder), [test], 1))

    def _run(self, number: int | None, tests: Sequence[str], folder: Path) -> None:
        """Run tests with a mutant, or without, and write down which runs. The first that fails or hangs ends all."""
        self._mutants.active = -1 if number is None else number
        items = [self._items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=False):
            (folder / str(number)).write_text(item.nodeid, "utf-8")
            before = self._baseline.seconds[item.nodeid]
            signal.setitimer(signal.ITIMER_PROF, LONGEST_WORK * (1 + before))  # both signals end the process
            signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT + LONGEST_WORK * before)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            signal.setitimer(signal.ITIMER_REAL, 0)


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


def table_of(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return a row for each file: its mutants, those that were killed, and their share with its Wilson interval."""
    from ais_prompt.metrics import wilson_interval  # only now: the import hook must see it first

    rows = []
    for file in dict.fromkeys(verdict.file for verdict in verdicts):
        killers = [verdict.killer for verdict in verdicts if verdict.file == file]
        killed, mutants = sum(map(bool, killers)), len(killers)
        low, high = wilson_interval(killed, mutants)
        rows.append(
            {"file": file, "mutants": mutants, "killed": killed, "score": killed / mutants, "95 %": [low, high]}
        )
    return rows


def main() -> None:
    """Judge the mutants of each file, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS), help="files of the table")
    parser.add_argument("--samples", type=int, default=25, help="mutants of each file")
    parser.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against", type=Path, help="the --json of an earlier run: lists mutants that it killed")
    parser.add_argument("--longest", type=float, default=2.0, help="most seconds of a test that judges")
    parser.add_argument("--most", type=float, default=60.0, help="most seconds of all tests that judge a mutant")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), f"aisprompt-mutation-{os.getuid()}"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    os.chdir(ROOT)
    mutants = Mutants()
    sys.meta_path.insert(0, mutants)
    count = None if options.all else options.samples
    numbers = [number for file in options.only for number in mutants.sample(file, count, options.seed)]
    output, errors, started = os.dup(1), os.dup(2), time.monotonic()

    def tell(text: str) -> None:
        os.write(errors, f"{time.monotonic() - started:6.0f} s  {text}\n".encode())

    judge = Judge(mutants, numbers, options, tell)
    with tempfile.TemporaryFile() as shown:
        for descriptor in (1, 2):  # those of all forks too
            os.dup2(shown.fileno(), descriptor)
        status = pytest.main([*PYTEST, *options.pytest], plugins=[judge])
        os.dup2(output, 1)
        os.dup2(errors, 2)
        if status:
            shown.seek(0)
            sys.exit(shown.read().decode("utf-8", "replace"))
    table, verdicts = table_of(judge.verdicts), [verdict._asdict() for verdict in judge.verdicts]
    if options.json:
        print(json.dumps({"table": table, "verdicts": verdicts}, indent=1, ensure_ascii=False))
        return
    print(f"{'file':20}{'mutants':>8}{'killed':>8}{'survived':>10}{'score':>8}   95 %")
    for file, of, killed, score, (low, high) in map(dict.values, table):
        print(f"{file:20}{of:8}{killed:8}{of - killed:10}{score:8.0%}   {low:.0%} to {high:.0%}")
    earlier = json.loads(options.against.read_text("utf-8"))["verdicts"] if options.against else ()
    killers = {(verdict["file"], verdict["change"]): verdict["killer"] for verdict in earlier}
    for verdict in judge.verdicts:
        if not verdict.killer:
            before = killers.get((verdict.file, verdict.change))
            lost = f"; killed before by {before}" if before else ""
            print(f"\n{verdict.place} ({verdict.tests} tests{lost})\n    {verdict.change}")


if __name__ == "__main__":
    main()
