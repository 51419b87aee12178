"""The options that extensions bring to verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ais_prompt.extension import PLACES
from ais_prompt.steps import brought_options, extensions

if TYPE_CHECKING:
    from ais_prompt.extension import Place

Command = TypeVar("Command", bound=Callable[..., Any])

BROUGHT: Final = sorted(
    {
        option.lstrip("-").replace("-", "_")
        for one in extensions()
        for place in PLACES
        for option in one.options.get(place, ())
    }
)
"""The names of these options in a command."""


def brought(place: Place) -> Callable[[Command], Command]:
    """Return what adds the options for verbs of a place to a command."""

    def add(command: Command) -> Command:
        for option in reversed(brought_options(place).values()):
            command = option(command)
        return command

    return add


def given_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those that are given, for `Options`.

    Args:
        values: the parameters of a command.
    """
    return {name: values[name] for name in BROUGHT if values.get(name)}
