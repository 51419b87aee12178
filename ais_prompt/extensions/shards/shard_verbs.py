"""A run on several machines: ``aisprompt merge``, ``serve`` and ``status``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.options import FURTHER, MODEL_AND_DATA, option_of, read_options, with_options
from ais_prompt.cli.verb import Verb, echo, hanging, json_option, offer
from ais_prompt.config import Options
from ais_prompt.verbs import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from ais_prompt.store import RunFolder
    from ais_prompt.verbs import FailureLimit


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.argument("parts", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="[PART…]")
@click.option("--config", metavar="CONFIG", help="Score with this config instead of the run's own.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@option_of(Session, "max_failures")
@option_of(Options, "allow_code_execution")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def merge(
    ctx: click.Context,
    run: str,
    parts: tuple[Path, ...],
    config: str | None,
    work_dir: str | None,
    max_failures: FailureLimit,
    allow_code_execution: bool | Literal["unsafe"],
    debug: bool,
) -> None:
    """Put the answers of all shards of RUN together, and score them: the bytes of a run without shards.

    PARTs are copies of the run folder from machines without a shared file system; their shards are copied into RUN.
    Exit code 1 if samples are missing; then what is there is scored and shown as n of N.
    """
    from ais_prompt.checks import open_stored
    from ais_prompt.extensions.shards.division import score
    from ais_prompt.extensions.shards.shard_folders import join_shards
    from ais_prompt.utils import counted

    options = Options(config, work_dir=work_dir, allow_code_execution=allow_code_execution)
    plan, folder = open_stored(run, options)
    for part, count in zip(parts, join_shards(folder, parts), strict=True):
        echo(f"{part}: {counted(count, 'shard')}", err=True)
    ctx.exit(score(plan, folder, max_failures, debug=debug))


@click.command(cls=Verb, first={**MODEL_AND_DATA, "Servers": ("-w", "-r", "-h")}, further=FURTHER)
@with_options("config")
@option_of(Options, "work_dir")
@click.option("-r", "--reuse", required=True, metavar="NAME", help="The run, as the shards have it.")
def serve(reuse: str, **values: Any) -> None:
    """Start the servers of models with server=dict(..., shared=True), for all shards of a run.

    Their addresses are announced in the run folder; shards read them there, and follow changes. Start it on as many
    machines as you like. It ends when all shards have ended, or with Ctrl-C; the servers stop with it.
    """
    from ais_prompt.extensions.shards.shard_folders import shared_run_folder
    from ais_prompt.extensions.shards.shared_servers import serve as start
    from ais_prompt.plan import Plan, read_spec
    from ais_prompt.processes import interruption

    spec = read_spec(read_options(values)).spec
    folder = shared_run_folder(spec.work_dir, spec.name, reuse)
    try:
        start(Plan(spec), folder, echo)
    except KeyboardInterrupt as stop:
        raise interruption(stop, "stopped, with all servers that it started", where=str(folder.root)) from None


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def status(run: str, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Show how far a run is: its shards and batches, where they are and how far, and its servers."""
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.extensions.shards.shard_folders import latest_shards
    from ais_prompt.steps import steps
    from ais_prompt.store import locate_run

    folder = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    brought = [line for lines_of in steps("status") for line in lines_of(folder)]
    lines = [*_shards(folder), *_servers(folder), *brought, *_whole(folder)]
    for line in lines:
        echo(line)
    shards = [
        {
            "shard": str(shard),
            "state": one.state if one else "missing",
            "answered": one.answered() if one else 0,
            "host": one.host if one else None,
            "start": one.start if one else None,
        }
        for shard, one in latest_shards(folder).items()
    ]
    offer(folder=str(folder.root), shards=shards, lines=[line for line in lines if line])


def _shards(folder: RunFolder) -> Iterator[str]:
    """Yield a line for each shard."""
    from ais_prompt.extensions.shards.shard_folders import latest_shards

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
    from ais_prompt.models import announcements
    from ais_prompt.report import duration
    from ais_prompt.types import SILENCE

    found = [one for path in sorted(folder.servers.iterdir()) for one in announcements(path)]
    if not found:
        yield "No server is announced. Start some: aisprompt serve CONFIG -r " + shlex.quote(folder.root.name)
    for server, silence in found:
        state = "running" if silence < SILENCE else f"silent for {duration(silence)}, so it is not asked"
        yield hanging(f"server {server.address}  ", f"{state} (process {server.pid} on {server.host})")
    yield ""


def _whole(folder: RunFolder) -> Iterator[str]:
    """Yield how the run is as a whole, and what to do next."""
    from ais_prompt.extensions.shards.shard_folders import is_merged, latest_shards
    from ais_prompt.store import read_run_file

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
