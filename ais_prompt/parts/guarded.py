"""Call user-defined parts safely.

Whatever they raise or return, the program gets a value of the right type, or an `AisPromptError` that names a line of
the user's file. A user-defined part is held by a `GuardedPart`, which checks every call of its protocols: `misfit` says
whether a value fits its type hint. Parts that ship with the program are called directly, so they have no overhead.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import numbers
import reprlib
import threading
import types
import typing
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, wraps
from itertools import repeat
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from msgspec import Struct

from ais_prompt.errors import AisPromptError, ConfigError, PartError
from ais_prompt.parts.places import defined_at, is_raised_in_code, users_line
from ais_prompt.terminal import ONCE

if TYPE_CHECKING:
    from abc import ABCMeta as OfProtocols
else:
    OfProtocols = type(Protocol)

logger = logging.getLogger(__name__)

_FIX = "fix it there; then go on with -r, which keeps every answer"
GRACE_SECONDS = 10.0
"""Time that a cancelled coroutine of a part has to end."""


class GuardedPart:
    """A user-defined part: what it gives for a member of its protocols is checked, all else is passed on as it is.

    `isinstance` of a protocol with `KeptChecks` looks at the part itself, and `part_class` returns its class.

    Args:
        part: an object of a user-defined class.
        protocols: the part must have all members of the first. Another protocol counts if the part has its members.
        name: the part, as the config calls it.

    Raises:
        ConfigError: the part lacks a method or attribute of the first protocol.
    """

    def __init__(self, part: Any, protocols: Sequence[type], name: str) -> None:
        refuse_other_kind(part, protocols[0], name)
        followed = (protocol for protocol in protocols if not _missing(part, protocol))
        declared = {member: protocol for protocol in followed for member in members(protocol)}
        vars(self).update(__wrapped__=part, __declared__=declared, __called__=name)

    def __getattr__(self, member: str) -> Any:
        """Return a member of the part.

        Raises:
            PartError: it cannot be read, or is an attribute of the wrong type; of a method, when it is called.
        """
        if member == "__wrapped__":  # a copy that is not filled yet
            raise AttributeError(member)
        part, protocol = self.__wrapped__, self.__declared__.get(member)
        if protocol is None:
            return getattr(part, member)
        name = f"{self.__called__}.{member}"
        with calling(name, part):
            value = getattr(part, member)
        return _checked_member(value, inspect.getattr_static(protocol, member, None), protocol, name, part)

    def __setattr__(self, member: str, value: Any) -> None:
        setattr(self.__wrapped__, member, value)


class KeptChecks(OfProtocols):
    """The metaclass of a protocol that users' parts may follow: `isinstance` looks into a `GuardedPart`.

    For the classes of this package, it keeps the answers. Before Python 3.12, `isinstance` takes 30 µs for a protocol,
    and a task needs a dozen. Parts of users are always looked at: their members may differ from one object to the next.
    """

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805  # of a metaclass
        kind = type(instance)
        if issubclass(kind, GuardedPart) and cls.__dict__.get("_is_protocol"):
            return not _missing(instance.__wrapped__, cls)
        if not kind.__module__.startswith("ais_prompt."):
            return super().__instancecheck__(instance)
        if (cls, kind) not in _kept:
            _kept[cls, kind] = super().__instancecheck__(instance)
        return _kept[cls, kind]


_kept: dict[tuple[type, type], bool] = {}
"""Protocol and class → the answer; there are as many as this package has classes."""


@runtime_checkable
class RunsPrograms(Protocol, metaclass=KeptChecks):
    """An inferencer or evaluator that runs programs which a model wrote.

    Attributes:
        isolation: how they are kept apart from the machine, as people read it.
    """

    isolation: str


def part_class(part: Any) -> type[Any]:
    """Return the class of a part, and of one that is guarded the user's."""
    return type(inspect.unwrap(part))


def refuse_other_kind(part: Any, protocol: type, name: str) -> None:
    """Raise an error unless a part has all members of its protocol.

    Raises:
        ConfigError: it is a part of another kind, or lacks some.
    """
    if missing := _missing(part, protocol):
        raise ConfigError(
            f"{name} is no {protocol.__name__}: it has no {', '.join(missing)}",
            where=defined_at(part),
            fix=f"give a part of this kind, or add what is missing; see {protocol.__module__}",
        )


