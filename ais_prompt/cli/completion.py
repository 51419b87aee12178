"""Completion in a shell: names of configs beside paths, and ``aisprompt completion`` that sets it up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

SHELLS: Final = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, config names and paths in a SHELL.

    bash, in ~/.bashrc: eval "$(aisprompt completion bash)"; zsh, in ~/.zshrc: eval "$(aisprompt completion zsh)"; fish:
    aisprompt completion fish > ~/.config/fish/completions/aisprompt.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "aisprompt", "_AISPROMPT_COMPLETE").source())


def complete_config(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the shipped configs and the paths that a config argument can go on with."""
    from ais_prompt.config import list_configs

    names = [name for name in list_configs() if name.startswith(incomplete)]
    if not names:
        return [CompletionItem(incomplete, type="file")]  # the shell itself completes paths best
    # A shell completes paths only where it is given nothing else, so these are written out.
    return [CompletionItem(name) for name in dict.fromkeys([*names, *_paths(incomplete)])]


def complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the models or datasets, as the option says, that can be named."""
    from ais_prompt.config import list_shipped

    kind: str = param.name or ""
    found = list_shipped(kind)  # type: ignore[arg-type]
    items = [CompletionItem(one.name, help=one.summary) for one in found if one.name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the names that runs have below ``outputs`` or -w, and behind a slash their run folders, latest first."""
    name, slash, start = incomplete.rpartition("/")
    parent = Path(ctx.params.get("work_dir") or "outputs", name)
    try:
        found = [entry.name for entry in parent.iterdir() if entry.is_dir() and entry.name.startswith(start)]
    except OSError:
        found = []
    if not found:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(f"{name}{slash}{one}") for one in sorted(found, reverse=bool(slash))]


def complete_reuse(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return ``latest`` and the times of the config's runs, latest first; a path if none begins so."""
    config = ctx.params.get("config")
    parent = Path(ctx.params.get("work_dir") or "outputs", *([Path(config).stem] if config else []))
    try:
        times = sorted((entry.name for entry in parent.iterdir() if entry.is_dir() and config), reverse=True)
    except OSError:
        times = []
    found = [one for one in ("latest", *times) if one.startswith(incomplete)]
    return [CompletionItem(one) for one in found] or [CompletionItem(incomplete, type="file")]


def _paths(incomplete: str) -> Iterator[str]:
    """Yield the Python files and the folders, with a slash behind them, whose path begins so."""
    folder, _, start = incomplete.rpartition("/")
    parent = Path(f"{folder}/") if "/" in incomplete else Path()
    prefix = f"{folder}/" if "/" in incomplete else ""
    try:
        entries = sorted(parent.expanduser().iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(start) and (start.startswith(".") or not entry.name.startswith(".")):
            if entry.is_dir():
                yield f"{prefix}{entry.name}/"
            elif entry.suffix == ".py":
                yield prefix + entry.name
