"""What must be said beside the numbers: why there is no score, and what became of answers that were not scored."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.summary.numbers import span
from ais_prompt.summary.rows import Row

STOPPED = "Asking stopped when the gates were decided, so there is no interval; in brackets what the rest can change:"
LEGEND = "Not every answer was scored{star}; in brackets the score if all the others were wrong – were right:"


def notes(rows: Sequence[Row], *, starred: bool) -> list[str]:
    """Return a line for each task or group that needs one, and for each dataset with several answers.

    Args:
        rows: what the table shows.
        starred: whether the table marks such scores with a star, as models side by side do.
    """
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tasks.setdefault((row.model, row.dataset), []).append(row)
    without = [f"{row.model}/{row.dataset}: {row.note}" for row in rows if row.note]
    partly = [f"{model}/{dataset}: {_unscored(of[0])}" for (model, dataset), of in tasks.items() if _is_partly(of[0])]
    stopped = [f"{model}/{dataset}: {_stopped(of[0])}" for (model, dataset), of in tasks.items() if of[0].of]
    several = {row.dataset: row.repeats for row in rows if row.repeats > 1}
    return [
        *dict.fromkeys(without),
        *([LEGEND.format(star=" (*)" if starred else ""), *partly] if partly else []),
        *([STOPPED, *stopped] if stopped else []),
        *(f"{model}/{dataset}: {_refused(of[0])}" for (model, dataset), of in tasks.items() if of[0].refused),
        *(f"{name}: {n} answers to each question; ± is that of the questions" for name, n in several.items()),
    ]


def _is_partly(row: Row) -> bool:
    return bool(row.unscored) and row.score is not None and not row.of


def _stopped(row: Row) -> str:
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    return row.size + (f"  [{bounds}]" if bounds else "") + (f"; not scored: {row.unscored}" if row.unscored else "")


def _refused(row: Row) -> str:
    return f"{row.refused} of {row.n} answers {'is a refusal' if row.refused == 1 else 'are refusals'}"


def _unscored(row: Row) -> str:
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    return f"{row.unscored} of {row.n}" + (f"  [{bounds}]" if bounds else "")