def guarded_call(function: Callable[..., Any], returns: Any, name: str) -> Callable[..., Any]:
    """Return a function that calls another function, and checks its result.

    Args:
        function: a user-defined function.
        returns: type hint of its result.
        name: name of the function in messages.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with calling(name, function):
            value = function(*args, **kwargs)
        return _checked(value, returns, name, function)

    return call


def guarded_coroutine(function: Callable[..., Any], returns: Any, name: str) -> Callable[..., Any]:
    """Do the same as `guarded_call` for an async function."""

    async def call(*args: Any, **kwargs: Any) -> Any:
        with calling(name, function):
            value = function(*args, **kwargs)
            if not inspect.isawaitable(value):
                raise _wrong(f"{name} returns without `await`", function, "write it as `async def`")
        return _checked(await awaiting(value, name, function), returns, name, function)

    return call


@contextmanager
def calling(name: str, part: Any) -> Iterator[None]:
    """Turn exceptions of the body, which calls a part and awaits nothing, into a `PartError`.

    Whatever the part raises is its error, `asyncio.CancelledError` and `GeneratorExit` included: no call of our own
    ends with them. Errors of the program, Ctrl-C and `MemoryError` are not changed.

    Args:
        name: name of the called part, in messages.
        part: the part or function. The error names its definition if the traceback has no line of the user's code.
    """
    try:
        yield
    except AisPromptError:
        raise
    except BaseException as error:
        if ends_program(error):
            raise
        raise part_error(error, name, part) from error


async def awaiting(value: Awaitable[Any], name: str, part: Any, timeout: float | None = None) -> Any:
    """Await what a part returned, and turn its exceptions into a `PartError`; arguments as in `calling`.

    It is awaited in a task of its own, so that a part that cancels its task, as time limits of httpx and anyio do,
    cannot be taken for the engine that cancels its conversation.

    Args:
        value: the coroutine or other awaitable.
        name, part: as in `calling`.
        timeout: seconds after which it is cancelled; None for no limit.

    Raises:
        PartError: it raised an exception, or ended as cancelled though nothing of the program cancelled it.
        TimeoutError: it took longer than ``timeout``.
    """

    async def in_own_task() -> Any:
        try:
            return await value
        except (AisPromptError, asyncio.CancelledError, GeneratorExit):  # told apart below
            raise
        except BaseException as error:
            if ends_program(error):
                raise
            raise part_error(error, name, part) from error

    task = asyncio.ensure_future(in_own_task())
    # Retrieve the exception of a task that nothing may wait for any more; asyncio would log it otherwise.
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        await asyncio.wait([task], timeout=timeout)
    except asyncio.CancelledError:  # by the engine; the part may close its connections
        task.cancel()
        await asyncio.wait([task], timeout=GRACE_SECONDS)
        raise
    if not task.done():
        task.cancel()
        raise TimeoutError
    try:
        return task.result()
    except (asyncio.CancelledError, GeneratorExit) as error:
        raise part_error(error, name, part) from error


def ends_program(error: BaseException) -> bool:
    """Return whether an exception of a part or a config ends the program: Ctrl-C and `MemoryError` do.

    They do not if the user's code raised them with `raise`, or in a thread, which no Ctrl-C reaches.
    """
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is not threading.main_thread():
        return False
    return isinstance(error, KeyboardInterrupt | MemoryError) and not is_raised_in_code(error)


def part_error(error: BaseException, name: str, part: Any) -> PartError:
    """Return the error for an exception that a part raised, and log its traceback; arguments as in `calling`."""
    where = users_line(error) or defined_at(part)
    logger.info("%s raised", name, exc_info=error, extra={ONCE: f"{type(error).__name__} at {where}"})
    return PartError(f"{name} raised {exception_line(error)}", where=where, fix=_FIX)


def exception_line(error: BaseException) -> str:
    """Return type and message of an exception on one line: ``ValueError: its message``."""
    try:
        message = " ".join(str(error).split())
    except Exception:  # `__str__` may be user-defined
        message = ""
    kind = type(error).__name__
    return f"{kind}: {message[:300]}" if message else kind


def _checked_member(value: Any, declared: Any, protocol: type, name: str, part: Any) -> Any:
    """Return an attribute of a part, or a method whose calls are checked.

    Args:
        value: the member of the part.
        declared: the member of the protocol; None for an attribute that is only annotated.
        protocol, name, part: the protocol; the member in messages; the part.
    """
    if not inspect.isfunction(declared):
        is_property = isinstance(declared, property)
        hints = type_hints(declared.fget if is_property else protocol)
        return _checked(value, hints.get("return" if is_property else name.rpartition(".")[2], Any), name, part)
    if not callable(value):
        raise _wrong(f"{name} is no method but {type(value).__name__}", part)
    guard = guarded_coroutine if inspect.iscoroutinefunction(declared) else guarded_call
    return guard(value, type_hints(declared).get("return", Any), name)


def _checked(value: Any, hint: Any, name: str, part: Any) -> Any:
    """Return the value if it fits its type hint. The items of an iterator or conversation are checked as they come.

    Raises:
        PartError: it does not fit.
    """
    if found := misfit(value, hint, "it"):
        raise _wrong(f"{name} gives something of the wrong type: {found}", part, member=name.rpartition(".")[2])
    if get_origin(hint) is Generator:
        return _conversation(value, hint, name, part)
    if get_origin(hint) is Iterator:
        return _iterator(value, get_args(hint)[0], name, part)
    return value


def _conversation(conversation: Generator[Any, Any, Any], hint: Any, name: str, part: Any) -> Generator[Any, Any, Any]:
    asked, _, returned = get_args(hint)
    answer = None
    while True:
        with calling(name, part):
            try:
                value = conversation.send(answer)
            except StopIteration as stop:
                return _checked(stop.value, returned, name, part)
        answer = yield _checked(value, asked, name, part)


def _iterator(values: Iterator[Any], hint: Any, name: str, part: Any) -> Iterator[Any]:
    end = object()
    while True:
        with calling(name, part):
            value = next(values, end)
        if value is end:
            return
        yield _checked(value, hint, name, part)


def _wrong(what: str, part: Any, fix: str = _FIX, member: str = "") -> PartError:
    return PartError(what, where=defined_at(part, member), fix=fix)


def _missing(part: Any, protocol: type) -> list[str]:
    """Return the members of a protocol that a part lacks."""
    return [member for member in members(protocol) if not _has(part, member)]


def _has(part: Any, member: str) -> bool:
    try:
        getattr(part, member)
    except AttributeError:
        return False
    except BaseException as error:  # a property that raises exists all the same
        if ends_program(error):
            raise
    return True


@cache
def members(protocol: type) -> Sequence[str]:
    """Return the public methods and attributes of a protocol, its own and inherited ones."""
    names: dict[str, None] = {}
    for owner in reversed(protocol.__mro__):
        if getattr(owner, "_is_protocol", False):
            names |= dict.fromkeys([*inspect.get_annotations(owner), *vars(owner)])
    return [name for name in names if not name.startswith("_")]


def misfit(value: Any, hint: Any, name: str) -> str:
    """Return why a value does not fit a type hint: "it[0].text is None, not str"; empty if it fits.

    Every item of a collection and every field of a `Struct` is checked. Items of an iterator are not, because reading
    them would consume them. A number of any type is a float, and a list is a tuple.

    Args:
        value: the value.
        hint: the type hint, resolved.
        name: name of the value in the message.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        found = [misfit(value, one, name) for one in get_args(hint)]
        return _not_a(value, hint, name) if all(found) else ""
    if getattr(origin, "__module__", "") == "numpy":
        return "" if _is_numeric(value) else _not_a(value, "an array of numbers", name)
    if not _is_one(value, hint):
        return _not_a(value, hint, name)
    return next(filter(None, _misfits_inside(value, hint, name)), "")


