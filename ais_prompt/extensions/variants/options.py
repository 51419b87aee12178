"""Options of verbs that compare variants."""

from __future__ import annotations

from typing import Any, Final

import click

VARIANTS: Final[Any] = click.option(
    "--variants", is_flag=True, help="Compare the prompts and options of RUN: which is best, and how sure is that."
)
HOLDOUT: Final[Any] = click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Choose the best variant on this share of the questions (0.5), and score it on the others.",
)
