"""The process of the tests: runs them, with stand-ins for the objects of the program, and returns the outcome.

A stand-in does with its object what the tests do with it, except for what would let the program decide a test: a
comparison or a calculation of an object with a plain value is not left to the object.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType
from typing import Any, Final

from ais_prompt.extensions.programs.sandbox.inside.channel import decode, encode, receive, send

_KINDS: Final = ("syntax", "memory", "exited", "forbidden", "exception")
_MODULE: Final = 0


class ProgramEnded(BaseException):
    """The program does not answer any more. No ``except Exception`` of a test catches it."""


class Program:
    """The program, seen from the tests.

    Attributes:
        fault: the error that it raised last, and its kind.
        ended: whether it does not answer any more, or not by the rules.
    """

    def __init__(self, requests: int, replies: int) -> None:
        """Take the file descriptors of requests to the program, and of its replies."""
        self._requests, self._replies = requests, replies
        self.fault: tuple[BaseException | None, str] = (None, "")
        self.ended = False

    def start(self) -> None:
        """Let the program's own statements run.

        Raises:
            ProgramEnded: it does not answer.
            BaseException: what the program raised.
        """
        self.ask("start")

    def bind(self, names: Sequence[str], namespace: dict[str, Any]) -> None:
        """Put those of the program's objects that have one of these names into a namespace."""
        for name in names:
            try:
                namespace[name] = self.ask("get", _StandIn(self, _MODULE), name)
            except AttributeError:
                namespace.pop(name, None)  # what the program lacks must not be there by chance

    def ask(self, operation: str, *operands: Any, **keywords: Any) -> Any:
        """Let the program do something with its objects, and return the result.

        Raises:
            ProgramEnded: it does not answer.
            BaseException: what the program raised.
        """
        if self.ended:
            raise ProgramEnded
        named = {key: encode(value, _to_reference) for key, value in keywords.items()}
        message = [operation, [encode(operand, _to_reference) for operand in operands], named]
        try:
            send(self._requests, message)
        except OSError:
            self.ended = True
            raise ProgramEnded from None
        return self._reply(iterating=operation == "next")

    def _reply(self, *, iterating: bool = False) -> Any:
        try:
            reply = receive(self._replies)
            if reply[0] == "value":
                return decode(reply[1], self._from_reference)
            _, kind, name, text = reply
            error = _error(str(name), str(text), iterating=iterating)
        except MemoryError:
            raise
        except Exception as broken:  # whatever a hostile reply leads to
            self.ended = True
            raise ProgramEnded from broken
        self.fault = (error, kind if kind in _KINDS else "exception")
        raise error

    def _from_reference(self, tag: str, content: Any) -> Any:
        if tag == "object":
            return _StandIn(self, int(content))
        found = getattr(builtins, content)
        if tag != "builtin" or not isinstance(found, type):
            raise ValueError(tag)
        return found


def run_tests(program: Program, parts: Sequence[tuple[Sequence[str], str]]) -> str:
    """Run the tests, and return how that ended: ``passed``, or why not.

    Args:
        program: what is tested.
        parts: names to take from the program, and statements that may use them; one part after the other.
    """
    namespace: dict[str, Any] = {"__name__": "tests"}
    try:
        program.start()
        for names, source in parts:
            program.bind(names, namespace)
            exec(compile(source, "tests.py", "exec"), namespace)
    except MemoryError:
        return "memory"
    except BaseException as error:
        if program.ended:
            return "ended"
        if error is program.fault[0]:
            return program.fault[1]
        return "assertion" if isinstance(error, AssertionError) else "exception"
    return "ended" if program.ended else "passed"  # a test may catch everything


def evaluate(program: Program, source: str, expression: str, longest: int) -> tuple[str, str]:
    """Run a program that has no tests, compute an expression in it, and return how that ended, and the text.

    Args:
        program: a process that has run nothing yet.
        source: the program.
        expression: what is computed afterwards.
        longest: most characters of the text; a longer one is cut, with a word about it.

    Returns:
        ``passed`` with the text of the value, ``exception`` with the ``repr`` of the error, or why there is neither.
    """
    try:
        program.start()
        has_value, text = program.ask("evaluate", source, expression, longest + 1)
        if type(text) is not str:
            return "ended", ""
    except MemoryError:
        return "memory", ""
    except BaseException as error:
        is_known = error is program.fault[0] and not program.ended
        return program.fault[1] if is_known else "ended", ""
    if len(text) > longest:
        text = f"{text[:longest]}… (cut after {longest} characters)"
    return "passed" if has_value is True else "exception", text


def _error(name: str, text: str, *, iterating: bool) -> BaseException:
    """The error that the program raised; one that would end a loop of the tests early is turned into another."""
    if name == "StopIteration" and iterating:
        return StopIteration()
    kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        kind = Exception
    if issubclass(kind, StopIteration | StopAsyncIteration | GeneratorExit):
        kind = RuntimeError
    try:
        return kind(text)
    except TypeError:  # UnicodeDecodeError wants more than a text
        return ValueError(text) if issubclass(kind, ValueError) else Exception(text)


def _to_reference(value: Any) -> list[Any]:
    if isinstance(value, _StandIn):
        return ["object", value._number]
    if isinstance(value, BuiltinFunctionType) and vars(builtins).get(value.__name__, ...) is value:
        return ["builtin", value.__name__]
    raise TypeError(f"{type(value).__name__} cannot be given to the program")


class _StandIn:
    """Takes the place of one object of the program."""

    __slots__ = ("_number", "_program")
    _program: Program
    _number: int

    def __init__(self, program: Program, number: int) -> None:
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._program.ask("call", self, *args, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__array"):  # NumPy would read memory of the tests, at an address that the program gives
            raise AttributeError(name)
        return self._program.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask("set", self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._program.ask("item", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._program.ask("set_item", self, key, value)

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._program.ask("iter", self)
        return iterator

    def __next__(self) -> Any:
        return self._program.ask("next", self)

    def __contains__(self, item: Any) -> bool:
        """The program says which of its objects are in one of them; a plain value is looked for here."""
        if isinstance(item, _StandIn):
            return self._program.ask("contains", self, item) is True
        items = self._program.ask("items", self)
        return type(items) is list and item in items

    def __len__(self) -> int:
        return int(self._program.ask("len", self))

    def __bool__(self) -> bool:
        return self._program.ask("bool", self) is True

    def __str__(self) -> str:
        return str(self._program.ask("str", self))

    def __repr__(self) -> str:
        return str(self._program.ask("repr", self))

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, _StandIn) and self._program.ask("isinstance", value, self) is True

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> Any:
        return self._compared("eq", other)

    def __lt__(self, other: Any) -> Any:
        return self._compared("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("le", other)

    def _compared(self, operation: str, other: Any) -> Any:
        """Objects of the program are compared by the program; with anything else they have nothing in common."""
        return self._program.ask(operation, self, other) is True if isinstance(other, _StandIn) else NotImplemented
