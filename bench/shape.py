"""Measure the shape of the code: its size by room and extension, and what a run passes through.

    python -m bench.shape [--street] [--tests JUNIT.xml]

Size is counted in lines of code: neither blank nor comment nor docstring. What is passed through is counted in
processes of their own, by `sys.setprofile` in all threads: functions of the package that are called, the files that
they are in, and modules of the package that are imported. The commands are those of the README on a file of questions,
asked of the mock server: ``run --url … --data FILE``, then ``view-prompt`` of the config that this run kept, and
``score``. One more sample costs what a run of eleven calls more often than a run of ten, in both of two repeats; those
without a name are lambdas and, before Python 3.12, comprehensions.

``--street`` lists the functions that one more sample costs, by file. ``--tests`` adds the tests and their seconds by
folder, from a report of ``pytest --junitxml JUNIT.xml``.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from tests.support.servers import mock_server

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "ais_prompt"
EXTENSIONS: Final = PACKAGE / "extensions"
WORDS: Final = ("num_prompts", "retry_truncated")
"""An option and a key: how often each occurs shows how many places a change of one touches."""


class Measured(NamedTuple):
    """A function, and how large it is.

    Attributes:
        name: its name.
        lines: without decorators.
        complexity: the cyclomatic complexity (McCabe 1976): its decisions, those of nested functions included, and one.
    """

    name: str
    lines: int
    complexity: int


def measured_functions(tree: ast.AST) -> Iterator[Measured]:
    """Measure every function of a module, methods included."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (function.end_lineno or 0) - function.lineno + 1
            yield Measured(function.name, lines, 1 + sum(map(_decisions, ast.walk(function))))


_DECISIONS: Final = frozenset(
    (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert)
)


def _decisions(node: ast.AST) -> int:
    """Return how many decisions a node is; ``a and b and c`` are two."""
    return len(node.values) - 1 if isinstance(node, ast.BoolOp) else int(type(node) in _DECISIONS)


def lines_of_code(text: str) -> int:
    """Return how many lines of a module are neither blank nor comment nor docstring."""
    docs: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        for statement in getattr(node, "body", ()) if isinstance(getattr(node, "body", None), list) else ():
            if isinstance(statement, ast.Expr) and isinstance(value := statement.value, ast.Constant):
                docs.update(range(value.lineno, (value.end_lineno or 0) + 1) if isinstance(value.value, str) else ())
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        number not in docs and bool(line.strip()) and not line.lstrip().startswith("#") for number, line in lines
    )


def owner(path: Path) -> str:
    """Return ``core``, or the name of the extension that a file of the package belongs to."""
    parts = path.relative_to(PACKAGE).parts
    return parts[1] if parts[0] == "extensions" and len(parts) > 2 else "core"


def show_size(texts: dict[Path, str]) -> None:
    """Print files, lines of code and functions."""
    sizes: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path, text in texts.items():
        sizes[owner(path)] += lines_of_code(text)
        files[owner(path)] += 1
    for name, lines in [*sizes.most_common(), ("all together", sizes.total())]:
        print(f"{name}: {lines:,} lines of code in {files.get(name, files.total())} files")
    trees = {path: ast.parse(text) for path, text in texts.items()}
    found = [function for tree in trees.values() for function in measured_functions(tree)]
    lengths = sorted(function.lines for function in found)
    over = sum(function.complexity > 10 for function in found)
    median, p95 = statistics.median(lengths), lengths[int(0.95 * len(lengths))]
    print(f"{len(found):,} functions: lines median {median:.0f}, p95 {p95}, max {lengths[-1]}; complexity > 10: {over}")
    private = single = 0
    for tree in trees.values():
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))
        uses = Counter(node.id if isinstance(node, ast.Name) else node.attr for node in nodes)
        names = [one.name for one in measured_functions(tree) if re.match(r"_(?!_)", one.name)]
        private += len(names)
        single += sum(uses[name] <= 1 for name in names)
    print(f"private functions: {private:,}, of which {single / private:.0%} have one caller")


def show_border(texts: dict[Path, str]) -> None:
    """Print how many core files name an extension, how often `WORDS` occur, and which file stems occur twice."""
    names = sorted(path.parent.name for path in EXTENSIONS.glob("*/__init__.py"))
    dotted = re.compile(rf"extensions[./]({'|'.join(names)})\b")
    word = re.compile(rf"\b({'|'.join(names)})\b")
    core = {path: text for path, text in texts.items() if owner(path) == "core"}
    for title, pattern in (("the module of an extension", dotted), ("the word of one", word)):
        print(f"core files that contain {title}: {sum(bool(pattern.search(text)) for text in core.values())}")
    listed = EXTENSIONS / "names.json"  # older commits have none
    brought = json.loads(listed.read_text("utf-8")) if listed.exists() else {"-": ""}
    parts = re.compile(rf"\b({'|'.join(name for name in brought if not name.islower())})\b")
    print(f"core files that contain a part of one: {sum(bool(parts.search(text)) for text in core.values())}")
    for name in WORDS:
        counts = [len(re.findall(rf"\b{name}\b", text)) for text in texts.values()]
        print(f"{name}: {sum(counts)} times in {sum(map(bool, counts))} files")
    stems = Counter(path.stem for path in texts if path.stem not in ("__init__", "__main__"))
    twice = sorted(stem for stem, count in stems.items() if count > 1)
    print(f"file stems twice: {len(twice)}: {', '.join(twice)}")


