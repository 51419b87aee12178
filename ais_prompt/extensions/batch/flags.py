"""The options of the command line, which its help shows without importing anything else."""

from __future__ import annotations

from typing import Final

import click

BATCH: Final = click.option(
    "--batch", is_flag=True, help="Ask every model and judge through the batch API of its provider."
)
BATCH_REST: Final = click.option(
    "--batch-rest",
    type=click.Choice(["batch", "direct"]),
    help="With --batch: how requests that a batch leaves open are asked again.  [default: batch]",
)
