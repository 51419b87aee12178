"""Measure the shape of the code: modules, functions, callers, and what one sample passes through.

    python -m bench.shape

A run of one sample is the whole command ``aisprompt run`` with a scripted model, in this process. Counted are the
functions of the package that it calls (by `sys.setprofile`, all threads) and the files that they are in; those without
a name are lambdas and, before Python 3.12, comprehensions. A warm sample is what an eleventh sample adds: the functions
that a run of eleven calls more often than a run of ten.
"""

from __future__ import annotations

import ast
import os
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

PACKAGE: Final = Path(__file__).parents[1] / "ais_prompt"
CONFIG: Final = """
models = [dict(type='ScriptedModel', abbr='one', answers={'.*': '2'}, max_concurrency=1)]
datasets = [
    dict(
        type='LocalDataset', abbr='sums', path='rows.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='{question} {answer}'),
            retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
"""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function of a module, methods included."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


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
    """Measure every function of a module."""
    for function in functions(tree):
        lines = (function.end_lineno or 0) - function.lineno + 1
        yield Measured(function.name, lines, 1 + sum(map(_decisions, ast.walk(function))))


_DECISIONS: Final = frozenset(
    (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert)
)


def _decisions(node: ast.AST) -> int:
    """Return how many decisions a node is; ``a and b and c`` are two."""
    return len(node.values) - 1 if isinstance(node, ast.BoolOp) else int(type(node) in _DECISIONS)


def static_shape() -> None:
    """Print sizes of modules and functions, and how many private functions have one caller."""
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = [text.count("\n") for text in texts.values()]
    print(f"{len(lines)} modules, {sum(lines):,} lines, {statistics.mean(lines):.0f} a module, longest {max(lines)}")
    found = [function for tree in trees.values() for function in measured_functions(tree)]
    lengths = sorted(function.lines for function in found)
    p95 = lengths[int(0.95 * len(lengths))]
    print(f"{len(found):,} functions: lines median {statistics.median(lengths):.0f}, p95 {p95}, max {lengths[-1]}")
    over = sum(function.complexity > 10 for function in found)
    print(f"complexity > 10: {over} ({over / len(found):.1%})")
    private = single = 0
    for tree in trees.values():
        uses = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        names = [function.name for function in functions(tree) if function.name.startswith("_")]
        names = [name for name in names if not name.startswith("__")]
        private += len(names)
        single += sum(uses[name] <= 1 for name in names)
    print(f"private functions: {private:,}, of which {single / private:.0%} have one caller")


def called(run: Callable[[], object]) -> Counter[tuple[str, str]]:
    """Return how often each function of the package, by file and name, is entered during a call, in all threads."""
    found: Counter[tuple[str, str]] = Counter()

    def profile(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            found[code.co_filename, code.co_qualname] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def passed_shape() -> None:
    """Print what one sample passes through, and what a warm one does."""
    from click.testing import CliRunner

    from ais_prompt.cli import main

    def run_of(samples: int) -> Counter[tuple[str, str]]:
        rows = [f'{{"question": "1+{number}=?", "answer": "2"}}\n' for number in range(samples)]
        Path("rows.jsonl").write_text("".join(rows), "utf-8")
        return called(lambda: CliRunner().invoke(main, ["run", "eval.py"]))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("eval.py").write_text(CONFIG, "utf-8")
        _, one, ten, eleven = (run_of(samples) for samples in (1, 1, 10, 11))  # the first run also imports
        os.chdir("/")
    warm = {function for function, calls in eleven.items() if calls > ten[function]}
    for title, found in (("a run of one sample", set(one)), ("a warm sample", warm)):
        named = sum(not name.endswith(">") for _, name in found)
        print(f"{title}: {len(found)} functions in {len({file for file, _ in found})} files; {named} have a name")


if __name__ == "__main__":
    static_shape()
    passed_shape()
