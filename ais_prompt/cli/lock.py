"""``aisprompt lock``: write the prompt lock of a config, or check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.drift import show_drift
from ais_prompt.cli.options import CONFIG_NAMES, config_options, given_words, shown_command, source
from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from pathlib import Path

    from ais_prompt.plan.plan import Plan


@click.command(cls=Verb)
@config_options
@click.option("--check", is_flag=True, help="Compare the prompts with the lock; exit code 1 if anything changed.")
@click.option("-o", "--lock-file", metavar="FILE", help="The lock (default: eval.lock beside eval.py).")
@click.option("--json", "as_json", is_flag=True, help="With --check: print what changed as JSON.")
@click.pass_context
def lock(ctx: click.Context, /, check: bool, lock_file: str | None, as_json: bool, **options: Any) -> None:
    """Lock every prompt of a config in a small file that can be reviewed and committed.

    It holds digests of data, templates, shots, tokenizer and each prompt, and a few prompts in full. Neither writing
    nor --check needs weights or a server.
    """
    from ais_prompt.checks.source import checked
    from ais_prompt.comparison.locks.lock import find_drift, prompt_lock_path

    if as_json and not check:
        raise click.UsageError("--json goes with --check")
    plan, _ = checked(source(**options, allow_code_execution="unsafe"))  # nothing is executed here
    path = prompt_lock_path(plan.spec, lock_file, options["config"])
    command = lock_command(ctx, lock_file)
    if not check:
        _write(plan, path, command)
        return
    drift = find_drift(plan, path)
    show_drift(drift, as_json=as_json)
    if not drift.is_none:
        tell_drift(path, command)
        ctx.exit(1)


def lock_command(ctx: click.Context, lock_file: str | None) -> str:
    """Return the command that writes the lock of the config that a command names."""
    return shown_command(["lock", *given_words(ctx, CONFIG_NAMES), *(["-o", lock_file] if lock_file else [])])


def tell_drift(path: Path, command: str) -> None:
    """Say that the prompts differ from the lock, and which command locks the present ones."""
    click.echo(f"The prompts are not those of {path}. If the change is intended, lock them: {command}", err=True)


def _write(plan: Plan, path: Path, command: str) -> None:
    from ais_prompt.comparison.locks.file import write_prompt_lock
    from ais_prompt.comparison.locks.lock import make_prompt_lock
    from ais_prompt.utils.text import counted

    made = make_prompt_lock(plan)
    write_prompt_lock(path, made)
    prompts = sum(len(digests) for task in made.tasks for digests in task.digests.values())
    tasks = len(made.tasks)
    click.echo(f"{path}: {counted(tasks, 'task')}, {counted(prompts, 'prompt')}, {path.stat().st_size / 1000:.0f} kB")
    click.echo(f"Commit it. Whether a prompt changed: {command} --check")
