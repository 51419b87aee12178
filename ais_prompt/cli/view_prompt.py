"""``aisprompt view-prompt``: exactly what would be sent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.options import source, source_options
from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from ais_prompt.plan.plan import Task


@click.command("view-prompt", cls=Verb)
@source_options
@click.option("-n", "--non-interactive", is_flag=True, help="Ask nothing: show the first model and dataset.")
@click.option("-a", "--all", "every", is_flag=True, help="Show every model with every dataset.")
@click.option("-p", "--pattern", metavar="PATTERN", help="Only datasets whose abbr contains this (with * and ?).")
@click.option("-c", "--count", type=click.IntRange(min=1), default=1, show_default=True, help="Questions of each.")
@click.option("--origins", is_flag=True, help="Tell where each piece comes from: data, template, example, format.")
@click.option("--tokens", is_flag=True, help="Show the tokens and their ids, special ones with a star.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one list of prompts.")
def view_prompt(
    non_interactive: bool,
    every: bool,
    pattern: str | None,
    count: int,
    origins: bool,
    tokens: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show prompts exactly as they would be sent; no model weights and no server are needed.

    With each prompt come who says what, the shots, the number of tokens, the gold answer and whether it is sent,
    and warnings of what you may not expect.
    """
    from msgspec.structs import replace
    from rich.console import Console

    from ais_prompt.plan.preview import previews
    from ais_prompt.plan.source import checked_with_places
    from ais_prompt.report.prompt_view import print_sample
    from ais_prompt.utils.jsonl import encode

    # The warnings of what is shown come with it, and nothing is executed here.
    plan, _, place = checked_with_places(replace(source(**options), allow_code_execution="unsafe"))
    tasks = _matching(plan.tasks, pattern)
    if not every:
        asking = not (non_interactive or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
        tasks = [_chosen(tasks, asking)]
    prompts = previews(tasks, count, origins=origins, tokens=tokens, place=place)
    if as_json:
        click.echo(encode([prompt.to_json() for prompt in prompts], indent=2), nl=False)
        return
    console = Console()
    for _, of_sample in groupby(prompts, key=lambda view: (view.model, view.dataset, view.index)):
        print_sample(list(of_sample), console)


def _matching(tasks: Sequence[Task], pattern: str | None) -> list[Task]:
    """Return the tasks of matching datasets."""
    from ais_prompt.errors import ConfigError
    from ais_prompt.utils.text import listed

    found = [task for task in tasks if pattern is None or fnmatchcase(task.spec.dataset.abbr, f"*{pattern}*")]
    if not found:
        known = listed(dict.fromkeys(task.spec.dataset.abbr for task in tasks))
        raise ConfigError(f"no dataset matches {pattern!r}", where="-p", fix=f"the config has: {known}")
    return found


def _chosen(tasks: Sequence[Task], asking: bool) -> Task:
    """Return the first task, or the one that the user chooses."""
    if not asking:
        return tasks[0]
    model = _ask("model", list(dict.fromkeys(task.spec.model.abbr for task in tasks)))
    dataset = _ask("dataset", list(dict.fromkeys(task.spec.dataset.abbr for task in tasks)))
    return next(task for task in tasks if (task.spec.model.abbr, task.spec.dataset.abbr) == (model, dataset))


def _ask(what: str, abbrs: Sequence[str]) -> str:
    if len(abbrs) == 1:
        return abbrs[0]
    for number, abbr in enumerate(abbrs, start=1):
        click.echo(f"  {number}  {abbr}")
    return abbrs[click.prompt(f"Which {what}?", type=click.IntRange(1, len(abbrs)), default=1) - 1]
