"""Check the arguments of a part against its signature, without building it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Unpack, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from ais_prompt.errors import ConfigError
from ais_prompt.utils.secrets import SECRETS
from ais_prompt.utils.text import listed

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
    found = _signature(part)
    if found is None:
        return
    parameters, hints = found[0][given:], dict(found[1])
    named = _named_in_typed_dict(parameters, hints)
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)] + list(named)
    takes_any = not named and any(p.kind is p.VAR_KEYWORD for p in parameters)
    name = getattr(part, "__name__", str(part))
    for key in args:
        if key not in names and not takes_any:
            yield ConfigError(f"{name} has no argument {key!r}", where=f"{where}.{key}", fix=_nearest(key, names))
    for parameter in parameters:
        if parameter.name in names and parameter.default is parameter.empty and parameter.name not in args:
            yield ConfigError(f"{name} needs {parameter.name!r}", where=where, fix=f"add {parameter.name}=...")
    hints |= named
    for key, value in args.items():
        if key in names and key in hints and (fault := _fault(hints[key], value, f"{key!r} of {name}")):
            fault.where = f"{where}.{fault.where if fault.where.startswith(f'{key}.') else key}"
            yield fault


@lru_cache(PARTS_KEPT)
def _signature(part: Callable[..., Any]) -> tuple[Sequence[inspect.Parameter], Mapping[str, Any]] | None:
    """Return the parameters of a part and their type hints; None of the builtins that tell no signature.

    They take as long to find as reading a small dataset, and a thousand datasets have the same parts.
    """
    try:
        return list(inspect.signature(part).parameters.values()), _hints(part)
    except ValueError:
        return None


def _named_in_typed_dict(parameters: Iterable[inspect.Parameter], hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names and hints that ``**options: Unpack[SomeTypedDict]`` means (PEP 692)."""
    rest = next((hints.get(p.name) for p in parameters if p.kind is p.VAR_KEYWORD), None)
    return get_type_hints(get_args(rest)[0], include_extras=True) if get_origin(rest) is Unpack else {}


def _nearest(key: str, names: list[str]) -> str:
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {listed(names) or 'none'}"


def _hints(part: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(part.__init__ if inspect.isclass(part) else part, include_extras=True)
    except (NameError, TypeError):  # hints of somebody else's part that cannot be resolved are not checked
        return {}


def _fault(hint: Any, value: Any, name: str) -> ConfigError | None:
    """Say why a value does not fit a type hint; a validator in the hint may raise its own ConfigError."""
    try:
        _adapter(hint).validate_python(value)
    except ValidationError as error:
        problem = "; ".join(dict.fromkeys(_worded(item["msg"]) for item in error.errors()))
        return ConfigError(f"{name} cannot be {SECRETS.hide_in_value(value)!r}: {problem}")
    except ConfigError as error:
        return error
    except PydanticUserError:  # the hint brings its own config (a pydantic model, a TypedDict)
        return None
    return None


def _adapter(hint: Any) -> TypeAdapter[Any]:
    try:
        return _kept_adapter(hint)
    except TypeError:  # not hashable, such as Annotated[int, {}]
        return _kept_adapter.__wrapped__(hint)


@lru_cache(PARTS_KEPT)
def _kept_adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True, strict=True))


def _worded(message: str) -> str:
    return message[:1].lower() + message[1:]
