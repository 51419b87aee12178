"""The options of commands, made of `Options` and `Session`; among them those of extensions.

A command knows which of its words name the config, so that it can be shown again with other options.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args, get_origin

import click

from ais_prompt.cli.completion import complete_config, complete_name, complete_reuse
from ais_prompt.cli.habits import SETTINGS, advice_on
from ais_prompt.cli.verb import CODE_EXECUTION as ALLOW_CODE_EXECUTION
from ais_prompt.cli.verb import CONFIG_DIR, GIVEN, SPREAD, Command, added, given_options
from ais_prompt.config import Options, declared_options, refuse_lone_options
from ais_prompt.errors import ConfigError
from ais_prompt.steps import brought_options, extensions, steps
from ais_prompt.verbs import Session

if TYPE_CHECKING:
    from ais_prompt.config import OptionGroup, OptionSpec
    from ais_prompt.extension import Place

T = TypeVar("T", Options, Session)

MODEL_AND_DATA: Final = {
    "Model and data": (
        *("--url", "--model", "--hf-path", "--temperature", "--data", "--prompt"),
        *("--models", "--datasets", "--set", "--sweep"),
    ),
}
"""The options of a config that ``--help`` shows."""
_COMPLETED: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("models", "datasets", "summarizer"), complete_name),
    "reuse": complete_reuse,
}
"""Option → what completes its value in a shell."""
_WRITTEN = (str, list, bool)
"""The types of a value that was given, before click converts it."""


def names_of(*groups: OptionGroup) -> list[str]:
    """Return the names of the options of some groups in a command."""
    return [name for name, option in declared_options(Options).items() if option.spec.group in groups]


def brought_names(*places: Place) -> list[str]:
    """Return the names in a command of the options for verbs of some places."""
    options = (option for one in extensions() for place in places for option in one.options.get(place, ()))
    return sorted({option.lstrip("-").replace("-", "_") for option in options})


BROUGHT: Final = brought_names("config", "stored", "names")
"""The names of the options that say which config a command means."""
CONFIG_NAMES: Final = {"config", "config_dir", *names_of("config"), *BROUGHT}
"""The parameters that say which config a command means."""
SOURCE_NAMES: Final = {*CONFIG_NAMES, *names_of("run")}
"""The parameters that say which config a command means, and how it runs."""
FURTHER: Final[Mapping[str, Container[str]]] = {
    "More on model and data": {"config_dir", *names_of("config"), *(name[2:].replace("-", "_") for name in SETTINGS)},
    "Samples": names_of("sample"),
    "Configs of other programs": BROUGHT,
}
"""The options of a config that ``--help-all`` shows too."""
SESSION_NAMES: Final = [name for name, option in declared_options(Session).items() if option.flags]
"""The parameters of one session of a run."""


def with_options(*groups: OptionGroup) -> Callable[[Command], Command]:
    """Return what adds the options of some groups to a command; `read_options` takes their values."""
    made: list[Callable[[Any], Any]] = []
    for group in groups:
        if group == "config":
            made.append(click.argument("config", required=False, metavar="[CONFIG]", shell_complete=complete_config))
        made += [option_of(Options, name) for name in names_of(group)]
        if group == "config":
            made += [_setting_option(name, setting.meaning) for name, setting in SETTINGS.items()]
            made += [CONFIG_DIR, *brought_options("config").values()]
            made.append(click.option("--debug", is_flag=True, help="Show the traceback of an error."))
    return added(made)


def _setting_option(name: str, meaning: str) -> Callable[[Any], Any]:
    """Return an option of the model that the command line describes: `as_written_here` makes it ``--set`` before."""

    def refuse(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise click.UsageError(f"{name} is for a model of --url or --hf-path: {advice_on(name)}", ctx)

    return click.option(name, metavar="X", expose_value=False, callback=refuse, help=meaning)


def option_of(owner: type, name: str, more: str = "", **changes: Any) -> Callable[[Any], Any]:
    """Return an option of a command.

    Args:
        owner: `Options` or `Session`.
        name: of the field.
        more: what only the command line knows, at the end of its help.
        changes: arguments of `click.option` that differ in the command.
    """
    option = declared_options(owner)[name]
    spec, default = option.spec, option.default
    arguments = {"help": spec.meaning + more, "metavar": spec.metavar, "shell_complete": _COMPLETED.get(name)}
    if default:
        arguments |= {"default": default, "show_default": "(default" not in spec.meaning}
    return click.option(*option.flags, name, **{**arguments, **_value_of(option.kind, spec), **changes})


def _value_of(kind: Any, spec: OptionSpec) -> Mapping[str, Any]:
    """Return the arguments of `click.option` for the value of a field of this type."""
    if (words := spec.words) is not None:
        return {"type": click.Choice([*words]), "callback": lambda _, __, word: words.get(word, False)}
    if spec.parse is not None:
        return {"type": _Parsed(spec.parse)}
    once = ONCE if spec.once else {}
    if kind is bool:
        return {"is_flag": True}
    if kind == int | None:
        return {"type": click.IntRange(spec.least, spec.most), **once}
    if kind == float | None:
        return {"type": FiniteRange(spec.least, spec.most)}
    for one in (kind, *get_args(kind)):
        if get_origin(one) is Literal:
            return {"type": click.Choice(get_args(one))}
    return once if kind == str | None else {"multiple": True}


class FiniteRange(click.FloatRange):
    """A range of numbers, without infinity and without NaN, which is in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class _Parsed(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """A value that a function makes of a text."""

    name = "text"

    def __init__(self, parse: Callable[[str], object]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value."""
        if not isinstance(value, str):  # the default
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _only_once(ctx: click.Context, parameter: click.Parameter, values: tuple[Any, ...]) -> Any:
    """Return the value of an option that may be given once; click would drop all but the last.

    Raises:
        click.BadParameter: it is given several times.
    """
    if len(values) > 1:
        what = f"it is given {len(values)} times; give it once, or write a config with several datasets"
        raise click.BadParameter(what, ctx, parameter)
    return values[0] if values else None


ONCE: Final[Mapping[str, Any]] = {"multiple": True, "callback": _only_once}
"""Arguments of `click.option` for an option that is refused if it is given several times."""


def read_options(values: Mapping[str, Any]) -> Options:
    """Return what the values of a command say, those of extensions too.

    Raises:
        ConfigError: an option lacks the option that it belongs to, an extension refuses its options, or a server, a
            file with questions or weights stand in place of the config.
    """
    options = taken(Options, {**values, "options": given_options(values, BROUGHT)})
    _refuse_misplaced_word(options.config)
    refuse_lone_options(options)
    for complete in steps("source") if options.options else ():
        options = complete(options)
    return options


def _refuse_misplaced_word(config: str | None) -> None:
    """Refuse what has an option of its own in place of the config; the fix is the same command with the option.

    Raises:
        ConfigError: it is an address or a provider, a file with questions, or weights.
    """
    ctx = click.get_current_context(silent=True)
    if config is None or ctx is None or (found := _option_of_word(config)) is None:
        return
    option, what = found
    words = [str(ctx.info_name)]
    for word in ctx.meta[GIVEN]:
        words += [option, word] if word == config else [word]
    if option == "--data" and ctx.info_name == "run" and not {"--url", "--models", "--hf-path"} & {*words}:
        words += ["--url", "http://127.0.0.1:8000/v1"]
    raise ConfigError(f"{what}, and a config is written in Python", where=config, fix=shown_command(words))


def _option_of_word(word: str) -> tuple[str, str] | None:
    """Return the option for a word that is no config, and what the word is; None for any other word."""
    from ais_prompt.catalog import PROVIDERS
    from ais_prompt.config import is_data_file

    if word.startswith(("http://", "https://")) or word in PROVIDERS:
        return "--url", "this is the address of a server" if "/" in word else "this is a provider"
    path = Path(word)
    if is_data_file(path):
        return "--data", "this is a data file"
    if path.suffix == ".gguf" or (path / "config.json").is_file():
        return "--hf-path", "these are the weights of a model"
    return None


def taken(owner: type[T], values: Mapping[str, Any]) -> T:
    """Return an `Options` or a `Session` of those values of a command that are its fields."""
    return owner(**{one.name: values[one.name] for one in fields(owner) if one.name in values})


def given_words(ctx: click.Context, names: Container[str], *, without: re.Pattern[str] | None = None) -> list[str]:
    """Return the arguments of a command as they were given, the config first and each option by its long name.

    Args:
        ctx: of the command.
        names: the parameters to return.
        without: matches the values to leave out of options that can be repeated.
    """
    given: Mapping[str, Any]
    given, _, _ = ctx.command.make_parser(ctx).parse_args(list(ctx.meta[GIVEN]))
    words: list[str] = []
    for parameter in ctx.command.get_params(ctx):
        value, option = given.get(parameter.name or ""), max(parameter.opts, key=len)
        if parameter.name not in names or not isinstance(value, _WRITTEN):
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif option == ALLOW_CODE_EXECUTION:
            words.append(f"{option}=unsafe" if value == "unsafe" else option)
        elif isinstance(value, bool):
            words.append(option)
        elif isinstance(value, str):
            words += [option, value]
        else:
            kept = [one for one in value if without is None or not without.match(one)]
            if option in SPREAD:
                words += [option, *kept]
            else:
                words += [word for one in kept for word in (option, one)]
    return words


def shown_command(words: Sequence[str] | None = None) -> str:
    """Return a command line of these words, or the present one, for people; secrets are shown as ``***``."""
    from ais_prompt.config import redacted_override

    return shlex.join(["aisprompt", *map(redacted_override, sys.argv[1:] if words is None else words)])
