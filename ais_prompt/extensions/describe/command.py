"""``aisprompt describe``: the reference in a terminal."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from ais_prompt.catalog import PARTS
from ais_prompt.cli.verb import CONFIG_DIR, Verb, brought, echo, json_option, offer, wants_json
from ais_prompt.errors import ConfigError

if TYPE_CHECKING:
    from ais_prompt.types import Argument, Entry

WIDEST: Final = 100


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    from ais_prompt.steps import steps

    benchmarks = (one.name for step in steps("benchmarks") for one in step()[1])
    names = sorted({*benchmarks, *(name for parts in PARTS.values() for name in parts)})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(cls=Verb, context_settings={"ignore_unknown_options": True})  # `describe --set`
@brought("names")
@CONFIG_DIR
@click.argument("name", shell_complete=_complete)
@click.option("--schema", is_flag=True, help="Print the JSON schema of a file of a run folder.")
@json_option
def describe(name: str, schema: bool) -> None:
    """Describe a part, key, error, file, option, function, benchmark or config by its NAME; also a dict of a config.

    For example FixKRetriever, reader_cfg, reader_cfg.test_range, StoreError, run.json, run, --set, ais_prompt.compare,
    gsm8k, gsm8k_gen_1d7fe4. SKILL.md and llms.txt print these files, for agents that use this program.
    """
    from ais_prompt.extensions.describe.code_entries import plugin_entries
    from ais_prompt.extensions.describe.config_files import config_file_entries
    from ais_prompt.extensions.describe.lookup import entry_text, find
    from ais_prompt.extensions.describe.programs import LLMS, SKILL, llms_txt, skill
    from ais_prompt.steps import steps
    from ais_prompt.types import Entry
    from ais_prompt.utils import NARROWEST

    if schema and wants_json():
        raise click.UsageError("--schema prints JSON as it is: leave --json out")
    if name in (SKILL, LLMS) and not schema:
        text = {SKILL: skill, LLMS: llms_txt}[name](command_entries())
        offer(entries=[Entry(name, "files", "file", "A file for programs that use this program.", text)])
        echo(text, nl=False)
        return
    if schema:
        _print_schema(name)
        return
    more = [*command_entries(), *plugin_entries()]
    told = [entry for entries in steps("entries") for entry in entries(name)]
    more += [*told, *config_file_entries(name, {config for entry in told for config in entry.also})]
    found = find(name.removeprefix("ais_prompt."), more)
    offer(entries=found)
    if wants_json():
        return
    width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    echo("\n".join(entry_text(entry, max(width, NARROWEST)) for entry in found), nl=False)


def command_entries() -> Iterator[Entry]:
    """Yield the entries of all commands."""
    from ais_prompt.cli import main
    from ais_prompt.types import Entry

    for name, command in main.verbs().items():
        ctx = click.Context(command, info_name=f"aisprompt {name}")
        summary, _, text = inspect.cleandoc(command.help or "").partition("\n\n")
        yield Entry(
            name,
            "commands",
            "command",
            " ".join(summary.split()),
            text.replace("\b\n", ""),
            tuple(
                _option(option) for option in command.params if isinstance(option, click.Option) and not option.hidden
            ),
            usage=command.get_usage(ctx).removeprefix("Usage: "),
            also=(f"aisprompt {name}",),
        )


def _option(option: click.Option) -> Argument:
    from ais_prompt.types import Argument

    record = option.get_help_record(click.Context(click.Command("")))
    assert record is not None
    names = ", ".join([*option.opts, *option.secondary_opts])
    default = option.default if option.show_default and option.default is not None else ""
    choices = "|".join(map(str, option.type.choices)) if isinstance(option.type, click.Choice) else "VALUE"
    kind = "flag" if option.is_flag else str(option.metavar or choices)
    return Argument(names, kind, str(default), option.help or "")


def _print_schema(name: str) -> None:
    """Print the JSON schema of a file.

    Raises:
        ConfigError: there is no such file, or it is no JSON.
    """
    from ais_prompt.extensions.describe.file_entries import FILES, schema_of
    from ais_prompt.utils import encode, listed

    known = {file.name: file for file in FILES if file.shape is not None}
    if name not in known:
        raise ConfigError(f"{name!r} has no JSON schema", where="--schema", fix=f"files with one: {listed(known)}")
    click.echo(encode(schema_of(known[name]), indent=2), nl=False)


def advice_on_pattern(kind: str, name: str, known: object) -> ConfigError | None:  # noqa: ARG001
    """Return the error for a name that `list` finds no config of, for the step ``foreign_name``."""
    if kind != "pattern":
        return None
    return ConfigError(f"there is no config {name!r}", fix="for a part write aisprompt describe NAME")
