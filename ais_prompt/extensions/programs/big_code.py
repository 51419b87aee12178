"""BigCodeBench: functions that use libraries, tested by a class of `unittest` in a sandbox.

Source: ``bigcodebench/eval/__init__.py`` of its repository at 0695a63 (how a program and its tests are run), and
``bigcodebench/evaluate.py`` (the beginning of the prompt is put before each program).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from ais_prompt.errors import DataError, PartError
from ais_prompt.extensions.programs.evaluator import CodeEvaluator, can_be_parsed
from ais_prompt.extensions.programs.sandbox import CheckedProgram, evaluate_program
from ais_prompt.registry import EVALUATORS
from ais_prompt.utils import listed

COLUMNS: Final = ["code_prompt", "test", "libs"]

_RUN_CASES: Final = """
def run_cases(source, tests):
    import builtins, os, sys, types, unittest
    module = types.ModuleType("__test__")
    names = {"__builtins__": builtins, "__file__": "__test__.py", "sys": sys, "os": os, "environ": os.environ}
    module.__dict__.update(names)
    exec(compile(source + "\\n" + tests, "__test__.py", "exec"), module.__dict__)
    sys.modules["__test__"] = module
    found = unittest.TestResult()
    unittest.TestLoader().loadTestsFromTestCase(module.TestCases).run(found)
    return [len(found.errors), len(found.failures)]
"""
_VERDICT: Final = """
errors, failures = run_cases({source!r}, {tests!r})
assert failures == 0
if errors != 0:
    raise RuntimeError("a test raised")
"""
_MISSING: Final = "[name for name in {names!r} if __import__('importlib.util').util.find_spec(name) is None]"


@EVALUATORS.register_module()
class BigCodeBenchEvaluator(CodeEvaluator):
    """BigCodeBench: does the program pass every test of the class ``TestCases``?

    The gold is a mapping: ``reader_cfg=dict(gold_columns=['code_prompt', 'test', 'libs'], ...)``. An answer is the
    whole function with its imports. As in the published program, tests and program share a process, since tests replace
    parts of libraries that the program calls: a program that means to could report a success.

    A question whose ``libs`` the sandbox lacks is not scored: its sample *failed*, with the names of the packages.

    Args:
        allow_code_execution, sandbox: as in `HumanEvalEvaluator`.
        timeout: most seconds for all tests of a question together, as published.
        memory: most memory, in MiB, as published.
    """

    def __init__(
        self,
        allow_code_execution: bool | Literal["unsafe"] = False,
        timeout: float = 240.0,
        memory: int = 30 * 1024,
        sandbox: str | None = None,
    ) -> None:
        super().__init__(allow_code_execution, timeout, memory, sandbox)
        self._is_installed: dict[str, bool] = {}

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the values as `CodeEvaluator.score` does.

        Raises:
            DataError: the gold lacks what is needed to test a program.
            PartError: a package that the question needs is not installed; the program was not run.
            SandboxError: the sandbox does not start.
        """
        libraries = _columns(gold)["libs"]
        if missing := self._missing(str(name).partition(".")[0] for name in libraries):
            what = f"packages of the question are not installed: {listed(missing)}"
            raise PartError(what, fix=f"pip install them where programs run, then `aisprompt score RUN`: {libraries}")
        return super().score(extracted, gold)

    def task(self, answer: str, gold: Any) -> CheckedProgram:
        """Return a program that runs the answer, after the beginning of the prompt, with the tests."""
        columns = _columns(gold)
        if not can_be_parsed(answer):
            return CheckedProgram(answer, [(["run_cases"], "")])
        source = f"{columns['code_prompt']}\n    pass\n{answer}"
        verdict = _VERDICT.format(source=source, tests=columns["test"])
        return CheckedProgram(_RUN_CASES, [(["run_cases"], verdict)])

    def _missing(self, names: Iterable[str]) -> list[str]:
        """Return the packages that programs cannot import; the sandbox is asked once about each."""
        wanted = list(dict.fromkeys(names))
        if unknown := [name for name in wanted if name not in self._is_installed]:
            asked = _MISSING.format(names=unknown)
            found = evaluate_program("", asked, self._isolation, self.timeout, self.memory)
            if found.outcome != "passed":
                what = f"the sandbox does not say which packages it has: {found.outcome} {found.text}"
                raise PartError(what, fix="see docs/sandbox.md, and `aisprompt score RUN`")
            absent = ast.literal_eval(found.text)
            self._is_installed |= {name: name not in absent for name in unknown}
        return [name for name in wanted if not self._is_installed[name]]


def _columns(gold: Any) -> Mapping[str, Any]:
    if not isinstance(gold, Mapping) or any(gold.get(name) is None for name in COLUMNS) or not gold["test"].strip():
        raise DataError("the gold has no tests", fix=f"reader_cfg=dict(gold_columns={COLUMNS}, ...)")
    return gold
