"""Score a dataset without an evaluator or golds by values that an extension knows of its answers, such as labels."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from ais_prompt.metrics import mean_scores
from ais_prompt.plan import Task, with_clusters
from ais_prompt.steps import first_answer
from ais_prompt.store import RunFolder, read_predictions, write_results
from ais_prompt.terminal import NOTE
from ais_prompt.types import SampleScore, Score, Stratum

logger = logging.getLogger(__name__)


def known_values(task: Task, folder: RunFolder) -> tuple[str, Mapping[str, float]] | None:
    """Return the name of a metric, and sample → its value; None if none is known.

    Raises:
        AisPromptError: they cannot be read.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    found: tuple[str, Mapping[str, float]] | None = first_answer("known_values", folder.root, *names)
    return found


def score_by_known_values(task: Task, folder: RunFolder) -> list[Score]:
    """Score a task by the step ``known_values`` and write its results; no scores if nothing is known.

    The answers with a value are a random sample of those that did not fail: the others count neither as right nor as
    wrong, and the score says of how many answers it is.

    Raises:
        AisPromptError: predictions or values cannot be read, or the results cannot be written.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    if (known := known_values(task, folder)) is None:
        return []
    metric, values = known
    answered = sum(not one.failed for one in read_predictions(folder.predictions(*names), with_prompts=False))
    samples = list(_samples(task, folder, metric, values, answered))
    if not samples:
        return []
    scores = [replace(score, failed_samples=0) for score in mean_scores((metric,), samples)]
    head = {"model": names[0], "dataset": names[1], "scores": [score.to_json() for score in scores]}
    write_results(folder.results(*names), head, map(SampleScore.to_json, samples))
    what = "[%s] %d of %d answers have a %s; the score is about these, and the others count neither as right nor wrong"
    logger.log(NOTE, what, task.name, len(samples), answered, metric)
    return scores


def _samples(
    task: Task, folder: RunFolder, metric: str, values: Mapping[str, float], answered: int
) -> Iterator[SampleScore]:
    """Yield the score of each answer with a value."""
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    found = [
        one
        for one in with_clusters(task.dataset, read_predictions(path, with_prompts=False))
        if one.sample_id in values and not one.failed
    ]
    drawn = Stratum("", answered) if len(found) < answered else None
    for one in found:
        yield SampleScore(
            one.sample_id,
            "scored",
            one.prediction,
            one.gold,
            {metric: values[one.sample_id]},
            cluster=one.cluster[1] if one.cluster else None,
            stratum=one.stratum or drawn,
        )
