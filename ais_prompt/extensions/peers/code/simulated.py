"""Carry out calls of tools with the simulated programs of bfcl_eval, and compare conversations with its checker.

For worker processes only. A model writes the calls, and bfcl_eval evaluates them as Python. So only a single call of a
public method of the programs, with literal arguments, gets there. Any other call has the result that an unknown name or
wrong syntax has.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ais_prompt.extensions.peers.code.calls import CompareCall, Scenario, SimulateCall

_PACKAGE: Final = "bfcl_eval.eval_checker.multi_turn_eval"
_REFUSED: Final = "_refused()"
"""A call of an unknown name, in place of one that is not carried out."""
_MODEL: Final = "model"


def simulate(call: SimulateCall) -> list[list[str]]:
    """Return the results of the calls of each step.

    Raises:
        Exception: whatever bfcl_eval raises outside of a call.
    """
    with _programs(call.scenario) as (utils, methods):
        return [_results(utils, call.scenario, calls, methods) for calls in call.steps]


def compare(call: CompareCall) -> bool:
    """Return whether a conversation is right: the states of the programs, and the results of the right calls.

    Raises:
        Exception: whatever bfcl_eval raises outside of a call.
    """
    with _programs(call.scenario) as (_, methods):
        checker = importlib.import_module(f"{_PACKAGE}.multi_turn_checker")
        turns = [[_allowed(step, methods) for step in turn] for turn in call.turns]
        golds = [_allowed(turn, methods) for turn in call.golds]
        row = {
            "id": _row_id(call.scenario),
            "initial_config": call.scenario.config,
            "involved_classes": call.scenario.programs,
        }
        return bool(checker.multi_turn_checker(turns, golds, row, "", _MODEL)["valid"])


@contextmanager
def _programs(scenario: Scenario) -> Iterator[tuple[Any, set[str]]]:
    """Give the module that carries out calls, and the names of the methods; forget the state of the programs after."""
    if scenario.root not in sys.path:
        sys.path.append(scenario.root)
    utils = importlib.import_module(f"{_PACKAGE}.multi_turn_utils")
    modules = {name: importlib.import_module(path) for name, path in utils.CLASS_FILE_PATH_MAPPING.items()}
    classes = [getattr(modules[name], name) for name in scenario.programs]
    methods = {name for one in classes for name, _ in inspect.getmembers(one, inspect.isfunction) if name[0] != "_"}
    try:
        yield utils, methods
    finally:
        for name in [name for name in vars(utils) if name.endswith("_instance")]:
            delattr(utils, name)


def _results(utils: Any, scenario: Scenario, calls: Sequence[str], methods: Collection[str]) -> list[str]:
    results, _ = utils.execute_multi_turn_func_call(
        _allowed(calls, methods),
        scenario.config,
        scenario.programs,
        _MODEL,
        _row_id(scenario),
        long_context=scenario.long_context,
    )
    refusals = [refusal(call, methods) for call in calls]
    return [f"Error during execution: {why}" if why else result for why, result in zip(refusals, results, strict=True)]


def _row_id(scenario: Scenario) -> str:
    """Return an id: their checker reads from it whether texts are long, and makes names of it."""
    return "long_context_0" if scenario.long_context else "row_0"


def _allowed(calls: Sequence[str], methods: Collection[str]) -> list[str]:
    return [_REFUSED if refusal(call, methods) else call for call in calls]


def refusal(call: str, methods: Collection[str]) -> str:
    """Return why a call is not carried out, in the words of Python; empty for a call that is.

    Args:
        call: in Python's syntax.
        methods: the names that may be called.
    """
    try:
        found = compile(call, "<string>", "eval", ast.PyCF_ONLY_AST)
        assert isinstance(found, ast.Expression)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    body = found.body
    if (
        isinstance(body, ast.Call)
        and isinstance(body.func, ast.Name)
        and body.func.id in methods
        and all(map(_is_literal, (*body.args, *(keyword.value for keyword in body.keywords))))
    ):
        return ""
    unknown = (node.id for node in ast.walk(body) if isinstance(node, ast.Name) and node.id not in methods)
    name = next(unknown, None)
    return "it is no call with literal arguments" if name is None else f"name {name!r} is not defined"


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True
