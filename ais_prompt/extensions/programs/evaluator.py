"""Accuracy of code: make a program of an answer, and run its tests in a sandbox."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from ais_prompt.errors import DataError
from ais_prompt.extensions.programs.sandbox import CheckedProgram, Outcome, allowed_isolation, end_spares, run_program
from ais_prompt.extensions.programs.written_programs import mbpp_postprocess
from ais_prompt.metrics import incident_shares, mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils import is_missing

_FAILURES: Final = tuple(outcome for outcome in get_args(Outcome) if outcome != "passed")
_WRONG_ANSWER: Final = "assertion"
"""The failure without its own row: what is neither accuracy nor another failure."""


class CodeEvaluator(ABC):
    """Accuracy by running each program with its tests: 1 if the tests come to their end, 0 elsewhere.

    With one answer to each question the accuracy is pass@1; ``n`` answers give pass@k. Programs run in a sandbox
    (docs/sandbox.md), apart from their tests. Each failure counts under its reason: ``assertion``, ``exception``,
    ``syntax``, ``exited``, ``timeout``, ``memory`` or ``forbidden``.

    Args:
        allow_code_execution: must be True; the switch ``--allow-code-execution`` says so. ``unsafe`` accepts a machine
            that cannot keep programs apart.
        timeout: most seconds for one program.
        memory: most memory for one program, in MiB.
        sandbox: ``bubblewrap`` or ``landlock`` to accept nothing else, or a command that is put before the command line
            of the interpreter; by default bubblewrap, or Landlock where that does not work.

    Attributes:
        isolation: how programs are kept apart, as people read it.

    Raises:
        ConfigError: running programs was not allowed.
        ModelError: they cannot be kept apart on this machine.
    """

    metrics: tuple[str, ...] = ("accuracy", *_FAILURES)

    def __init__(
        self,
        allow_code_execution: bool | Literal["unsafe"] = False,
        timeout: float = 10.0,
        memory: int = 1024,
        sandbox: str | None = None,
    ) -> None:
        self._isolation = allowed_isolation(type(self).__name__, allow_code_execution, sandbox)
        self.isolation = self._isolation.name
        self.timeout = timeout
        self.memory = memory

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return ``accuracy``, and every reason for a failure; each 0 or 1.

        Raises:
            DataError: the gold lacks what is needed to test a program.
            SandboxError: the sandbox does not start; the program was not run.
        """
        task = self.task("" if extracted is None else str(extracted), gold)
        outcome = None if extracted is None else run_program(task, self._isolation, self.timeout, self.memory)
        return {"accuracy": float(outcome == "passed"), **{one: float(outcome == one) for one in _FAILURES}}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the answered samples, then the share of each failure that happened."""
        end_spares()
        shown = [failure for failure in _FAILURES if failure != _WRONG_ANSWER]
        return [*mean_scores(("accuracy",), scores), *incident_shares(shown, scores)]

    @abstractmethod
    def task(self, answer: str, gold: Any) -> CheckedProgram:
        """Return the answer as a program, and its tests, which raise if it is wrong.

        Raises:
            DataError: the gold lacks what is needed.
        """


@EVALUATORS.register_module(name=["HumanEvalEvaluator", "HumanEvaluator"])
class HumanEvalEvaluator(CodeEvaluator):
    """HumanEval: does the function that the answer completes pass ``check`` of its test?

    The gold is a mapping: ``reader_cfg=dict(gold_columns=['prompt', 'test', 'entry_point'], ...)``. An answer may be
    the body of the function or all of it. Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    whose program gives 3 seconds where this gives 10; a busy machine is slow.
    """

    def task(self, answer: str, gold: Any) -> CheckedProgram:
        """Return the function; the prompt, whose imports and helpers tests use; the test, and the call of ``check``."""
        columns = _columns(gold, ("prompt", "test", "entry_point"))
        name = columns["entry_point"]
        if not name.isidentifier() or not columns["test"].strip():
            raise DataError("the gold has no tests of a function", fix="fill in the columns test and entry_point")
        beginning = f"{columns['prompt']}\n    pass\n"
        tests = f"{columns['test']}\ncheck({name})\n"
        return CheckedProgram(
            humaneval_program(columns["prompt"], answer, name),
            [*([([], beginning)] if _is_python(beginning) else []), ([name], tests)],
        )


@EVALUATORS.register_module()
class MBPPEvaluator(CodeEvaluator):
    """MBPP: does the program pass its assertions?

    The gold is the column ``test_list``, or a mapping with it and, if there are any, ``test_setup_code`` or
    ``test_imports``: ``reader_cfg=dict(gold_columns=['test_list', 'test_setup_code'], ...)``. In OpenCompass the column
    is also called ``test_list_2``. Source: Austin et al. 2021, "Program Synthesis with Large Language Models".

    Args:
        allow_code_execution, timeout, memory, sandbox: as in `HumanEvalEvaluator`.
        extract: whether the program is first looked for in the answer, as `mbpp_postprocess` does: for configs of
            OpenCompass, whose evaluator does it.
    """

    def __init__(
        self,
        allow_code_execution: bool | Literal["unsafe"] = False,
        timeout: float = 10.0,
        memory: int = 1024,
        sandbox: str | None = None,
        extract: bool = False,
    ) -> None:
        super().__init__(allow_code_execution, timeout, memory, sandbox)
        self.extract = extract

    def task(self, answer: str, gold: Any) -> CheckedProgram:
        """Return the answer, and the tests after their imports and setup."""
        columns = gold if isinstance(gold, Mapping) else {"test_list": gold}
        if self.extract:
            answer = mbpp_postprocess(answer) or ""
        tests = "\n".join(_lines(columns.get("test_list")) or _lines(columns.get("test_list_2")))
        if not tests:
            raise DataError("the gold has no tests", fix="reader_cfg=dict(gold_columns=['test_list'], ...)")
        setup = "\n".join([*_lines(columns.get("test_imports")), *_lines(columns.get("test_setup_code"))])
        try:
            names, modules = tested_names(f"{setup}\n{tests}\n")
        except NOT_PYTHON as error:
            raise DataError(f"the tests are no Python: {error}", fix="repair them in the data") from error
        imports = [f"import {module}" for module in modules]
        return CheckedProgram(answer, [(names, "\n".join([*imports, setup])), ([], tests)], prelude=setup)


def _is_python(source: str) -> bool:
    try:
        compile(source, "<unknown>", "exec", dont_inherit=True)
    except NOT_PYTHON:
        return False
    return True


def can_be_parsed(answer: str) -> bool:
    """Return whether an answer has the syntax of Python; it may still be no program, as a ``return`` alone."""
    try:
        ast.parse(answer)
    except NOT_PYTHON:
        return False
    return True


def _columns(gold: Any, names: Sequence[str]) -> dict[str, str]:
    if not isinstance(gold, Mapping) or any(not isinstance(gold.get(name), str) for name in names):
        raise DataError(
            f"the gold has not all of the columns {', '.join(names)}, as texts",
            fix=f"reader_cfg=dict(gold_columns={list(names)}, ...)",
        )
    return {name: gold[name] for name in names}


def _lines(value: Any) -> list[str]:
    """Return the statements of a list or one text."""
    statements = value if isinstance(value, list | tuple) else [value]
    return [str(statement) for statement in statements if not is_missing(statement)]


NOT_PYTHON: Final = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What the parser raises for texts that are no Python: `ValueError` for a null character, and the last two for a
nesting that is too deep, such as a long chain of ``elif``."""
_INDENT = "    "
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[ \t]+(?:\([^)]*\)|[^\n]*)$", re.MULTILINE)


