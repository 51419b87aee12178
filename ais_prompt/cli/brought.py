"""The options that extensions bring to verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ais_prompt.steps import brought_options, extensions

if TYPE_CHECKING:
    from ais_prompt.extension import Place

Command = TypeVar("Command", bound=Callable[..., Any])


def brought_names(*places: Place) -> list[str]:
    """Return the names in a command of the options for verbs of some places."""
    options = (option for one in extensions() for place in places for option in one.options.get(place, ()))
    return sorted({option.lstrip("-").replace("-", "_") for option in options})


BROUGHT: Final = brought_names("config", "stored", "names")
"""The names of the options that say which config a command means."""


def brought(place: Place) -> Callable[[Command], Command]:
    """Return what adds the options for verbs of a place to a command."""

    def add(command: Command) -> Command:
        for option in reversed(brought_options(place).values()):
            command = option(command)
        return command

    return add


def given_options(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return those options that are given.

    Args:
        values: the parameters of a command.
        names: of the options.
    """
    return {name: values[name] for name in names if values.get(name)}
