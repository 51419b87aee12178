"""Ratings in a terminal."""

from __future__ import annotations

from rich.console import Console

from ais_prompt.extensions.ratings.rate import DatasetRatings, matrix_of, rank_text, rows_of
from ais_prompt.terminal import Column, print_table


def print_ratings(found: DatasetRatings, console: Console) -> None:
    """Print the ratings on a dataset: a row for each model, effects, notes, and the matrix of wins."""
    ratings = found.ratings
    console.print()
    heading = (
        f"{found.dataset}: ratings · 95 % interval · {found.verdicts:,} verdicts about {found.questions:,} questions"
    )
    console.print(heading, highlight=False, markup=False)
    columns = [
        Column("model", is_name=True, right=False),
        Column("rank"),
        Column("rating"),
        Column("interval"),
        Column("win rate"),
    ]
    rows = [
        [one.model, rank_text(one), f"{row.elo:.0f}", row.interval_text, f"{100 * one.win_rate:.1f} %"]
        for one, row in zip(ratings.models, rows_of(found), strict=True)
    ]
    print_table(columns, rows, console)
    lines = [
        f"{one.name}: {_signed(one.value)} ({_signed(one.interval[0])} to {_signed(one.interval[1])}) log odds"
        for one in ratings.effects
        if one.value is not None and one.interval is not None
    ]
    for pair in found.neighbours():
        if not pair.is_separated:
            more = pair.battles_to_separate
            needed = (
                "" if more is None else f"; about {more:,} more verdicts on the two would, if the difference remains"
            )
            lines.append(f"not separated: {pair.better} and {pair.worse}{needed}")
    for line in [*lines, *ratings.notes]:
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    names, cells = matrix_of(found)
    console.print("  points of a row against a column, % · verdicts", highlight=False, markup=False)
    matrix_columns = [Column("", is_name=True, right=False), *(Column(name) for name in names)]
    print_table(matrix_columns, [[name, *line] for name, line in zip(names, cells, strict=True)], console)


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"  # no negative zero