@lru_cache
def type_hints(part: Any) -> Mapping[str, Any]:
    """Return the type hints of a class or function; none if a hint is imported for type checks only."""
    try:
        return get_type_hints(part)
    except (NameError, TypeError):
        return {}


def type_words(annotation: Any) -> str:
    """Return a type as people read it: ``int or None``, ``list of str``, ``'chat' or 'base'``."""
    if isinstance(annotation, str):
        return annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return type_words(args[0])
    if isinstance(annotation, TypeVar):
        return "anything"
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(map(type_words, args)))
    if origin is not None:
        return _generic_words(annotation, origin, args)
    plain = next((words for kind, words in _PLAIN_WORDS if annotation is kind), None)
    return plain or str(getattr(annotation, "__name__", annotation))


_PLAIN_WORDS: Final = (
    (Any, "anything"),
    (inspect.Parameter.empty, "anything"),
    (object, "anything"),
    (None, "None"),
    (type(None), "None"),
    (Path, "path"),
    (Mapping, "dict"),
    (dict, "dict"),
)
"""Types that are no generic ones, and how people read them."""


def _is_one(value: Any, hint: Any) -> bool:
    """Return whether a value itself fits a hint, whatever is inside of it. A text is no list of texts."""
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint)
    return isinstance(value, _class_of(hint)) and not (isinstance(value, str | bytes) and origin is not None)


