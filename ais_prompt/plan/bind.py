"""Check the arguments of a part against its signature, without building it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Unpack, get_args, get_origin, get_type_hints

from msgspec import Struct
from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from ais_prompt.config import parse_literal
from ais_prompt.errors import ConfigError
from ais_prompt.parts import key_advice, type_words
from ais_prompt.secrets import SECRETS

PARTS_KEPT: Final = 512
"""Signatures of parts, and checks of types, that are kept."""


def argument_faults(
    part: Callable[..., Any], args: Mapping[str, Any], where: str, *, given: int = 0
) -> Iterator[ConfigError]:
    """Return everything that is wrong with the arguments of a class or function.

    Args:
        part: the class or function that will be called with ``**args``.
        args: the arguments from the config.
        where: config path of the part.
        given: how many first parameters the program itself fills in (the text of a postprocessor: 1).
    """
    accepted = _accepted(part, given)
    if accepted is None:
        return
    name = getattr(part, "__name__", str(part))
    for key in accepted.unknown(args):
        fix = key_advice(key, accepted.hints)
        yield ConfigError(f"{name} has no argument {key!r}", where=f"{where}.{key}", fix=fix)
    for key in accepted.needed:
        if key not in args:
            yield ConfigError(f"{name} needs {key!r}", where=where, fix=f"add {key}=...")
    for key, value in args.items():
        if key in accepted.hints and (fault := _fault(accepted.hints[key], value, f"{key!r} of {name}")):
            fault.where = f"{where}.{fault.where if fault.where.startswith(f'{key}.') else key}"
            yield fault


def accepts(part: Callable[..., Any], name: str) -> bool:
    """Return whether a part has an argument of this name, also one of ``**options``."""
    accepted = _accepted(part, 0)
    return accepted is not None and not accepted.unknown([name])


class _Accepted(Struct, frozen=True):
    """The arguments that a part accepts.

    Attributes:
        hints: name → type hint, `Any` without one.
        needed: the names of those without a default.
        takes_any: whether any other name is accepted too.
    """

    hints: Mapping[str, Any]
    needed: Sequence[str]
    takes_any: bool

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that are not accepted."""
        return [] if self.takes_any else [name for name in names if name not in self.hints]


@lru_cache(PARTS_KEPT)
def _accepted(part: Callable[..., Any], given: int) -> _Accepted | None:
    """Return what a part accepts after the parameters that are given; None of the builtins that tell no signature.

    It takes as long to find as reading a small dataset, and a thousand datasets have the same parts.
    """
    try:
        parameters = list(inspect.signature(part).parameters.values())[given:]
    except ValueError:
        return None
    try:
        hints = get_type_hints(part.__init__ if inspect.isclass(part) else part, include_extras=True)
    except (NameError, TypeError):  # hints of somebody else's part that cannot be resolved are not checked
        hints = {}
    named = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    # ``**options: Unpack[SomeTypedDict]`` (PEP 692)
    rest = next((hints.get(p.name) for p in parameters if p.kind is p.VAR_KEYWORD), None)
    options = get_type_hints(get_args(rest)[0], include_extras=True) if get_origin(rest) is Unpack else {}
    return _Accepted(
        {one.name: hints.get(one.name, Any) for one in named} | options,
        [one.name for one in named if one.default is one.empty],
        not options and any(one.kind is one.VAR_KEYWORD for one in parameters),
    )


def _fault(hint: Any, value: Any, name: str) -> ConfigError | None:
    """Say why a value does not fit a type hint; a validator in the hint may raise its own ConfigError."""
    try:
        _adapter(hint).validate_python(value)
    except ValidationError as error:
        problem = "; ".join(dict.fromkeys(item["msg"][:1].lower() + item["msg"][1:] for item in error.errors()))
        what = f"{name} cannot be {SECRETS.hide_in_value(value)!r}: {problem}"
        meant = next((other for other in _other_forms(value) if _fits(hint, other)), None)
        if meant is not None:
            return ConfigError(what, fix=f"write {SECRETS.hide_in_value(meant)!r}")
        number = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*[A-Za-z%]+", value) if isinstance(value, str) else None
        without = f", without a unit, such as {number[1]}" if number and _fits(hint, float(number[1])) else ""
        return ConfigError(what, fix=f"it takes {type_words(hint)}{without}")
    except ConfigError as error:
        return error
    except PydanticUserError:  # the hint brings its own config (a pydantic model, a TypedDict)
        return None
    return None


def _other_forms(value: Any) -> Iterator[Any]:
    """Yield what may be meant by a value of the wrong type: a number for its text, a text for a number, a list."""
    if isinstance(value, str):
        yield parse_literal(value)
        yield [value]
    elif isinstance(value, int | float):
        if isinstance(value, float) and value.is_integer():
            yield int(value)
        yield str(value)


def _fits(hint: Any, value: Any) -> bool:
    try:
        _adapter(hint).validate_python(value)
    except (ValidationError, ConfigError, PydanticUserError):
        return False
    return True


def _adapter(hint: Any) -> TypeAdapter[Any]:
    try:
        return _kept_adapter(hint)
    except TypeError:  # not hashable, such as Annotated[int, {}]
        return _kept_adapter.__wrapped__(hint)


@lru_cache(PARTS_KEPT)
def _kept_adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True, strict=True))
