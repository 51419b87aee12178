"""The process of the program: runs it, then does with its objects what the tests ask for.

Everything here shares an interpreter with the program, which may change any of it. The other side relies on nothing.
"""

from __future__ import annotations

import builtins
import errno
import operator
import os
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

from ais_prompt.extensions.programs.sandbox.inside.channel import decode, encode, receive, send

_OUT_OF_MEMORY: Final = ["error", "memory", "MemoryError", ""]
_REFUSALS: Final = (errno.EPERM, errno.EACCES, errno.EROFS)
_LONGEST_TEXT: Final = 1000


def _evaluate(program: str, expression: str, longest: int) -> list[Any]:
    """Run a program in a namespace of its own, then compute an expression in it.

    Returns:
        Whether there is a value; and its text, or the ``repr`` of the error, cut to ``longest`` characters.
    """
    namespace: dict[str, Any] = {}
    try:
        exec(compile(program, "<string>", "exec", dont_inherit=True), namespace)
        value = eval(compile(expression, "<string>", "eval", dont_inherit=True), namespace)
        return [True, str(value)[:longest]]
    except Exception as error:
        return [False, repr(error)[:longest]]


_IMMUTABLE_TYPE: Final = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: set for the types of Python itself and of libraries in C, for no class of a program."""


def _items(value: Any) -> list[Any]:
    """Return what a generator, a view, an array or the like yields to its end; nothing of an object of a class."""
    return list(value) if type.__dict__["__flags__"].__get__(type(value)) & _IMMUTABLE_TYPE else []


_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "get": getattr, "set": setattr, "item": operator.getitem, "set_item": operator.setitem, "iter": iter, "next": next,
    "len": len, "bool": bool, "eq": operator.eq, "lt": operator.lt, "le": operator.le, "str": str, "repr": repr,
    "isinstance": isinstance, "evaluate": _evaluate, "contains": operator.contains, "items": _items,
}  # fmt: skip


def serve(prelude: str, program: str, requests: int, replies: int) -> NoReturn:
    """Wait for the first request, run the program, then answer requests until there are no more.

    Args:
        prelude: statements that the program may need; those that fail without it are of no matter.
        program: its source text.
        requests, replies: file descriptors.
    """
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    sys.argv = ["solution.py"]
    receive(requests)  # the tests are confined
    send(replies, _run(module, prelude, program))
    objects: list[Any] = [module]

    def to_reference(value: Any) -> list[Any]:
        objects.append(value)
        return ["object", len(objects) - 1]

    def from_reference(tag: str, content: Any) -> Any:
        return objects[content] if tag == "object" else getattr(builtins, content)

    while True:
        try:
            operation, operands, keywords = receive(requests)
        except EOFError:
            os._exit(0)
        try:
            values = [decode(operand, from_reference) for operand in operands]
            named = {key: decode(value, from_reference) for key, value in keywords.items()}
            result = values[0](*values[1:], **named) if operation == "call" else _OPERATIONS[operation](*values)
            reply = ["value", encode(result, to_reference)]
        except BaseException as error:
            reply = _describe(error)
        send(replies, reply)


def _run(module: types.ModuleType, prelude: str, program: str) -> list[Any]:
    """Run the program as a module that can be imported where files can be written."""
    try:
        with open("solution.py", "w", encoding="utf-8", errors="surrogatepass") as stream:  # noqa: PTH123
            stream.write(program)
        module.__file__ = os.path.realpath("solution.py")
        sys.path.insert(0, os.path.dirname(module.__file__))  # noqa: PTH120  # pathlib takes time to import
    except OSError:
        pass
    with suppress(Exception):
        exec(prelude, module.__dict__)
    try:
        code = compile(program, "solution.py", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # null bytes, lone surrogates, too deep a nesting
        return ["error", "syntax", "SyntaxError", ""]
    try:
        exec(code, module.__dict__)
    except MemoryError:
        module.__dict__.clear()
        return _OUT_OF_MEMORY
    except BaseException as error:
        return _describe(error)
    return ["value", None]


def _describe(error: BaseException) -> list[Any]:
    """Return the parts of an error that the tests see: its kind, the nearest built-in type, and its text."""
    if isinstance(error, MemoryError):
        return _OUT_OF_MEMORY
    kind = "exception"
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
        kind = "exited"
    elif isinstance(error, OSError) and error.errno in _REFUSALS:
        kind = "forbidden"
    name = next(base.__name__ for base in type(error).__mro__ if getattr(builtins, base.__name__, None) is base)
    try:
        text = str(error)[:_LONGEST_TEXT]
    except BaseException:
        text = ""
    return ["error", kind, name, text]
