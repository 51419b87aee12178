"""Options of ``aisprompt view`` for labelling."""

from __future__ import annotations

from typing import Any, Final

import click

DRAWN: Final = 100
LABEL: Final[Any] = click.option("--label", is_flag=True, help="Label answers of RUN as right or wrong.")
NAME: Final[Any] = click.option("--name", metavar="NAME", help="With --label: who labels (default: me).")
TASK: Final[Any] = click.option("--task", metavar="MODEL/DATASET", help="With --label: only answers of this task.")
DRAW: Final[Any] = click.option(
    "--draw", type=click.IntRange(min=1), metavar="N", help=f"With --label: so many answers (default: {DRAWN})."
)
DISAGREED: Final[Any] = click.option(
    "--disagreed", is_flag=True, help="With --label: only answers on which judges disagree."
)
