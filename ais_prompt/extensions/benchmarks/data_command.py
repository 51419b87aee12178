"""``aisprompt data``: bring the data of benchmarks, and check them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from ais_prompt.cli.verb import Verb, echo

if TYPE_CHECKING:
    from ais_prompt.extensions.benchmarks.get import Brought


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    from ais_prompt.extensions.benchmarks.card import read_cards

    return [CompletionItem(name, help=card.title) for name, card in read_cards().items() if name.startswith(incomplete)]


@click.command(cls=Verb)
@click.argument("action", type=click.Choice(["get", "check"]))
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=_complete)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="get: a folder, file or archive with the data, in place of the hub.",
)
@click.option("--update", is_flag=True, help="get: take what is there now, and write the lock again.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def data(
    ctx: click.Context,
    action: str,
    names: tuple[str, ...],
    source: Path | None,
    update: bool,
    debug: bool,  # noqa: ARG001
) -> None:
    """Bring the data of benchmarks to this machine (get), or find changed rows (check).

    NAME is a benchmark; `aisprompt list datasets` shows them. Without a NAME, check looks at all data that are here.
    Data are kept in $AISPROMPT_DATA (default: ~/.cache/aisprompt/data), and data.lock says which they are. HF_ENDPOINT
    names a mirror of the hub.
    """
    from ais_prompt.extensions.benchmarks import get as workflow

    if action == "check":
        if source is not None or update:
            raise click.UsageError("--from and --update belong to `data get`.")
        ctx.exit(_report(workflow.check(names)))
    if not names:
        raise click.UsageError("Name the benchmarks to get; `aisprompt list datasets` shows them.")
    if source is not None and len(names) > 1:
        raise click.UsageError("--from brings one benchmark at a time.")
    for name in names:
        echo(_line(workflow.get(name, source, update=update)))


def _line(brought: Brought) -> str:
    splits = ", ".join(f"{split} {lock.rows:,} rows" for split, lock in brought.lock.splits.items())
    card = brought.card
    odd = "" if card.size in (lock.rows for lock in brought.lock.splits.values()) else f" (its card says {card.size:,})"
    state = card.data if brought.is_new else "here already"
    return f"{card.name}: {splits}{odd} · {card.licence} · {state}"


def _report(changes: dict[str, list[str]]) -> int:
    """Print what changed; return the exit code."""
    if not changes:
        echo("no data are here: aisprompt data get NAME")
    for name, found in changes.items():
        echo(f"{name}: {'as in its lock' if not found else 'not as in its lock'}")
        for change in found:
            echo(f"  {change}")
    return int(any(changes.values()))
