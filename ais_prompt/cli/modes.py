"""Modes of ``run`` that extensions bring: their options, and what they do in place of asking and scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ais_prompt.extension import REINSTALL, ModeEntry, import_object, missing_extension
from ais_prompt.steps import extensions

if TYPE_CHECKING:
    from ais_prompt.cli.gate_options import GateKeeper
    from ais_prompt.plan import Plan

Command = TypeVar("Command", bound=Callable[..., Any])


class RunMode(NamedTuple):
    """What a mode does. `ais_prompt.cli.modes.mode_of` finds it.

    Attributes:
        source: (options that name a config, values of the options of modes by name) → these options as the mode needs
            them: settings that the command line implies are among the ``overrides``.
        preview: (plan, values of the command) → nothing: print what the mode would do, for ``--dry-run``.
        run: (context of the command, plan, gates, values of the options of gates) → the exit code.
    """

    source: Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]]
    preview: Callable[[Plan, Mapping[str, Any]], None]
    run: Callable[[click.Context, Plan, GateKeeper, Mapping[str, Any]], int]


@cache
def modes() -> Mapping[str, ModeEntry]:
    """Return the modes of all extensions, by name."""
    return {name: mode for one in extensions() for name, mode in one.modes.items()}


def mode_of(name: str) -> RunMode | None:
    """Return a mode of an extension; None for those of the core."""
    found: RunMode | None = import_object(modes()[name].home) if name in modes() else None
    return found


class Mode(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """A mode of a run. One of an extension that is not here says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the mode.

        Raises:
            click.UsageError: there is no such mode.
        """
        if owner := missing_extension(f"-m {value}"):
            self.fail(f"the extension {owner!r} has {value!r}, and is not here: {REINSTALL}", param, ctx)
        return super().convert(value, param, ctx)


def mode_help() -> str:
    """Return the lines of all modes, for the help of ``--mode``."""
    return ", ".join(f"{name} {mode.line}" for name, mode in modes().items())


def mode_options(command: Command) -> Command:
    """Add the options of all modes to a command."""
    for option in reversed(_options()):
        command = click.option(cls=lambda *_, made=option, **__: made)(command)  # type: ignore[arg-type]
    return command


def mode_option_names() -> list[str]:
    """Return the names of the options of all modes in a command."""
    return [str(option.name) for option in _options()]


def take_mode_options(options: dict[str, Any], mode: str) -> dict[str, Any]:
    """Return the options that name a config as a mode needs them, without the options of modes.

    Args:
        options: those of the command.
        mode: of the run.

    Raises:
        ConfigError: an option of another mode is given.
    """
    from ais_prompt.errors import ConfigError

    values = {str(option.name): options.pop(str(option.name)) for option in _options()}
    own = _options_of(mode) if mode in modes() else ()
    for option in _options():
        if values[str(option.name)] and option not in own:
            name = option.opts[0]
            owner = next(mode for mode in modes() if option in _options_of(mode))
            raise ConfigError(f"{name} is an option of -m {owner}", where=name, fix=f"add -m {owner}")
    found = mode_of(mode)
    return options if found is None else found.source(options, values)


@cache
def _options() -> tuple[click.Option, ...]:
    """Return the options of all modes, each once."""
    return tuple(dict.fromkeys(option for name in modes() for option in _options_of(name)))


def _options_of(mode: str) -> tuple[click.Option, ...]:
    found: tuple[click.Option, ...] = import_object(modes()[mode].options)
    return found
