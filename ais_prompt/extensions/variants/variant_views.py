"""The options about variants, and where these are shown; nothing else is imported for a run without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.errors import AisPromptError

if TYPE_CHECKING:
    from rich.console import Console

    from ais_prompt.comparison import FurtherComparison
    from ais_prompt.extensions.variants.variant_group import VariantGroup
    from ais_prompt.plan import Plan
    from ais_prompt.preview import PromptView

VARIANTS: Final[Any] = click.option(
    "--variants", is_flag=True, help="Compare the prompts and options of RUN: which is best, and how sure is that."
)
HOLDOUT: Final[Any] = click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Choose the best variant on this share of the questions (0.5), and score it on the others.",
)


def beside_scores(root: Path, plan: Plan, options: Mapping[str, Any], console: Console) -> FurtherComparison | None:
    """Return the variants of a run that ends; None if its config has none, or a file cannot be read.

    Args:
        root: of the run folder.
        plan: of the run.
        options: with ``holdout`` if it is given.
        console: where they are printed.
    """
    if any(task.spec.variant for task in plan.tasks):
        with suppress(AisPromptError):  # the notes of the summary say it
            if groups := compared_variants(root, options.get("holdout")):
                return _comparison(groups, console)
    return None


def compare_within(values: Mapping[str, Any]) -> FurtherComparison | None:
    """Return the variants of a run if ``aisprompt compare`` has the option for them.

    Raises:
        UsageError: other options do not go with it.
        ConfigError: there is no such run.
        StoreError, DataError: results are missing or broken.
    """
    if not values["variants"]:
        if values["holdout"] is not None:
            raise click.UsageError("--holdout chooses among variants: add --variants.")
        return None
    if any(values[name] is not None for name in ("other", "flips", "html")):
        raise click.UsageError("--variants compares the variants of RUN alone; the page of the run shows them too.")
    from rich.console import Console

    groups = compared_variants(values["run"], values["holdout"], values["work_dir"])
    groups = [one for one in groups if not values["models"] or one.model in values["models"]]
    if groups:
        return _comparison(groups, Console())
    from ais_prompt.cli.verb import echo
    from ais_prompt.comparison import FurtherComparison

    words = f"{values['run']} has no variants with scores: give several --prompt, or --sweep"
    return FurtherComparison({}, partial(echo, words, err=True), is_empty=True)


def compared_variants(run: str | Path, holdout: float | None, work_dir: str | None = None) -> list[VariantGroup]:
    """Return the variants of each model and dataset of a run.

    Raises:
        ConfigError: there is no such run.
        StoreError, DataError: results are missing or broken.
    """
    from ais_prompt.comparison import read_stored_run
    from ais_prompt.extensions.variants.compared_variants import variant_groups

    return variant_groups(read_stored_run(str(run), work_dir), holdout)


def _comparison(groups: Sequence[VariantGroup], console: Console) -> FurtherComparison:
    from ais_prompt.comparison import FurtherComparison
    from ais_prompt.extensions.variants.variant_group import without_questions
    from ais_prompt.extensions.variants.variant_table import print_variants

    fields = {"variants": without_questions(groups)}
    return FurtherComparison(fields, partial(print_variants, groups, console), is_empty=False)


def print_question(samples: Sequence[Sequence[PromptView]], console: Console, origins: bool) -> bool | None:
    """Print the prompts of one question in its variants, and return True; None, and print nothing, if it has none."""
    if not any(sample[0].variant for sample in samples):
        return None
    from ais_prompt.extensions.variants.variant_prompts import print_variant_prompts

    print_variant_prompts(samples, console, origins=origins)
    return True
