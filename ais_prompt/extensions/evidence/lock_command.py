"""``aisprompt lock``, ``aisprompt diff`` and ``run --locked``: changed prompts, against a lock or between two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.cli.options import (
    CONFIG_NAMES,
    FURTHER,
    MODEL_AND_DATA,
    given_words,
    read_options,
    shown_command,
    with_options,
)
from ais_prompt.cli.verb import Verb, echo, json_option, offer, wants_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ais_prompt.extensions.evidence.locks.drift import Drift
    from ais_prompt.plan import Plan


LOCKED: Final = click.option(
    "--locked", is_flag=True, help="Ask nothing, exit code 1, if a prompt is not that of the lock."
)
LOCK_FILE: Final = click.option(
    "--lock-file", metavar="FILE", help="The lock of --locked (default: eval.lock beside eval.py)."
)


@click.command(cls=Verb, first={**MODEL_AND_DATA, "Lock": ("--check", "-o", "--json", "-h")}, further=FURTHER)
@with_options("config")
@click.option("--check", is_flag=True, help="Compare the prompts with the lock; exit code 1 if anything changed.")
@click.option("-o", "--lock-file", metavar="FILE", help="The lock (default: eval.lock beside eval.py).")
@json_option
@click.pass_context
def lock(ctx: click.Context, /, check: bool, lock_file: str | None, **values: Any) -> None:
    """Lock every prompt of a config in a small file that can be reviewed and committed.

    It holds digests of data, templates, shots, tokenizer and each prompt, and a few prompts in full. Neither writing
    nor --check needs weights or a server.
    """
    from ais_prompt.checks import checked
    from ais_prompt.extensions.evidence.locks.prompt_lock import find_drift, prompt_lock_path

    if wants_json() and not check:
        raise click.UsageError("--json goes with --check")
    plan, _ = checked(read_options({**values, "allow_code_execution": "unsafe"}))  # nothing is executed here
    path = prompt_lock_path(plan.spec, lock_file, values["config"])
    command = lock_command(ctx, lock_file)
    if not check:
        _write(plan, path, command)
        return
    drift = find_drift(plan, path)
    show_drift(drift)
    if not drift.is_none:
        tell_drift(path, command)
        ctx.exit(1)


@click.command(cls=Verb)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--models", multiple=True, metavar="MODEL [MODEL]", help="Only this model of A, and of B this or that.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def diff(
    ctx: click.Context,
    /,
    first: str,
    second: str | None,
    models: tuple[str, ...],
    work_dir: str | None,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Compare the prompts of A and B: rendered from configs, or stored by runs.

    Without B two models of A are compared: aisprompt diff A --models ONE OTHER. Exit code 0 if all prompts are equal, 1
    if they differ.
    """
    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.evidence.locks.prompt_lock import compare_sides, open_side

    if len(models) > 2 or (second is None and len(models) < 2):
        raise ConfigError("there is nothing to compare with", fix="aisprompt diff A B, or diff A --models ONE OTHER")
    runs = expand(work_dir or DEFAULT_WORK_DIR)
    wanted: list[str | None] = [*models] * (2 if len(models) == 1 else 1) or [None, None]
    before, after = (open_side(name, runs, model) for name, model in zip((first, second or first), wanted, strict=True))
    drift = compare_sides(before, after)
    show_drift(drift)
    ctx.exit(0 if drift.is_none else 1)


def show_drift(drift: Drift) -> None:
    """Print what changed, for people or for programs."""
    from rich.console import Console

    from ais_prompt.extensions.evidence.locks.drift_view import drift_fields, print_drift

    if wants_json():
        offer(**drift_fields(drift))
    else:
        print_drift(drift, Console())


def is_locked(plan: Plan, options: Mapping[str, Any]) -> bool:
    """Return whether the prompts equal the lock that ``run --locked`` names; if not, print what changed."""
    lock_file = options.get("lock_file")
    if not (options.get("locked") or lock_file):
        return True
    from ais_prompt.extensions.evidence.locks.prompt_lock import find_drift, prompt_lock_path

    ctx = click.get_current_context()
    path = prompt_lock_path(plan.spec, lock_file, ctx.params["config"])
    drift = find_drift(plan, path)
    if drift.is_none:
        echo(f"The prompts are those of {path}", err=True)
    else:
        show_drift(drift)
        tell_drift(path, lock_command(ctx, lock_file))
        echo("Nothing was asked.", err=True)
    return drift.is_none


def lock_command(ctx: click.Context, lock_file: str | None) -> str:
    """Return the command that writes the lock of the config that a command names."""
    return shown_command(["lock", *given_words(ctx, CONFIG_NAMES), *(["-o", lock_file] if lock_file else [])])


def tell_drift(path: Path, command: str) -> None:
    """Say that the prompts differ from the lock, and which command locks the present ones."""
    echo(f"The prompts are not those of {path}. If the change is intended, lock them: {command}", err=True)


def _write(plan: Plan, path: Path, command: str) -> None:
    from ais_prompt.extensions.evidence.locks.lock_file import write_prompt_lock
    from ais_prompt.extensions.evidence.locks.prompt_lock import make_prompt_lock
    from ais_prompt.utils import counted

    made = make_prompt_lock(plan)
    write_prompt_lock(path, made)
    prompts = sum(len(digests) for task in made.tasks for digests in task.digests.values())
    tasks = len(made.tasks)
    echo(f"{path}: {counted(tasks, 'task')}, {counted(prompts, 'prompt')}, {path.stat().st_size / 1000:.0f} kB")
    echo(f"Commit it. Whether a prompt changed: {command} --check")
