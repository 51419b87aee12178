"""Print changed prompts, the same for all verbs that compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ais_prompt.comparison.locks.drift import Drift


def show_drift(drift: Drift, *, as_json: bool = False) -> None:
    """Print what changed, for people or for programs."""
    from rich.console import Console

    from ais_prompt.comparison.locks.view import drift_to_json, print_drift
    from ais_prompt.utils.jsonl import encode

    if as_json:
        click.echo(encode(drift_to_json(drift), indent=2), nl=False)
    else:
        print_drift(drift, Console())
