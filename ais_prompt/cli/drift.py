"""What became of prompts, as all verbs that compare them print it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ais_prompt.prompt_locks.drift import Drift


def show_drift(drift: Drift, *, as_json: bool = False) -> None:
    """Print what changed, for people or for programs."""
    from rich.console import Console

    from ais_prompt.prompt_locks.drift_json import drift_to_json
    from ais_prompt.prompt_locks.view import print_drift

    if as_json:
        text = json.dumps(drift_to_json(drift), ensure_ascii=False, indent=2)
        click.echo(text.encode("utf-8", "backslashreplace"))
    else:
        print_drift(drift, Console())
