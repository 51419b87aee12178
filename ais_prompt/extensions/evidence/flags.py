"""The options of the command line, which its help shows without importing anything else."""

from __future__ import annotations

from typing import Final

import click

LOCKED: Final = click.option(
    "--locked", is_flag=True, help="Ask nothing, exit code 1, if a prompt is not that of the lock."
)
LOCK_FILE: Final = click.option(
    "--lock-file", metavar="FILE", help="The lock of --locked (default: eval.lock beside eval.py)."
)
