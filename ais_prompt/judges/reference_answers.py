"""Answers that a judge compares others with (the ``baseline`` of a config): a column of the data, or the answers of
another model, in this run or in an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, cast

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.judges.questions import JudgedAnswer, shown_answer
from ais_prompt.plan import PlannedDataset, Task
from ais_prompt.store import RunFolder, locate_run, read_predictions
from ais_prompt.types import Extraction, Prediction, Prompts, ReferenceAnswersSpec
from ais_prompt.utils import listed


def check_reference_answers(dataset: PlannedDataset, models: Collection[str]) -> None:
    """Check that there are answers to compare with, as far as that is known before the run.

    Args:
        dataset: its judge compares with reference answers.
        models: ``abbr`` of the models of the run.

    Raises:
        ConfigError, DataError: there are none.
    """
    judge = dataset.spec.eval.judge
    assert judge is not None
    references = judge.reference_answers
    assert references is not None
    if references.models:
        _check_rivals(references, dataset, models)
    elif references.column and dataset.has_turns:
        what = "a column has no conversations that dialogues could be compared with"
        fix = "compare with a model: baseline=dict(model='...') or dict(path='outputs/...'); or ask the last turn only"
        raise ConfigError(what, where=f"{references.where}.column", fix=f"{fix}, infer_mode='last'")
    elif references.column:
        columns = dataset.data.test[0].fields if len(dataset.data.test) else {}
        if references.column not in columns:
            what = f"there is no column {references.column!r} to compare with (there are {listed(columns)})"
            raise DataError(what, where=f"{references.where}.column", fix="name the column that holds the answers")
    elif references.path is not None:
        stored_answers(references, dataset.spec.abbr)
    elif references.model not in models:
        what = f"the run has no model {references.model!r} to compare with (there are {listed(models)})"
        raise ConfigError(
            what, where=f"{references.where}.model", fix="name the abbr of one of `models`, or give a path"
        )


def _check_rivals(references: ReferenceAnswersSpec, dataset: PlannedDataset, models: Collection[str]) -> None:
    unknown = [one for one in references.models if one not in models and references.models != ("all",)]
    if unknown:
        what = f"the run has no model {unknown[0]!r} to compare with (there are {listed(models)})"
        raise ConfigError(what, where=f"{references.where}.models", fix="name models of the config by their abbr")
    if len(references.among) < 2:
        what = f"{dataset.spec.abbr} is answered by one model, and its judge compares models with each other"
        raise ConfigError(what, where=references.where, fix="add a model, or name another baseline")


def reference_answer_of(task: Task, folder: RunFolder) -> Callable[[str, int], JudgedAnswer | None]:
    """Return what gives the reference answer, by the id of a sample and the number of a turn, from 0.

    It returns None where there is none. Answers of a model are postprocessed as those of the task. Of several answers
    to one question the first counts. A dialogue of which a turn failed has no answers.

    Args:
        task: whose answers are compared.
        folder: of the run.

    Raises:
        AisPromptError: the answers cannot be read.
    """
    judge = task.spec.dataset.eval.judge
    assert judge is not None
    references = judge.reference_answers
    assert references is not None
    if references.column:
        rows = {name: row for row in task.data.test for name in (row.row_id, row.id)}

        def of_row(sample: str, _turn: int) -> JudgedAnswer | None:
            found = rows[sample].fields.get(references.column) if sample in rows else None
            return None if found is None else JudgedAnswer(found)

        return of_row
    abbr = task.spec.dataset.abbr
    path = folder.predictions(references.model, abbr) if references.path is None else stored_answers(references, abbr)
    turns = answers_of_file(path, task.dataset)

    def of_model(sample: str, turn: int) -> JudgedAnswer | None:
        found = turns.get(sample, ())
        return found[turn] if turn < len(found) else None

    return of_model


def stored_answers(references: ReferenceAnswersSpec, dataset: str) -> Path:
    """Return the file with the answers of an earlier run to a dataset.

    Raises:
        ConfigError: there is no such run or file, or answers of several models are there.
    """
    assert references.path is not None
    if references.path.is_file():
        return references.path
    run = locate_run(references.path.parent, str(references.path))
    if references.model:
        found = run.predictions(references.model, dataset)
        if not found.is_file():
            what = f"the run has no answers of {references.model!r} to {dataset!r}"
            raise ConfigError(what, where=str(run.root), fix="name a model and a dataset of that run")
        return found
    files = sorted(run.root.glob(f"predictions/*/{run.predictions('', dataset).name}"))
    if len(files) != 1:
        what = f"the run has answers of {len(files)} models to {dataset!r}"
        fix = f"name one: model='{files[0].parent.name}'" if files else "name a run with this dataset"
        raise ConfigError(what, where=str(run.root), fix=fix)
    return files[0]


def answers_of_file(path: Path, dataset: PlannedDataset) -> dict[str, list[JudgedAnswer | None]]:
    """Return sample → its answers: each turn of a dialogue, or each of several answers; None where there is none.

    Raises:
        StoreError: the file cannot be read.
    """
    return {
        prediction.sample_id: [_read_answer(*turn, dataset) for turn in _turns(prediction, dataset)]
        for prediction in read_predictions(path, with_prompts=dataset.has_turns)
        if not (dataset.has_turns and prediction.failed)
    }


def _turns(prediction: Prediction, dataset: PlannedDataset) -> Iterator[tuple[Any, Prompts]]:
    """Yield each answer, with the prompt of its turn, or "" if the dataset has no dialogues."""
    given, prompts = prediction.prediction, prediction.origin_prompt
    if not dataset.has_turns:
        yield from ((one, "") for one in (given if isinstance(given, list) else [given]))
    elif isinstance(given, list) and isinstance(prompts, tuple):
        yield from zip(given, cast("tuple[Prompts, ...]", prompts), strict=False)


def _read_answer(given: Any, prompt: Prompts, dataset: PlannedDataset) -> JudgedAnswer | None:
    if given is None:
        return None
    found = dataset.answer_of(given)
    return shown_answer(str(found) if isinstance(found, Extraction) else found, prompt)
