"""Does the program that a model wrote pass its tests?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators.humaneval_program import humaneval_program
from ais_prompt.evaluators.sandbox import check_sandbox, run_program
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.metrics.incidents import incident_shares
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score

_INCIDENTS: Final = ("timeout", "memory", "forbidden")


class CodeEvaluator(ABC):
    """Accuracy by running each program with its tests: 1 if it comes to its end, 0 elsewhere.

    With one answer to each question the accuracy is pass@1; ``n`` answers give pass@k. Programs run confined
    (`ais_prompt.evaluators.sandbox`). Those that were stopped count as wrong; ``timeout``, ``memory`` and ``forbidden``
    tell the share of each kind.

    Args:
        allow_code_execution: must be True; the switch ``--allow-code-execution`` says so.
        timeout: most seconds for one program.
        memory: most memory for one program, in MiB.

    Raises:
        ConfigError: running programs was not allowed.
        ModelError: they cannot be confined on this machine.
    """

    metrics: tuple[str, ...] = ("accuracy", *_INCIDENTS)

    def __init__(self, allow_code_execution: bool = False, timeout: float = 10.0, memory: int = 1024) -> None:
        if not allow_code_execution:
            raise ConfigError(
                f"{type(self).__name__} runs programs that a model wrote, which was not allowed",
                fix="read what docs/evaluators.md says of it, then add --allow-code-execution",
            )
        check_sandbox()
        self.timeout = timeout
        self.memory = memory

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """``accuracy``, and what the program was stopped for; each 0 or 1.

        Raises:
            DataError: the gold lacks what is needed to test a program.
            ModelError: the program could not be confined, and was not run.
        """
        program = self.program("" if extracted is None else str(extracted), gold)
        outcome = run_program(program, self.timeout, self.memory) if extracted is not None else "failed"
        return {"accuracy": float(outcome == "passed"), **{one: float(outcome == one) for one in _INCIDENTS}}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """The mean over the samples that were answered; then what programs were stopped for, if any were."""
        return [*mean_scores(("accuracy",), scores), *incident_shares(_INCIDENTS, scores)]

    @abstractmethod
    def program(self, answer: str, gold: Any) -> str:
        """The answer with its tests, as a program that raises if a test fails.

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

    def program(self, answer: str, gold: Any) -> str:
        """The function, its test, and the call of ``check``."""
        columns = _columns(gold, ("prompt", "test", "entry_point"))
        function = humaneval_program(columns["prompt"], answer, columns["entry_point"])
        return f"{function}\n{columns['test']}\ncheck({columns['entry_point']})\n"


@EVALUATORS.register_module()
class MBPPEvaluator(CodeEvaluator):
    """MBPP: does the program pass its assertions?

    The gold is the column ``test_list``, or a mapping with it and, if there are any, ``test_setup_code`` or
    ``test_imports``: ``reader_cfg=dict(gold_columns=['test_list', 'test_setup_code'], ...)``. Source: Austin et al.
    2021, "Program Synthesis with Large Language Models".
    """

    def program(self, answer: str, gold: Any) -> str:
        """What the tests need, the answer, and the tests."""
        columns = gold if isinstance(gold, Mapping) else {"test_list": gold}
        tests = _lines(columns.get("test_list"))
        if not tests:
            raise DataError("the gold has no tests", fix="reader_cfg=dict(gold_columns=['test_list'], ...)")
        setup = [*_lines(columns.get("test_imports")), *_lines(columns.get("test_setup_code"))]
        return "\n".join([*setup, answer, *tests, ""])


def _columns(gold: Any, names: Sequence[str]) -> dict[str, str]:
    if not isinstance(gold, Mapping) or any(not isinstance(gold.get(name), str) for name in names):
        raise DataError(
            f"the gold has not all of the columns {', '.join(names)}, as texts",
            fix=f"reader_cfg=dict(gold_columns={list(names)}, ...)",
        )
    return {name: gold[name] for name in names}


def _lines(value: Any) -> list[str]:
    """Statements, of which there is a list or one text."""
    statements = value if isinstance(value, list | tuple) else [value]
    return [str(statement) for statement in statements if statement]
