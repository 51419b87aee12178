"""Keep the scores of an earlier session if nothing has changed that decides them."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import msgspec

from ais_prompt.errors import AisPromptError
from ais_prompt.evaluators import BatchEvaluator
from ais_prompt.parts import RunsPrograms
from ais_prompt.plan import Task
from ais_prompt.registry import EVALUATORS, INFERENCERS, POSTPROCESSORS, is_shipped, runs_code
from ais_prompt.scoring.score import known_values, score_task, stored_scores
from ais_prompt.store import RunFolder
from ais_prompt.types import Score
from ais_prompt.utils import digest, file_digest, part_types, program_digest

logger = logging.getLogger(__name__)


def score_what_changed(
    task: Task,
    folder: RunFolder,
    asked: int | None,
    stopped_of: int | None,
    *,
    earlier: str = "",
    audits: bool = False,
) -> tuple[list[Score], str]:
    """Score a task, or read its scores if they would be the same. Return them with their `scoring_stamp`.

    Args:
        task, folder, asked, stopped_of, audits: as for `score_task`. Audits are always made, and their results always
            replaced.
        earlier: the stamp of an earlier session; empty without one.

    Raises:
        AisPromptError: as `score_task`.
    """
    if not audits and earlier and scoring_stamp(task, folder, asked, stopped_of) == earlier:
        logger.info("[%s] was scored before, and nothing has changed: its scores are kept", task.name)
        return stored_scores(task.spec, folder), earlier
    scores = score_task(task, folder, asked, stopped_of, audits=audits)
    return scores, "" if audits else scoring_stamp(task, folder, asked, stopped_of)


def scoring_stamp(task: Task, folder: RunFolder, asked: int | None, stopped_of: int | None) -> str:
    """Return a digest of the scores of a task and of all that decides them; empty if that cannot be known.

    These are the files of predictions and results, what an extension knows of the answers, the config of the model and
    the dataset, the files of the program, and the versions of all installed packages. What code of others, a judge, or
    a program of an answer decides is not known, nor are the data, from which evaluators of all answers together,
    clusters and controls read.
    """
    dataset, names = task.spec.dataset, (task.spec.model.abbr, task.spec.dataset.abbr)
    each = dataset.eval.by_evaluator
    is_known = not (any(one.judge for one in each) or dataset.eval.cluster or dataset.reader.control)
    if not (is_known and task.spec.is_scored):
        return ""
    # All parts that scoring uses, and parts within them, must be ours and run no code of others.
    scoring = (dataset.eval, dataset.infer.inferencer, task.spec.model.pred_postprocessor)
    kinds = list(part_types(msgspec.to_builtins(scoring, enc_hook=str)))  # a function of the user is held by a text
    if not all(is_of_program(kind) and not runs_code(str(kind).rpartition(".")[2]) for kind in kinds):
        return ""
    if any(isinstance(scoring.evaluator, RunsPrograms | BatchEvaluator) for scoring in task.dataset.scorings):
        return ""
    with suppress(OSError, TypeError, ValueError):  # no file, or a value that is no data
        spec = msgspec.json.encode(task.spec, order="sorted").decode()
        files = [file_digest(path) for path in (folder.predictions(*names), folder.results(*names))]
        return digest([program_digest(), spec, asked, stopped_of, known_values(task, folder), *files])
    return ""


def is_of_program(kind: Any) -> bool:
    """Return whether a ``type`` names a part of ours that scoring uses."""
    for registry in (EVALUATORS, POSTPROCESSORS, INFERENCERS):
        if kind in registry.names() or "." in str(kind):  # others would be looked for in all installed packages
            with suppress(AisPromptError):
                return is_shipped(registry.get(kind))
    return False
