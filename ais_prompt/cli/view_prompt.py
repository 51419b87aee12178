"""``aisprompt view-prompt``: exactly what would be sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import click

from ais_prompt.cli.completion import complete_config
from ais_prompt.cli.options import FURTHER, MODEL_AND_DATA, read_options, with_options
from ais_prompt.cli.verb import Verb, echo

if TYPE_CHECKING:
    from ais_prompt.config import Options
    from ais_prompt.plan import Task
    from ais_prompt.preview import PromptView

    Shown: TypeAlias = Sequence[tuple[str, Iterator[PromptView]]]
    """Name of each config, and its prompts as they are made."""

PAGE: Final = "prompts.html"

OTHER_CONFIG: Final[dict[str, Any]] = {
    **dict.fromkeys(("models", "datasets", "url", "overrides"), ()),
    **dict.fromkeys(("model", "hf_path", "data", "dataset")),
}
"""What describes the first config only."""


@click.command(
    "view-prompt",
    cls=Verb,
    first={
        **MODEL_AND_DATA,
        "Prompts": ("-n", "-a", "-p", "-c", "--sample", "--origins", "--tokens", "--html", "--with", "--json", "-h"),
    },
    further=FURTHER,
)
@with_options("config", "run")
@click.option("-n", "--non-interactive", is_flag=True, help="Ask nothing: show the first model and dataset.")
@click.option("-a", "--all", "every", is_flag=True, help="Show every model with every dataset.")
@click.option("-p", "--pattern", metavar="PATTERN", help="Only datasets whose abbr contains this (with * and ?).")
@click.option(
    "-c", "--count", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Questions of each."
)
@click.option(
    "--sample", type=click.IntRange(min=0), default=0, metavar="ROW", help="Row of the first question, from 0."
)
@click.option("--origins", is_flag=True, help="Tell where each piece comes from: data, template, example, format.")
@click.option("--tokens", is_flag=True, help="Show the tokens and their ids, special ones with a star.")
@click.option(
    "--html",
    is_flag=False,
    flag_value=PAGE,
    metavar="[FILE.html]",
    help=f"Write a page for the browser (default: {PAGE}), with the origins; without -n of every model and dataset.",
)
@click.option(
    "--with",
    "other",
    metavar="CONFIG",
    shell_complete=complete_config,
    help="Show the prompts of a second config too; with --html side by side.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one list of prompts.")
def view_prompt(
    non_interactive: bool,
    every: bool,
    pattern: str | None,
    count: int,
    sample: int,
    origins: bool,
    tokens: bool,
    html: str | None,
    other: str | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Show prompts exactly as they would be sent; no model weights and no server are needed.

    With each prompt come who says what, the shots, the number of tokens, the gold answer and whether it is sent,
    and warnings of what you may not expect. Datasets without a model, as a file or by --datasets, are shown as messages
    of a chat model.
    """
    from dataclasses import replace
    from itertools import chain

    from ais_prompt.plan import STAND_IN
    from ais_prompt.utils import encode

    page = _page_path(html)
    # The warnings of what is shown come with it, and nothing is executed here.
    first = replace(read_options(values), allow_code_execution="unsafe", stand_in=STAND_IN)
    asking = not (non_interactive or as_json or page) and sys.stdin.isatty() and sys.stdout.isatty()
    chosen = Choice(pattern, every or (page is not None and not non_interactive), asking)
    sources = [first] if other is None else [first, replace(first, **OTHER_CONFIG, config=other)]
    shown = [
        (name, _views(one, chosen, range(sample, sample + count), origins=origins or not as_json, tokens=tokens))
        for name, one in zip(_names_of(sources), sources, strict=True)
    ]
    if page is not None:
        _write_page(page, shown)
    elif as_json:
        click.echo(encode([prompt.to_json() for prompt in chain(*(views for _, views in shown))], indent=2), nl=False)
    else:
        _print(shown, origins=origins)


class Choice(NamedTuple):
    """Which tasks of a config are shown: of the datasets that match, every one, one that the user picks, or the first.

    Attributes:
        pattern: of the datasets; None for all.
        every: whether every task is shown.
        asks: whether the user picks one.
    """

    pattern: str | None
    every: bool
    asks: bool


