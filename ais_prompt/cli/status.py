"""``aisprompt status``: how far a run on several machines is."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.output import hanging
from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ais_prompt.store.layout import RunFolder


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def status(run: str, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Show how far a run is: its shards, on which machine, running, finished, dead or missing, and its servers."""
    from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
    from ais_prompt.config.paths import expand
    from ais_prompt.store.find import locate_run

    folder = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    for lines in (_shards(folder), _servers(folder), _whole(folder)):
        for line in lines:
            click.echo(line)


def _shards(folder: RunFolder) -> Iterator[str]:
    """Yield a line for each shard."""
    from ais_prompt.store.shards import latest_shards

    shards = latest_shards(folder)
    width = max(map(len, map(str, shards)), default=0)
    for shard, one in shards.items():
        what = f"{one.answered():,} answers in this session, on {one.host} since {one.start}" if one else ""
        yield hanging(f"{shard!s:>{width}}  {one.state if one else 'missing':<11}  ", what)
    if shards:
        yield ""


def _servers(folder: RunFolder) -> Iterator[str]:
    """Yield a line for each server that shards share, if `aisprompt serve` was ever started."""
    if not folder.servers.is_dir():
        return
    from ais_prompt.models.server.started import announcements
    from ais_prompt.report.tally import duration
    from ais_prompt.store.shards import SILENCE

    found = [one for path in sorted(folder.servers.iterdir()) for one in announcements(path)]
    if not found:
        yield "No server is announced. Start some: aisprompt serve CONFIG -r " + shlex.quote(folder.root.name)
    for server, silence in found:
        state = "running" if silence < SILENCE else f"silent for {duration(silence)}, so it is not asked"
        yield hanging(f"server {server.address}  ", f"{state} (process {server.pid} on {server.host})")
    yield ""


def _whole(folder: RunFolder) -> Iterator[str]:
    """Yield how the run is as a whole, and what to do next."""
    from ais_prompt.store.run_file import read_run_file
    from ais_prompt.store.shards import is_merged, latest_shards

    shards = latest_shards(folder)
    if not shards:
        if folder.shards.is_dir() and not folder.run_file.exists():
            yield f"{folder.root}: no shard has begun"
        else:
            yield f"{folder.root}: {read_run_file(folder).get('status')}; it has no shards"
        return
    states = {shard: one.state if one else "missing" for shard, one in shards.items()}
    over = sum(state in ("finished", "failed") for state in states.values())
    yield f"{over} of {len(shards)} shards are done."
    if left := [shard for shard, state in states.items() if state not in ("running", "finished", "failed")]:
        yield f"Start again: the run's command with --shard {', '.join(map(str, left))}"
    elif is_merged(folder):
        yield f"They are put together. See the scores: aisprompt view {shlex.quote(str(folder.root))}"
    elif over == len(shards):
        yield f"Put them together: aisprompt merge {shlex.quote(str(folder.root))}"