class Passed(NamedTuple):
    """What a command passes through.

    Attributes:
        calls: (file, function) → how often it was called.
        modules: the modules of the package that were imported.
    """

    calls: Counter[tuple[str, str]]
    modules: list[str]

    @property
    def files(self) -> set[str]:
        """The files with a function that was called."""
        return {file for file, _ in self.calls}


def passed(folder: Path, *args: str) -> Passed:
    """Run ``aisprompt ARGS`` in a folder, in a process of its own, and return what it passes through."""
    found = folder / "passed.json"
    command = [sys.executable, "-m", "bench.shape", "--trace", str(found), "--", *args]
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(args)} ended with {done.returncode}:\n{done.stderr}")
    written = json.loads(found.read_text("utf-8"))
    return Passed(Counter({(file, name): count for file, name, count in written["calls"]}), written["modules"])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"}


def trace(found: Path, args: list[str]) -> int:
    """Run a command line in this process, write what it passes through, and return its exit code."""
    calls: Counter[tuple[str, str]] = Counter()

    def profile(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        code = frame.f_code
        # Bodies of modules and classes are code without this flag.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(str(PACKAGE)):
            calls[code.co_filename, code.co_qualname] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    code: Any = 0
    try:
        from ais_prompt.cli import main

        main(args)
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    modules = sorted(name for name in sys.modules if name.partition(".")[0] == "ais_prompt")
    written = {"calls": [(*key, count) for key, count in calls.items()], "modules": modules}
    found.write_text(json.dumps(written), "utf-8")
    return int(code)


def show_passed(*, street: bool) -> None:
    """Print what the commands of the README pass through, and what one more sample does; its functions if asked."""
    with tempfile.TemporaryDirectory() as place, mock_server() as server:
        folder = Path(place)

        def run(rows: int) -> Passed:
            lines = [json.dumps({"question": f"{row}+1=?", "answer": str(row + 1)}) for row in range(rows)]
            (folder / "questions.jsonl").write_text("\n".join(lines), "utf-8")
            # A folder for each run: a run also looks at the runs before it, which are no samples of it.
            work = tempfile.mkdtemp(dir=folder)
            return passed(folder, "run", "--url", server.base_url, "--data", "questions.jsonl", "-w", work)

        ten = run(10)
        kept = str(next(folder.glob("*/*/*/config.py")))
        stored = str(Path(kept).parent)
        shown = {
            "run": ten,
            "view-prompt": passed(folder, "view-prompt", kept),
            "score": passed(folder, "score", stored),
        }
        for name, one in shown.items():
            print(f"{name}: calls into {len(one.files)} files, imports {len(one.modules)} modules", end="")
            names = Counter(
                module.split(".")[2] for module in one.modules if re.match(r"ais_prompt\.extensions\.", module)
            )
            print(f" ({', '.join(f'{name} {count}' for name, count in names.items())})")
        more = []
        for _ in range(2):
            before, after = run(10).calls, run(11).calls
            more.append({function for function, count in after.items() if count > before[function]})
        warm = {(file, name) for file, name in more[0] & more[1] if not name.endswith(">")}
        files: defaultdict[str, list[str]] = defaultdict(list)
        for file, name in sorted(warm):
            files[str(Path(file).relative_to(PACKAGE))].append(name)
        for file, functions in files.items() if street else ():
            print(f"  {file}: {', '.join(functions)}")
        print(f"one more sample: {len(warm)} named functions in {len(files)} files")


def show_tests(report: Path) -> None:
    """Print tests and their seconds by folder."""
    seconds: defaultdict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):  # it is our own file
        parts = case.get("classname", "").split(".")
        folder = "/".join(parts[: 3 if parts[1:2] in (["unit"], ["extensions"]) else 2])
        seconds[folder] += float(case.get("time", 0))
        count[folder] += 1
    for folder, took in sorted(seconds.items(), key=lambda one: -one[1]):
        print(f"{folder}: {count[folder]:,} tests, {took:.0f} s")
    print(f"tests: {count.total():,}, {sum(seconds.values()):.0f} s")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--street", action="store_true")
    parser.add_argument("--tests", type=Path)
    parser.add_argument("--trace", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("args", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace:
        return trace(options.trace, options.args)
    texts = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    show_size(texts)
    show_border(texts)
    show_passed(street=options.street)
    if options.tests:
        show_tests(options.tests)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