def _page_path(html: str | None) -> Path | None:
    """Return the file of the page; None if there is to be none.

    Raises:
        ConfigError: it would replace a file that is no page, such as the config after ``--html``.
    """
    from ais_prompt.errors import ConfigError

    if html is None:
        return None
    if Path(html).suffix.lower() not in (".html", ".htm"):
        fix = "name a file that ends with .html, or put --html behind the config: aisprompt view-prompt eval.py --html"
        raise ConfigError(f"--html writes a page, and {html!r} does not end with .html", where="--html", fix=fix)
    return Path(html)


def _names_of(sources: Sequence[Options]) -> list[str]:
    """Return the file names of the configs, or their paths if two have the same name."""
    paths = [one.config or "the command line" for one in sources]
    names = [Path(path).name for path in paths]
    different = names if len(set(names)) == len(names) else paths
    return different if len(set(different)) == len(different) else [*different[:1], f"{different[0]} (--with)"]


def _views(one: Options, chosen: Choice, rows: range, *, origins: bool, tokens: bool) -> Iterator[PromptView]:
    from ais_prompt.checks import checked_with_places
    from ais_prompt.errors import ConfigError
    from ais_prompt.plan import STAND_IN
    from ais_prompt.preview import previews

    plan, _, place = checked_with_places(one)
    if any(model.abbr == STAND_IN["abbr"] for model in plan.spec.models):
        why = "No server answers" if one.url else "No model is named"
        echo(f"{why}: these are messages for a chat model. For another, add --models NAME.", err=True)
    tasks = _matching(plan.tasks, chosen.pattern)
    if not chosen.every:
        spec = _chosen(tasks, chosen.asks).spec
        names = spec.model.base, spec.dataset.base  # all variants of the task are shown
        tasks = [task for task in tasks if (task.spec.model.base, task.spec.dataset.base) == names]
    if not any(rows.start < len(task.data.test) for task in tasks):
        most = max(len(task.data.test) for task in tasks)
        raise ConfigError(f"there is no row {rows.start}", where="--sample", fix=f"rows count from 0, up to {most - 1}")
    yield from previews(tasks, len(rows), first=rows.start, origins=origins, tokens=tokens, place=place)


def _write_page(page: Path, shown: Shown) -> None:
    from ais_prompt.report import prompts_page, say, side_by_side
    from ais_prompt.store import replacing

    title = say("Prompts of {configs}", configs=", ".join(name for name, _ in shown))
    questions = side_by_side(shown)
    with replacing(page) as stream:
        stream.write(prompts_page(title, questions).encode())
    count = sum(len(column.views) for question in questions for column in question.columns)
    echo(f"{page}: {count:,} prompt{'s' * (count != 1)}, for a browser")


def _print(shown: Shown, *, origins: bool) -> None:
    from rich.console import Console

    from ais_prompt.preview import print_sample
    from ais_prompt.steps import first_answer

    console = Console()
    for name, views in shown:
        if len(shown) > 1:
            echo(f"=== {name} ===")
        questions: dict[tuple[str, ...], list[list[PromptView]]] = {}
        for (_, dataset, _), of_sample in groupby(views, key=lambda view: (view.model, view.dataset, view.index)):
            sample = list(of_sample)
            model = sample[0].base_model or sample[0].model
            question = model, sample[0].base_dataset or dataset, sample[0].sample_id
            questions.setdefault(question, []).append(sample)
        for samples in questions.values():
            if not first_answer("print_question", samples, console, origins):
                for sample in samples:
                    print_sample(sample, console, origins=origins)


def _matching(tasks: Sequence[Task], pattern: str | None) -> list[Task]:
    """Return the tasks of matching datasets."""
    from ais_prompt.errors import ConfigError
    from ais_prompt.utils import listed

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
        echo(f"  {number}  {abbr}")
    return abbrs[click.prompt(f"Which {what}?", type=click.IntRange(1, len(abbrs)), default=1) - 1]