def humaneval_program(prompt: str, answer: str, entry_point: str) -> str:
    """Return the whole function.

    The answer is the body unless it defines the function itself. A body often lacks the indentation of its first line,
    or of all lines, because the text was stripped; then it is restored.

    Args:
        prompt: imports, signature and docstring; ends in the middle of the function.
        answer: the body, or the whole function, perhaps with imports and other functions.
        entry_point: the name of the function.
    """
    imports = "".join(f"{line}\n" for line in _FUTURE.findall(answer))  # they must come first
    answer = _FUTURE.sub("", answer)
    if _defines(answer, entry_point):
        # The prompt alone is an empty function; that of the answer, which needs the same imports, replaces it.
        return f"{imports}{prompt}\n{answer}"
    return imports + prompt.rstrip(" ") + _indented(answer)


def _defines(program: str, name: str) -> bool:
    """Return whether a program gives a name to a function at its top level, by def, class, import or assignment."""
    if re.search(rf"^(?:(?:async +)?def|class) +{re.escape(name)}\b", program, re.MULTILINE):
        return True  # even if the program is not whole
    try:
        top = symtable.symtable(program, "answer", "exec")
    except NOT_PYTHON:
        return False
    symbol = top.lookup(name) if name in top.get_identifiers() else None
    return symbol is not None and (symbol.is_assigned() or symbol.is_imported())


def _indented(body: str) -> str:
    first, newline, rest = body.partition("\n")
    if first[:1].isspace() or not first:
        return body
    if _lost_indentation_of(first, [line for line in rest.splitlines() if line.strip()]):
        return _INDENT + first + newline + rest
    return "\n".join(_INDENT + line if line.strip() else line for line in body.split("\n"))


def _lost_indentation_of(first: str, rest: list[str]) -> bool:
    """Return whether only the first line of a body has lost its indentation."""
    if not rest or not all(line.startswith(_INDENT) for line in rest):
        return False
    # The line after a colon is one step deeper, which gives the depth of the first line.
    is_deeper = rest[0].startswith(2 * _INDENT)
    return is_deeper or not first.rstrip().endswith(":")


def tested_names(source: str) -> tuple[list[str], list[str]]:
    """Return the names that tests take from the program, and the modules that they use without an import.

    Names of builtins are left out: a program could otherwise redefine ``abs``, and with it what its tests
    check. If a test uses no other names, the function that is called first is returned: ``sum`` of
    ``assert sum(10, 15) == 6``.

    Args:
        source: statements.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: they are not Python, as in `NOT_PYTHON`.
    """
    nodes = list(ast.walk(ast.parse(source)))
    mentioned = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in mentioned if isinstance(node.ctx, ast.Store)}
    used = dict.fromkeys(node.id for node in mentioned if node.id not in own)
    called = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    bases = {node.value.id for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    modules = [name for name in used if name in bases and name in sys.stdlib_module_names and name not in called]
    names = [name for name in used if not hasattr(builtins, name) and name not in modules]
    return names or called[-1:], modules  # `ast.walk` comes to the innermost call last
