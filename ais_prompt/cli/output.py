"""The options of what is printed: ``--json``, ``-q``, ``-v``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from ais_prompt.checks.warning import PromptWarning
    from ais_prompt.errors import AisPromptError

Command = TypeVar("Command", bound=Callable[..., Any])

_KEY = "ais_prompt.output"
_NARROWEST: Final = 24
"""Least width of the last column of a table; a text with less room is below its line."""
_BELOW: Final = 6
"""Indent of such a text."""


@dataclass
class Output:
    """What a command prints, and what it has to say as JSON.

    Attributes:
        as_json: print one document, and nothing else, on standard output.
        level: of `ais_prompt.utils.verbosity`.
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


def hint(text: str, *, err: bool = False) -> None:
    """Print a line that is not a result, such as what to do next; with ``-q`` nothing."""
    if output_of(click.get_current_context()).level >= 0:
        click.echo(text, err=err)


def repeat_mistakes(warnings: Sequence[PromptWarning], *, err: bool = True) -> None:
    """Name misspelt placeholders again where a command ends; with ``-q`` nothing."""
    from ais_prompt.checks.warning import MisspeltPlaceholder
    from ais_prompt.utils.text import printable

    if line := MisspeltPlaceholder.summary(warnings):
        hint(click.style(printable(line), fg="yellow", bold=True), err=err)


def hanging(head: str, text: str, *, breaks: bool = True) -> str:
    """Return a line of a table whose last column is a text: in a terminal as many lines as it needs, below each other.

    Args:
        head: the columns before the text, with the space between.
        text: the last column.
        breaks: whether the text may be broken between words. A command is not: it must stay easy to copy.
    """
    if not sys.stdout.isatty():
        return f"{head}{text}".rstrip()
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    if len(head) + len(text) <= width:
        return f"{head}{text}".rstrip()
    room = width - len(head)
    is_beside = breaks and room >= max([_NARROWEST, *map(len, text.split())])
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
    from ais_prompt.utils.verbosity import verbosity

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
                code = end.exit_code
                raise
            finally:
                stdout.write(_document(ctx, output, code))
                stdout.flush()


def _document(ctx: click.Context, output: Output, code: int) -> str:
    import msgspec

    from ais_prompt.report.documents import DOCUMENTS, faults
    from ais_prompt.utils.jsonl import encode_finite

    verb = str(ctx.info_name)
    errors = faults(output.error) if output.error else []
    document = DOCUMENTS[verb](kind=verb, exit_code=code, errors=errors, **output.fields)
    text = encode_finite(msgspec.to_builtins(document, str_keys=True))
    return msgspec.json.format(text, indent=2).decode().rstrip("\n") + "\n"
