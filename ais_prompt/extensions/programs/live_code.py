"""LiveCodeBench: programs that read stdin, or a method of a class, tested in a sandbox as the published checker does.

Source: ``lcb_runner`` of its repository, ``evaluation/testing_util.py`` (what is run, and how outputs are compared) and
``utils/extraction_utils.py`` (where the program is in an answer).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from ais_prompt.errors import DataError
from ais_prompt.extensions.programs.evaluator import CodeEvaluator, can_be_parsed
from ais_prompt.extensions.programs.sandbox import CheckedProgram
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS

PRELUDE: Final = """
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string
import re
import datetime
import collections
import heapq
import bisect
import copy
import math
import random
import statistics
import itertools
import functools
import operator
import io
import sys
import json
sys.setrecursionlimit(50000)
"""
"""What a program may use without importing it, as published."""

_STDIN: Final = """
def solve_text(text):
    import builtins, io, sys
    read, written = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    opened, stdin, stdout = builtins.open, sys.stdin, sys.stdout
    builtins.open = lambda file, *more, **options: read if file in (0, "/dev/stdin") else opened(file, *more, **options)
    sys.stdin, sys.stdout = read, written
    try:
        exec(compile(SOURCE, "answer", "exec"), {"__name__": "__main__"})
    except SystemExit:
        pass
    finally:
        builtins.open, sys.stdin, sys.stdout = opened, stdin, stdout
    written.flush()
    return written.buffer.getvalue().decode("utf-8", "replace")
"""
_METHOD: Final = """
def solve_call(name, text):
    import json
    arguments = [json.loads(line) for line in text.split("\\n")]
    names = {}
    exec(compile(SOURCE, "answer", "exec"), names)
    method = getattr(names["Solution"](), name) if "class Solution" in SOURCE else names[name]
    found = method(*arguments)
    return repr(list(found) if isinstance(found, tuple) else found)
"""
_CHECKS: Final = """
import ast, json
from decimal import Decimal

def lines_of(text):
    return [line.strip() for line in text.strip().split("\\n")]

def numbers_of(line):
    try:
        return [Decimal(word) for word in line.split()]
    except Exception:
        return None

def check_text(found, wanted):
    found, wanted = lines_of(found), lines_of(wanted)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        if one != other:
            numbers = numbers_of(one)
            assert numbers is not None and numbers == numbers_of(other)

def check_value(found, wanted):
    try:
        found = ast.literal_eval(found)
    except Exception:
        found = object()
    assert found == json.loads(wanted)
"""


@POSTPROCESSORS.register_module()
def live_code_bench_postprocess(text: str) -> str | None:
    """Return what is between the last two lines with three backticks, as published; None without them.

    >>> live_code_bench_postprocess("So:\\n```python\\nprint(1)\\n```")
    'print(1)'
    """
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else None


@EVALUATORS.register_module()
class LiveCodeBenchEvaluator(CodeEvaluator):
    """LiveCodeBench: does the program give the outputs of all tests of its question?

    The gold is a mapping with ``tests`` and ``method``: ``reader_cfg=dict(gold_columns=['tests', 'method'], ...)``.
    Outputs are compared line by line without the blanks around them, and numbers by their values; what a method returns
    must equal the gold, a tuple counting as a list.

    Args:
        allow_code_execution, memory, sandbox: as in `HumanEvalEvaluator`.
        timeout: most seconds for all tests of a question together, where the published program gives 6 to each.
    """

    def __init__(
        self,
        allow_code_execution: bool | Literal["unsafe"] = False,
        timeout: float = 60.0,
        memory: int = 4096,
        sandbox: str | None = None,
    ) -> None:
        super().__init__(allow_code_execution, timeout, memory, sandbox)

    def task(self, answer: str, gold: Any) -> CheckedProgram:
        """Return the answer as a function of its input, and the tests that call it."""
        if not isinstance(gold, Mapping) or not gold.get("tests"):
            raise DataError("the gold has no tests", fix="reader_cfg=dict(gold_columns=['tests', 'method'], ...)")
        cases = [(test["input"], test["output"]) for test in json.loads(gold["tests"])]
        if not can_be_parsed(answer):
            return CheckedProgram(answer, [(["solve_text"], "")])
        source = f"SOURCE = {PRELUDE + answer!r}\n"
        if method := gold.get("method"):
            calls = f"for text, wanted in {cases!r}:\n    check_value(solve_call({method!r}, text), wanted)\n"
            return CheckedProgram(source + _METHOD, [(["solve_call"], _CHECKS + calls)])
        calls = f"for text, wanted in {cases!r}:\n    check_text(solve_text(text), wanted)\n"
        return CheckedProgram(source + _STDIN, [(["solve_text"], _CHECKS + calls)])
