"""Modes of ``run`` that extensions bring: their options, and what they do in place of asking and scoring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ais_prompt.cli.options import option_of
from ais_prompt.cli.verb import GIVEN, Verb, added
from ais_prompt.config import Options, declared_options, refuse_lone_options
from ais_prompt.extension import REINSTALL, ModeEntry, import_object, missing_extension
from ais_prompt.steps import extensions, first_answer

if TYPE_CHECKING:
    from ais_prompt.cli.gate_options import GateKeeper
    from ais_prompt.plan import Plan
    from ais_prompt.types import RunSpec
    from ais_prompt.verbs import Session

Command = TypeVar("Command", bound=Callable[..., Any])


class ModeRun(NamedTuple):
    """One run in a mode.

    Attributes:
        plan: of a checked config.
        options: which config, and what of it is run.
        session: the options of a session, of which a mode may refuse some.
        own: the options of the mode, an instance of what `ModeEntry.options` names.
        keeper: the gates.
        debug: whether an error is shown with its traceback.
    """

    plan: Plan
    options: Options
    session: Session
    own: Any
    keeper: GateKeeper
    debug: bool


class RunMode(NamedTuple):
    """What a mode does. `ais_prompt.cli.modes.mode_of` finds it.

    Attributes:
        source: (values of the command by name, options of the mode) → values that name a config as the mode needs it:
            settings that the command line implies are among the ``overrides``.
        preview: (the run) → nothing: print what the mode would do, for ``--dry-run``.
        run: (the run) → the exit code.
    """

    source: Callable[[dict[str, Any], Any], dict[str, Any]]
    preview: Callable[[ModeRun], None]
    run: Callable[[ModeRun], int]


class DividedRun(NamedTuple):
    """How several processes ask one run. The step ``divided`` returns it.

    Attributes:
        options: (options of the config) → those that this process uses.
        tasks: (spec of the run) → names of the tasks that this process asks, so that it reads no others; None for all,
            or if that is not decided yet.
        preview: (the run) → nothing: print what would be started, for ``--dry-run``.
        run: (the run, values of the options of gates) → the exit code; None if this process asks the whole run.
    """

    options: Callable[[Options], Options]
    tasks: Callable[[RunSpec], Collection[str] | None]
    preview: Callable[[ModeRun], None]
    run: Callable[[ModeRun, Mapping[str, Any]], int | None]


def divided_run(session: Session) -> DividedRun:
    """Return how several processes ask a run.

    Raises:
        ConfigError: the command line asks for it, and the extension that does it is missing.
    """
    found: DividedRun | None = first_answer("divided", session)
    if found is not None:
        return found
    for flag in ("shard", "runner"):
        if getattr(session, flag) is not None:
            from ais_prompt.errors import ConfigError

            what = f"the extension {missing_extension('divided')!r} has --{flag}, and is not here"
            raise ConfigError(what, where=f"--{flag}", fix=REINSTALL)
    return DividedRun(lambda options: options, lambda _: None, lambda _: None, lambda *_: None)


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
    """Add the options of all modes to a command; the help of each names its mode.

    An option that `Options` has too is there already: in its mode, the mode takes the value (`take_mode_options`).
    """
    options = [
        option_of(owner, name, help=f"{_belongs_to(mode)}{option.spec.meaning}")
        for owner, mode in _owners().items()
        for name, option in declared_options(owner).items()
        if name not in declared_options(Options)
    ]
    return added(options)(command)


class CommandWithModes(Verb):
    """A command with the options of modes: the help of ``-m NAME`` begins with those of this mode."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make the command; the help of an option that a mode has too says both meanings."""
        super().__init__(*args, **kwargs)
        for owner, mode in _owners().items():
            for name in declared_options(owner).keys() & declared_options(Options).keys():
                meaning = f" {_belongs_to(mode)}{declared_options(owner)[name].spec.meaning}"
                for option in self.params:
                    if option.name == name and isinstance(option, click.Option):
                        option.help = (option.help or "") + meaning

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of the mode that is named, then those of all modes."""
        given: Mapping[str, Any]
        given, _, _ = self.make_parser(ctx).parse_args(list(ctx.meta.get(GIVEN, ())))
        if (mode := modes().get(given.get("mode", ""))) is not None:
            owner = import_object(mode.options)
            options = (one for one in self.params if one.name in declared_options(owner))
            records = [record for one in options if (record := one.get_help_record(ctx))]
            prefix = _belongs_to(_owners()[owner])
            with formatter.section(f"-m {given['mode']}, which {mode.line}"):
                formatter.write_dl([(flags, text.rpartition(prefix)[2]) for flags, text in records])
        super().format_options(ctx, formatter)


def _belongs_to(mode: str) -> str:
    return f"With -m {mode}: "


def mode_option_names() -> list[str]:
    """Return the names of the options that only modes have."""
    return [name for owner in _owners() for name in declared_options(owner) if name not in declared_options(Options)]


def take_mode_options(values: dict[str, Any], mode: str) -> tuple[dict[str, Any], Any]:
    """Return the values that name a config as a mode needs them, and the options of the mode.

    Args:
        values: those of the command.
        mode: of the run.

    Raises:
        ConfigError: an option of another mode is given, or one lacks the option that it belongs to.
    """
    from ais_prompt.errors import ConfigError

    own, shared = None, declared_options(Options)
    for owner, first in _owners().items():
        is_meant = mode in modes() and import_object(modes()[mode].options) is owner
        names = [name for name in declared_options(owner) if is_meant or name not in shared]
        given = owner(**{name: values[name] for name in names})
        if is_meant:
            own = given
            refuse_lone_options(own)
            values = {**values, **{name: shared[name].default for name in names if name in shared}}
        for name, option in declared_options(owner).items():
            if given is not own and getattr(given, name) != option.default:
                [flag] = option.flags
                raise ConfigError(f"{flag} is an option of -m {first}", where=flag, fix=f"add -m {first}")
    found = mode_of(mode)
    return (values if found is None else found.source(values, own)), own


@cache
def _owners() -> Mapping[type, str]:
    """Return the options of all modes: dataclass → the first mode that has it."""
    found: dict[type, str] = {}
    for name, mode in modes().items():
        found.setdefault(import_object(mode.options), name)
    return found
