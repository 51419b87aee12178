"""What all verbs share: options with several names, and errors of three lines with an exit code."""

from __future__ import annotations

import os.path
import re
import traceback
from collections.abc import Sequence
from typing import Any, Final

import click

from ais_prompt.cli.output import output_of, printed
from ais_prompt.cli.peer_flags import answer_to, as_written_here
from ais_prompt.errors import AisPromptError, InternalError
from ais_prompt.utils.secrets import SECRETS
from ais_prompt.utils.signals import interruption, terminable
from ais_prompt.utils.text import escaped

SPREAD: Final = {"--models", "--datasets"}
"""Options that take all names up to the next option, as in OpenCompass: ``--models a b --datasets c``."""

REUSE: Final = {"-r", "--reuse"}
"""The option whose value may be left out."""

SHARD: Final = "--shard"

CODE_EXECUTION: Final = "--allow-code-execution"
"""The flag that takes a value behind ``=``, and never the next word."""

GIVEN: Final = "ais_prompt.given"
"""In the ``meta`` of a context: the arguments in click's own form."""

_EMPTY = re.compile(r"(--[\w-]+=)?")
_RUN_NAME = re.compile(r"latest|\d{8}_\d{6}Z?(_\d+)?")


class Verb(click.Command):
    """A command that ends with three lines instead of a traceback, unless it has ``--debug``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.type is click.STRING:
                # A shell completes a text as a path, as for other programs. What reads it reports what cannot be read.
                parameter.type = click.Path(readable=False)

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
            if (advice := answer_to(error.option_name)) is None:
                raise
            raise click.UsageError(f"{error.option_name} is not an option here: {advice}", ctx) from error

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
                from ais_prompt.store.disk import system_error  # only now: it imports much

                if refused := system_error(error):
                    output_of(ctx).error = refused
                    report(refused, debug=ctx.params.get("debug", False))
                    ctx.exit(refused.exit_code)
                output_of(ctx).error = InternalError(f"unexpected {type(error).__name__}: {error}")
                _report_bug(error, debug=ctx.params.get("debug", False))
                ctx.exit(70)


def report(error: AisPromptError, *, debug: bool) -> None:
    """Print an error to standard error: what, where, and how to fix it."""
    if debug:
        _print("".join(traceback.format_exception(error)))
    for line in error.lines():
        _print(line)


def _print(text: str) -> None:
    from ais_prompt.utils.progress import close_bars

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


def is_config(word: str) -> bool:
    """Return whether a word names a config: a path, with or without ``.py``, or a shipped one."""
    from ais_prompt.config.locate import list_configs

    return word.endswith(".py") or os.path.isfile(f"{word}.py") or word in list_configs()  # noqa: PTH113  # a long name raises nothing


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
