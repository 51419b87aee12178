"""Run the command line inside the test process: it starts at once, and coverage sees it.

What needs a process of its own (signals, ``kill -9``, encodings, pipes, variables that are read at start-up) runs with
`tests.core.e2e.project.Project.run_process`. `tests/core/e2e/test_in_process.py` compares the two.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from ais_prompt import registry
from ais_prompt.cli import main
from ais_prompt.secrets import SECRETS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys
from tests.support.cli import run_cli
done = [run_cli(*args) for args in json.load(sys.stdin)]
print(json.dumps([[one.returncode, one.stdout, one.stderr] for one in done]))
"""
"""Runs many command lines in one process: its start takes longer than most of them."""


def run_in_new_process(
    commands: Sequence[Sequence[str]], folder: Path, path: Path, **environment: str
) -> list[CompletedProcess[str]]:
    """Run command lines in one new process.

    Args:
        commands: the words of each behind ``aisprompt``.
        folder: the working directory.
        path: what is searched for modules before all else.
        environment: more variables.
    """
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (path, ROOT))), **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=variables,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    return [CompletedProcess(words, *one) for words, one in zip(commands, json.loads(done.stdout), strict=True)]


def run_cli(
    *args: str,
    folder: Path | None = None,
    environment: Mapping[str, str | None] | None = None,
    columns: int | None = None,
) -> CompletedProcess[str]:
    """Run ``aisprompt ARGS`` in this process.

    Args:
        args: the command line behind ``aisprompt``.
        folder: the working directory; None leaves it as it is.
        environment: variables to set; None takes a variable away.
        columns: width of the terminal that standard output is; None for a pipe.

    Returns:
        The exit code, standard output and standard error.
    """
    out, err = _stream(io.TextIOWrapper if columns is None else _Terminal), _stream()
    with ExitStack() as stack:
        stack.enter_context(_fresh_process())
        stack.enter_context(_variables({"COLUMNS": str(columns or 140), **(environment or {})}))
        stack.enter_context(chdir(folder or Path.cwd()))
        stack.enter_context(patch.object(sys, "argv", ["aisprompt", *args]))
        stack.enter_context(patch.object(sys, "stdin", _stream()))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        code = _exit_code(args)
    return CompletedProcess(args, code, _written(out), _written(err))


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _stream(kind: type[io.TextIOWrapper] = io.TextIOWrapper) -> io.TextIOWrapper:
    return kind(io.BytesIO(), "utf-8", "backslashreplace", newline="\n", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def _exit_code(args: Sequence[str]) -> int:
    try:
        main(args=list(args), prog_name="aisprompt")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()  # as Python does when a program ends with an error
        return 1
    return 0


@contextmanager
def _variables(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, and undo later whatever has changed in the environment."""
    with patch.dict(os.environ, {name: value for name, value in values.items() if value is not None}):
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
        yield


@contextmanager
def _fresh_process() -> Iterator[None]:
    """Begin without secrets. At the end, forget the modules beside the config and the parts that they registered."""
    SECRETS.clear()
    importlib.invalidate_caches()
    known, path = set(sys.modules), list(sys.path)
    with warnings.catch_warnings(), patch.object(sys, "dont_write_bytecode", True):
        try:
            yield
        finally:
            own = {name for name in set(sys.modules) - known if _is_in(name, set(sys.path) - set(path))}
            sys.path[:] = path
            for name in own:
                del sys.modules[name]
            for parts in vars(registry).values():
                if isinstance(parts, registry.PartRegistry):
                    for name in [name for name, part in parts.module_dict.items() if part.__module__ in own]:
                        del parts.module_dict[name]


def _is_in(module: str, folders: Iterable[str]) -> bool:
    file = getattr(sys.modules[module], "__file__", None)
    return file is not None and any(Path(file).is_relative_to(folder) for folder in folders)
