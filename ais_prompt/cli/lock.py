"""``aisprompt lock``: the prompts of a config, locked in a small file, and whether they are still the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.options import as_command, config_options, source
from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from pathlib import Path

    from ais_prompt.prompt_locks.drift import Drift
    from ais_prompt.types import RunSpec

LOCK_FILE = click.option(
    "-o", "--lock-file", metavar="FILE", help="The lock (default: beside the config, eval.lock for eval.py)."
)


@click.command(cls=Verb)
@config_options
@click.option("--check", is_flag=True, help="Compare the prompts with the lock; exit code 1 if anything changed.")
@LOCK_FILE
@click.option("--json", "as_json", is_flag=True, help="With --check: print what changed as JSON.")
@click.pass_context
def lock(ctx: click.Context, /, check: bool, lock_file: str | None, as_json: bool, **options: Any) -> None:
    """Lock every prompt of a config in a small file that can be reviewed and committed.

    It holds digests of data, templates, shots, tokenizer and each prompt, and a few prompts in full. Neither writing
    nor --check needs weights or a server.
    """
    from ais_prompt.pipeline import checked

    spec, _ = checked(source(**options, allow_code_execution=True))  # nothing is executed here
    path = lock_place(spec, lock_file, options["config"])
    if not check:
        _write(spec, path, as_command("lock", **options))
    elif not is_locked(spec, path, as_command("lock", **options), as_json=as_json):
        ctx.exit(1)


def lock_place(spec: RunSpec, lock_file: str | None, config: str | None) -> Path:
    """Where the lock lies: where the user says, or else where it is by default."""
    from pathlib import Path

    from ais_prompt.prompt_locks.lock import lock_path

    return Path(lock_file) if lock_file else lock_path(spec, config)


def is_locked(spec: RunSpec, path: Path, write_again: str, *, as_json: bool = False) -> bool:
    """Whether the prompts are those of the lock; if not, what changed is printed.

    Args:
        spec: a checked config.
        path: its lock.
        write_again: the command that writes the lock.
        as_json: print JSON, whether anything changed or not.
    """
    from ais_prompt.prompt_locks.lock import find_drift

    drift = find_drift(spec, path)
    show_drift(drift, as_json=as_json)
    if not drift.is_none:
        click.echo(f"The prompts are not those of {path}. If that is meant: {write_again} -o {path}", err=True)
    return drift.is_none


def show_drift(drift: Drift, *, as_json: bool) -> None:
    """Print what changed."""
    from rich.console import Console

    from ais_prompt.prompt_locks.drift_json import drift_to_json
    from ais_prompt.prompt_locks.view import print_drift

    if as_json:
        text = json.dumps(drift_to_json(drift), ensure_ascii=False, indent=2)
        click.echo(text.encode("utf-8", "backslashreplace"))
    else:
        print_drift(drift, Console())


def _write(spec: RunSpec, path: Path, command: str) -> None:
    from ais_prompt.prompt_locks.file import write_prompt_lock
    from ais_prompt.prompt_locks.lock import make_lock

    made = make_lock(spec)
    write_prompt_lock(path, made)
    prompts = sum(len(digests) for task in made.tasks for digests in task.digests.values())
    tasks = len(made.tasks)
    click.echo(f"{path}: {tasks} task{'s' * (tasks != 1)}, {prompts:,} prompts, {path.stat().st_size / 1000:.0f} kB")
    click.echo(f"Commit it. Whether a prompt changed: {command} --check")
