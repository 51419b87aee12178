"""What all verbs share: options with several names, errors of three lines with an exit code, and how output is printed.

`Verb` is the class of every command. ``--json``, ``-q`` and ``-v`` decide how a command prints its `Output`.
"""

from __future__ import annotations

import os
import os.path
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ais_prompt.cli.habits import advice_on, as_written_here
from ais_prompt.config import CONFIG_FOLDERS, SearchFolders
from ais_prompt.errors import AisPromptError, ConfigError, InternalError
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.processes import interruption, terminable
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import brought_options
from ais_prompt.utils import NARROWEST, escaped, one_line, reviewable_json

if TYPE_CHECKING:
    from ais_prompt.checks import PromptWarning
    from ais_prompt.errors import AisPromptError
    from ais_prompt.extension import Place

SPREAD: Final = {"--models", "--datasets"}
"""Options that take all names up to the next option: ``--models a b --datasets c``."""

REUSE: Final = {"-r", "--reuse"}
"""The option whose value may be left out."""

SHARD: Final = "--shard"

CODE_EXECUTION: Final = "--allow-code-execution"
"""The flag that takes a value behind ``=``, and never the next word."""

GIVEN: Final = "ais_prompt.given"
"""In the ``meta`` of a context: the arguments in click's own form."""

ALL_OPTIONS: Final = "ais_prompt.all_options"
"""In the ``meta`` of a context: whether its help shows all options."""

_EMPTY = re.compile(r"(--[\w-]+=)?")
_RUN_NAME = re.compile(r"latest|\d{8}_\d{6}Z?(_\d+)?")

Command = TypeVar("Command", bound=Callable[..., Any])

_KEY = "ais_prompt.output"
_OTHERS: Final = "Others"
"""Title of the options without another one."""
_LEAST_BESIDE: Final = 24
"""Least width of the last column of a table; a text with less room is below its line."""
_BELOW: Final = 6
"""Indent of such a text."""

GONE: Final = {
    "--audit-scorers": "--audit does this",
    "--stop-early": "--sample ±2 draws as many questions as that precision needs, see docs/samples.md",
}
"""An option of earlier versions → what to use in its place."""