def _class_of(hint: Any) -> type | tuple[type, ...]:
    """Return the class to use with `isinstance`."""
    kind = get_origin(hint) or hint
    if kind is Any or kind is None:
        return object if kind is Any else NoneType
    if kind is float:
        return numbers.Real
    if kind is tuple:
        return (tuple, list)
    is_class = isinstance(kind, type) and not getattr(kind, "_is_protocol", False)
    return kind if is_class or kind in (Callable, Iterator) else object


def _is_numeric(value: Any) -> bool:
    """Return whether NumPy reads a value as an array of numbers; lists and tensors count too."""
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError, RuntimeError):  # lists of different lengths, or a tensor on another device
        return False


def _misfits_inside(value: Any, hint: Any, name: str) -> Iterator[str]:
    origin, args = get_origin(hint), get_args(hint)
    if getattr(hint, "_is_protocol", False):
        for member in members(hint):
            if not hasattr(value, member):
                yield f"{_not_a(value, hint, name)}: it has no {member}"
    elif isinstance(hint, type) and issubclass(hint, Struct):
        for field, inner in type_hints(hint).items():
            yield misfit(getattr(value, field), inner, f"{name}.{field}")
    elif isinstance(origin, type) and issubclass(origin, Collection) and args:
        yield from _misfits_of_items(value, origin, args, name)


def _misfits_of_items(value: Any, origin: type, hints: Sequence[Any], name: str) -> Iterator[str]:
    """Yield those of the items of a collection.

    Args:
        value: the collection.
        origin: its class in the type hint.
        hints: of its keys and values, of each entry of a tuple, or of all items.
        name: of the collection.
    """
    if issubclass(origin, Mapping):
        for key, item in value.items():
            yield misfit(key, hints[0], f"a key of {name}") or misfit(item, hints[1], f"{name}[{key!r}]")
        return
    each: Iterable[Any] = repeat(hints[0])
    if origin is tuple and hints[-1] is not ...:
        each = hints
        if len(value) != len(hints):
            yield f"{name} has {len(value)} entries, not {len(hints)}"
    for number, (item, hint) in enumerate(zip(value, each, strict=False)):
        yield misfit(item, hint, f"{name}[{number}]")


def _not_a(value: Any, hint: Any, name: str) -> str:
    shown = "None" if value is None else f"{_repr(value)} ({type(value).__name__})"
    return f"{name} is {shown}, not {type_words(hint)}"


def _repr(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:  # `__repr__` may be user-defined
        return "a value"


def _generic_words(annotation: Any, origin: Any, args: tuple[Any, ...]) -> str:
    """Return a type with a type in brackets, such as ``Sequence[str]``, as people read it."""
    if origin in (Mapping, dict):
        return "dict"
    if isinstance(origin, type) and issubclass(origin, Callable):  # type: ignore[arg-type]
        return "function"
    if origin is tuple and Ellipsis not in args:
        return f"({', '.join(map(type_words, args))})"
    if origin in (Sequence, list, tuple, frozenset, set):
        return f"list of {type_words(args[0])}" if args and args[0] is not Any else "list"
    return str(getattr(annotation, "__name__", annotation))
