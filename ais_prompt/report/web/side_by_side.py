"""The same questions under several models: which of the models are right, from the index of a run.

With two models a question is in one of four classes: both right, only the first, only the second, none of them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from ais_prompt.report.web.index import STATES, SampleIndex
from ais_prompt.report.web.sample_search import Query, conditions

MOST_MODELS: Final = 8
"""Models side by side."""
RIGHT: Final = STATES.index("right")
MISSES: Final = tuple(STATES.index(name) for name in ("partial", "wrong", "unparsed", "truncated", "no_gold", "failed"))
"""States below the full score."""


class FoundQuestions(Struct, frozen=True):
    """The questions that at least two models were asked.

    Attributes:
        models: those side by side, in the order of the run.
        numbers: of the first sample of each question in the index, in the order of the data.
        verdicts: number of questions of each verdict (`verdict_of`), whatever verdict is wanted.
    """

    models: tuple[str, ...]
    numbers: array[int]
    verdicts: Mapping[str, int]


def find_questions(index: SampleIndex, query: Query, size: int, wanted: str) -> FoundQuestions:
    """Return the questions of which a sample passes a query.

    Args:
        index: of the run.
        query: which models are side by side (all if it names none, up to `MOST_MODELS`), and what one of the samples
            of a question passes.
        size: of the index, for samples that are read so far.
        wanted: a verdict; empty for all questions.

    Raises:
        StoreError: the index is broken.
    """
    known = dict.fromkeys(task["model"] for task in index.overview["tasks"])
    models = tuple(name for name in known if not query.models or name in query.models)[:MOST_MODELS]
    weight = f"CASE model {' '.join(f'WHEN ? THEN {1 << place}' for place in range(len(models)))} END"
    asked = Query(models, query.datasets)
    among, values = conditions(index, asked, size)
    if query.states or query.columns or query.text:  # else all samples pass, and need not be looked up
        where, passing = conditions(index, query, size)
        if query.states:
            where += f" AND state IN ({', '.join(str(STATES.index(state)) for state in query.states)})"
        among += f" AND (dataset, id) IN (SELECT dataset, id FROM samples JOIN tasks USING (task) WHERE {where})"
        values += passing
    found = index.select(
        f"""
        SELECT MIN(number), SUM(weight), SUM(weight * (state = {RIGHT})), SUM(weight * (state IN {MISSES}))
        FROM (SELECT number, id, dataset, state, {weight} AS weight FROM samples JOIN tasks USING (task) WHERE {among})
        GROUP BY dataset, id HAVING COUNT(*) > 1 ORDER BY MIN(number)
        """,
        [*models, *values],
    )
    verdicts = [verdict_of(right, missed, asked, len(models)) for _, asked, right, missed in found]
    numbers = (number for (number, *_), verdict in zip(found, verdicts, strict=True) if wanted in ("", verdict))
    return FoundQuestions(models, array("q", numbers), Counter(verdict for verdict in verdicts if verdict))


def verdict_of(right: int, missed: int, asked: int, models: int) -> str:
    """Return which models are right: ``all``, ``none``, of two ``first`` or ``second``, of more ``some``.

    Args:
        right, missed, asked: sums of ``1 << place`` of the models that are right, that are not, and of all.
        models: number of models.

    Returns:
        Empty if a model has neither right nor wrong answers.
    """
    if right | missed != asked:
        return ""
    if right in (0, asked):
        return "all" if right else "none"
    if models > 2:
        return "some"
    return "first" if right == 1 else "second"