def added(options: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """Return what adds options to a command, in their order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def brought(place: Place) -> Callable[[Command], Command]:
    """Return what adds the options that extensions bring to verbs of a place to a command."""
    return added([*brought_options(place).values()])


def given_options(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return those options that are given.

    Args:
        values: the parameters of a command.
        names: of the options.
    """
    return {name: values[name] for name in names if values.get(name)}


class Verb(click.Command):
    """A command that ends with three lines instead of a traceback, unless it has ``--debug``.

    Args:
        first: title → the options that ``--help`` shows below it. ``--help-all`` shows the others too. Empty for a
            command with few options.
        further: title → the names of other parameters, as ``--help-all`` shows them.
    """

    def __init__(
        self,
        *args: Any,
        first: Mapping[str, Sequence[str]] | None = None,
        further: Mapping[str, Container[str]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.first = first or {}
        self.further = further or {}
        if self.first:
            self.params.append(_help_all())
        for parameter in self.params:
            if parameter.type is click.STRING:
                # A shell completes a text as a path, as for other programs. What reads it reports what cannot be read.
                parameter.type = click.Path(readable=False)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the command line. An error in it becomes a document, too, if ``--json`` is one of the words."""
        words = list(args[1])
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            if (ctx := error.ctx) is not None and "--json" in words:
                from ais_prompt.verbs import document_of

                if document_of(str(ctx.info_name)) is not None:  # else the verb prints its result alone
                    document = _document(ctx, Output(error=_as_config_error(ctx, error)), error.exit_code)
                    click.echo(document, nl=False)
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Bring the options that click does not know into its own form."""
        if any(_EMPTY.fullmatch(arg) for arg in args):
            raise click.UsageError("an argument is empty: is a variable of the command not set?", ctx)
        args = [f"{CODE_EXECUTION}=sandboxed" if arg == CODE_EXECUTION else arg for arg in args]
        args = as_written_here(args, self)
        try:
            # Shards and their servers name a run as they like.
            names_run = ctx.command.name == "serve" or any(arg.partition("=")[0] == SHARD for arg in args)
            ctx.meta[GIVEN] = _spread(args if names_run else _with_latest(args))
            return super().parse_args(ctx, list(ctx.meta[GIVEN]))
        except click.NoSuchOption as error:
            if owner := missing_extension(error.option_name):
                what = f"The extension {owner!r} has {error.option_name}, and is not here: {REINSTALL}"
                raise click.UsageError(what, ctx) from error
            if (advice := GONE.get(error.option_name) or advice_on(error.option_name)) is None:
                raise
            raise click.UsageError(f"{error.option_name} is not an option here: {advice}", ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options by what they are for."""
        if not self.first:
            super().format_options(ctx, formatter)
            return
        shown = [(option, record) for option in self.get_params(ctx) if (record := option.get_help_record(ctx))]
        sections = {title: [one for one in shown if {*one[0].opts} & {*names}] for title, names in self.first.items()}
        first = {name for names in self.first.values() for name in names}
        others = [one for one in shown if isinstance(one[0], click.Option) and not {*one[0].opts} & first]
        further: dict[str, list[Any]] = {}
        for one in others:
            titles = (title for title, names in self.further.items() if one[0].name in names)
            further.setdefault(next(titles, _OTHERS), []).append(one)
        if ctx.meta.get(ALL_OPTIONS):
            ordered = [title for title in (*self.further, _OTHERS) if title in further]
            sections |= {title: further[title] for title in ordered}
        for title, section in sections.items():
            with formatter.section(title):
                formatter.write_dl([record for _, record in section])
        if not ctx.meta.get(ALL_OPTIONS):
            formatter.write_paragraph()
            formatter.write_text(f"{len(others)} more options: {ctx.command_path} --help-all")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the user becomes its lines and its exit code."""
        with terminable(), printed(ctx):
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except AisPromptError as error:
                output_of(ctx).error = error
                report(error, debug=ctx.params.get("debug", False))
                ctx.exit(error.exit_code)
            except KeyboardInterrupt as stop:
                output_of(ctx).error = stopped = interruption(stop, "stopped before any work was done")
                report(stopped, debug=False)
                ctx.exit(stopped.exit_code)
            except Exception as error:
                from ais_prompt.store import system_error  # only now: it imports much

                if refused := system_error(error):
                    output_of(ctx).error = refused
                    report(refused, debug=ctx.params.get("debug", False))
                    ctx.exit(refused.exit_code)
                output_of(ctx).error = InternalError(f"unexpected {type(error).__name__}: {error}")
                _report_bug(error, debug=ctx.params.get("debug", False))
                ctx.exit(70)


def _help_all() -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given and not ctx.resilient_parsing:
            ctx.meta[ALL_OPTIONS] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    help = "Show all options and exit."
    return click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def report(error: AisPromptError, *, debug: bool) -> None:
    """Print an error to standard error: what, where, and how to fix it. In a terminal sentences break between words."""
    import shutil
    import textwrap

    if debug:
        _print("".join(traceback.format_exception(error)))
    width = max(shutil.get_terminal_size().columns, NARROWEST)
    for line in error.lines():
        # Places and commands stay whole, so that they can be copied.
        breaks = sys.stderr.isatty() and len(line) > width and not line.startswith(" ")
        _print(
            textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
            if breaks
            else line
        )


def is_config(word: str) -> bool:
    """Return whether a word names a config: a path, with or without ``.py``, or a shipped one."""
    from ais_prompt.config import list_configs

    return word.endswith(".py") or os.path.isfile(f"{word}.py") or word in list_configs()  # noqa: PTH113  # a long name raises nothing


@dataclass
class Output:
    """What a command prints, and what it has to say as JSON.

    Attributes:
        as_json: print one document, and nothing else, on standard output.
        level: of `ais_prompt.terminal.progress`.
        with_speed: print how fast the servers answered.
        fields: of the document, as far as they are known.
        error: why the command failed.
    """

    as_json: bool = False
    level: int = 0
    with_speed: bool = False
    fields: dict[str, Any] = field(default_factory=dict)
    error: AisPromptError | None = None


def _flag(*names: str, help: str, **values: Any) -> Callable[[Command], Command]:
    """Return an option that sets fields of `Output` and is no argument of the command."""

    def given(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given:
            for name, value in values.items():
                setattr(output_of(ctx), name, value)

    return click.option(*names, is_flag=True, expose_value=False, callback=given, help=help)


json_option = _flag(
    "--json", as_json=True, help="Print one JSON document (docs/schemas), and nothing else, on standard output."
)
quiet_option = _flag(
    "-q", "--quiet", level=-1, help="Print results and errors only: no progress, no warnings, no hints."
)
verbose_option = _flag("-v", "--verbose", level=1, help="Print every message of logs/run.log too.")
speed_option = _flag(
    "--speed", with_speed=True, help="Print requests and tokens per second, and latencies, below the scores."
)


def output_of(ctx: click.Context) -> Output:
    """Return what a command prints."""
    found: Output = ctx.meta.setdefault(_KEY, Output())
    return found


def wants_json() -> bool:
    """Return whether the running command prints a document."""
    return output_of(click.get_current_context()).as_json


def offer(**fields: Any) -> None:
    """Put fields into the document of the running command; they are dropped without ``--json``."""
    output_of(click.get_current_context()).fields.update(fields)


def echo(text: str = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a text. What comes from logs, seals, data and servers may not control the terminal.

    Args:
        text: any text.
        err: print it on standard error.
        nl: end the line.
        style: as for ``click.style``, such as ``bold=True``.
    """
    from ais_prompt.utils import printable

    text = printable(text)
    click.echo(click.style(text, **style) if style else text, err=err, nl=nl)


def hint(text: str, *, err: bool = False, **style: Any) -> None:
    """Print a line that is not a result, such as what to do next; with ``-q`` nothing.

    Its labels are in the reader's language in a terminal; files and pipes, which programs read, have English ones.
    """
    from ais_prompt.report import hint_in_language

    if output_of(click.get_current_context()).level >= 0:
        is_terminal = (sys.stderr if err else sys.stdout).isatty()
        echo(hint_in_language(text) if is_terminal else text, err=err, **style)


def repeat_mistakes(warnings: Sequence[PromptWarning], *, err: bool = True) -> None:
    """Name misspelt placeholders again where a command ends; with ``-q`` nothing."""
    from ais_prompt.checks import MisspeltPlaceholder

    if line := MisspeltPlaceholder.summary(warnings):
        hint(line, err=err, fg="yellow", bold=True)


def hanging(head: str, text: str, *, breaks: bool = True) -> str:
    """Return a line of a table whose last column is a text: in a terminal as many lines as it needs, below each other.

    Args:
        head: the columns before the text, with the space between.
        text: the last column, of which a line break is shown as an escape.
        breaks: whether the text may be broken between words. A command is not: it must stay easy to copy.
    """
    text = one_line(text)
    if not sys.stdout.isatty():
        return f"{head}{text}".rstrip()
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns, NARROWEST)
    if len(head) + len(text) <= width:
        return f"{head}{text}".rstrip()
    room = width - len(head)
    is_beside = breaks and room >= max([_LEAST_BESIDE, *map(len, text.split())])
    indent = len(head) if is_beside else _BELOW
    start = head if is_beside else f"{head.rstrip()}\n{' ' * indent}"
    lines = textwrap.wrap(text, width - indent, break_long_words=False, break_on_hyphens=False) if breaks else [text]
    return start + f"\n{' ' * indent}".join(lines)


@contextmanager
def printed(ctx: click.Context) -> Iterator[None]:
    """Print what the body prints as the options say.

    With ``--json`` what it prints on standard output is dropped, and the document is printed when the body ends,
    however it ends. Progress, warnings and errors stay on standard error.
    """
    output = output_of(ctx)
    if not output.as_json and not output.level:
        yield
        return
    from ais_prompt.terminal import verbosity

    with verbosity(output.level):
        if not output.as_json:
            yield
            return
        stdout, code = sys.stdout, 0
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            try:
                yield
            except click.exceptions.Exit as end:
                code = end.exit_code
                raise
            except click.ClickException as end:
                code, output.error = end.exit_code, _as_config_error(ctx, end)
                raise
            finally:
                stdout.write(_document(ctx, output, code))
                stdout.flush()


def _as_config_error(ctx: click.Context, error: click.ClickException) -> ConfigError:
    return ConfigError(error.format_message(), fix=f"{ctx.command_path} --help")


def _print(text: str) -> None:
    from ais_prompt.terminal import close_bars

    close_bars()
    click.echo(escaped(SECRETS.hide_in_message(text)), err=True)


def _report_bug(error: Exception, *, debug: bool) -> None:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if debug:
        _print("".join(traceback.format_exception(error)))
    _print(f"Unexpected {type(error).__name__}: {error}")
    _print(f"  where: {frame.filename}:{frame.lineno}")
    _print("  fix:   this is a bug of aisprompt or of a part of yours; --debug shows the traceback")


def _with_latest(args: Sequence[str]) -> list[str]:
    """Take ``-r`` without a run as ``-r latest``."""
    complete: list[str] = []
    for position, arg in enumerate(args):
        complete.append(arg)
        if arg in REUSE and not _names_run(args[position + 1 : position + 2]):
            complete.append("latest")
    return complete


def _names_run(following: Sequence[str]) -> bool:
    """Return whether the word after ``-r`` is a run, known or not: anything but an option or a config."""
    return any(
        _RUN_NAME.fullmatch(word) or os.path.isdir(word) or not (word.startswith("-") or is_config(word))  # noqa: PTH112  # a long name raises nothing
        for word in following
    )


def _spread(args: Sequence[str]) -> list[str]:
    """Write ``--models a b`` as click reads it: ``--models a --models b``."""
    spread: list[str] = []
    option = ""
    for arg in args:
        if arg.startswith("-"):
            option = ""
        elif option and spread[-1] != option:
            spread.append(option)
        spread.append(arg)
        if arg in SPREAD:
            option = arg
    return spread


def _document(ctx: click.Context, output: Output, code: int) -> str:
    import msgspec

    from ais_prompt import __version__
    from ais_prompt.types import Document
    from ais_prompt.utils import encode_finite
    from ais_prompt.verbs import document_of, faults

    verb = str(ctx.info_name)
    errors = faults(output.error) if output.error else []
    document = (document_of(verb) or Document)(
        kind=verb, version=__version__, exit_code=code, errors=errors, **output.fields
    )
    text = encode_finite(msgspec.to_builtins(document, str_keys=True))
    return reviewable_json(msgspec.json.format(text, indent=2).decode()).rstrip("\n") + "\n"


def folders_option(option: str, searched: SearchFolders, text: str) -> Callable[..., Any]:
    """Return an option that names folders for this command. It can be repeated."""

    def take(ctx: click.Context, _: click.Parameter, folders: tuple[str, ...]) -> None:
        searched.given = folders
        ctx.call_on_close(lambda: setattr(searched, "given", ()))

    return click.option(
        option,
        multiple=True,
        metavar="DIR",
        expose_value=False,
        callback=take,
        type=click.Path(exists=True, file_okay=False),
        help=text,
    )


CONFIG_DIR: Final = folders_option(
    "--config-dir", CONFIG_FOLDERS, "A folder with datasets/, models/ and summarizers/, whose configs can be named."
)
