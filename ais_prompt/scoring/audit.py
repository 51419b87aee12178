"""Find out whether the scores of a task depend on how its answers are read: ``aisprompt score RUN --audit``.

Every answer is scored again with every postprocessor that could stand in the place of the configured one; where none is
configured, wrong answers that contain their gold answer are counted.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from ais_prompt.evaluators import BatchEvaluator, JudgeEvaluator
from ais_prompt.plan import Task
from ais_prompt.scoring.lost_golds import find_lost_golds
from ais_prompt.scoring.sensitivity import ScorerOf, best_extractor, find_sensitivity, others_than, warning_of
from ais_prompt.store import read_predictions
from ais_prompt.types import SampleScore, Score, Sensitivity
from ais_prompt.utils import Spilled

logger = logging.getLogger(__name__)


def audit_reading(
    task: Task, samples: Spilled[SampleScore], score: Score, path: Path, scorer_of: ScorerOf
) -> dict[str, Any]:
    """Audit a task, warn of what is found, and return it for the results.

    Args:
        task: which model answered what.
        samples: their scores.
        score: in the main metric.
        path: of the predictions.
        scorer_of: as in `ScorerOf`.

    Returns:
        ``extraction``: a `Sensitivity`; ``doubt``: a sentence; each only if there is something to say.
    """
    found: dict[str, Any] = {}
    if isinstance(task.dataset.evaluator, JudgeEvaluator):
        return found
    if task.spec.dataset.eval.pred_postprocessor is not None:
        if (read := _read_otherwise(task, len(samples), score, path, scorer_of)) is not None:
            found["extraction"] = read.to_json()
            less = bool(score.lower_is_better)
            if warning := warning_of(read, fraction=score.fraction, lower_is_better=less):
                logger.warning("[%s] %s", task.name, warning)
    elif doubt := _doubt(task, samples, score, path, scorer_of):
        found["doubt"] = doubt
        logger.warning("[%s] %s", task.name, doubt)
    return found


def _read_otherwise(task: Task, count: int, score: Score, path: Path, scorer_of: ScorerOf) -> Sensitivity | None:
    """Score with other postprocessors; None if the postprocessor has no alternative."""
    configured = task.spec.dataset.eval.pred_postprocessor
    if configured is None or isinstance(task.dataset.evaluator, BatchEvaluator) or not others_than(configured):
        return None
    return find_sensitivity(configured, read_predictions(path, with_prompts=False), count, scorer_of, score.metric)


def _doubt(task: Task, samples: Spilled[SampleScore], score: Score, path: Path, scorer_of: ScorerOf) -> str:
    """Return how many wrong answers contain the gold answer, and what extracts it; empty if they are few."""
    if score.lower_is_better:  # an answer with the value 0 is right
        return ""
    if (lost := find_lost_golds(samples, score.metric)) is None:
        return ""
    best = None
    if lost.extractors and not isinstance(task.dataset.evaluator, BatchEvaluator):
        predictions = read_predictions(path, with_prompts=False)
        best = best_extractor(lost.extractors, predictions, len(samples), scorer_of, score.metric)
    return lost.warning(best, score.value or 0.0, fraction=score.fraction)
