"""Answers that a judge compares others with (the ``baseline`` of a config): a column of the data, or the answers of
another model, in this run or in an earlier one, or of several models of the run with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.judges.questions import JudgedAnswer, Question, pair_fields, shown_answer
from ais_prompt.plan import PlannedDataset, Task
from ais_prompt.store import RunFolder, locate_run, read_predictions
from ais_prompt.types import Extraction, Prediction, Prompts, ReferenceAnswersSpec, SampleScore
from ais_prompt.utils import digest, listed


def check_reference_answers(dataset: PlannedDataset, models: Collection[str]) -> None:
    """Check that there are answers to compare with, as far as that is known before the run.

    Args:
        dataset: its judge compares with reference answers.
        models: ``abbr`` of the models of the run.

    Raises:
        ConfigError, DataError: there are none.
    """
    references = _references(dataset)
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


def _references(dataset: PlannedDataset) -> ReferenceAnswersSpec:
    judge = dataset.spec.eval.judge
    assert judge is not None  # the caller has a dataset whose judge compares
    assert judge.reference_answers is not None
    return judge.reference_answers


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
    references = _references(task.dataset)
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


class RivalAnswer(Struct, frozen=True):
    """The answer of another model to the same question.

    Attributes:
        model: its ``abbr``.
        round: in which round the judge compares it, from 0.
        answer: what it said.
    """

    model: str
    round: int
    answer: JudgedAnswer


class Rivals:
    """The answers of the other models of a run that those of a task are compared with (``baseline='all'``).

    Each pair of models meets on a question in both orders, and the judge is asked about each order once: with the
    answer of a model first in the questions about its answers, and with it second in those about the other's. So both
    scores have both verdicts, and a model that is added to a run adds only questions about itself. Of several answers
    to a question, the first ones of two models meet, then the second ones, and so on.

    Args:
        task: whose answers are compared.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        self._references = _references(task.dataset)
        self._task = task
        self._folder = folder

    def of(self, prediction: Prediction) -> Iterator[RivalAnswer]:
        """Yield the answers that one answer is compared with; none of a model that gave none.

        A turn is compared with the same turn, and of several answers to a question each with that of the same number.

        Raises:
            StoreError: the answers cannot be read.
        """
        own, number = self._task.spec.model.abbr, len(prediction.earlier) or prediction.repeat
        for model, answers in self._answers.items():
            meets = round_of(self._references, prediction.sample_id, own, model)
            given = answers.get(prediction.sample_id, ())
            if meets is not None and number < len(given) and (answer := given[number]) is not None:
                yield RivalAnswer(model, meets, answer)

    def questions(self, sample: SampleScore, prediction: Prediction) -> Iterator[Question]:
        """Yield the questions about an answer of the task, in which it comes first.

        Raises:
            StoreError: the answers of the other models cannot be read.
        """
        own = shown_answer(sample.extracted, prediction.origin_prompt)
        for rival in self.of(prediction):
            name, _ = self.question_ids(sample, prediction, rival)
            fields = pair_fields({}, own, rival.answer, sample.gold)
            yield Question(name, sample.sample_id, fields, sample.gold, rival.round)

    def question_ids(self, sample: SampleScore, prediction: Prediction, rival: RivalAnswer) -> tuple[str, str]:
        """Return the ids of the questions with the own answer first, and with that of the rival first.

        The second is a question about the rival's answer.
        """
        pair = [[self._task.spec.model.abbr, str(sample.extracted)], [rival.model, str(rival.answer.answer)]]
        first, second = (
            f"{sample.sample_id}-{digest([both, sample.gold, len(prediction.earlier)])}" for both in (pair, pair[::-1])
        )
        return first, second

    @cached_property
    def _answers(self) -> dict[str, dict[str, list[JudgedAnswer | None]]]:
        """Model → sample → its answers, as `answers_of_file`; models whose task failed are left out."""
        dataset = self._task.dataset
        files = {
            model: self._folder.predictions(model, dataset.spec.abbr)
            for model in self._references.rivals(self._task.spec.model.abbr)
        }
        return {model: answers_of_file(path, dataset) for model, path in files.items() if path.is_file()}


def round_of(references: ReferenceAnswersSpec, sample_id: str, model: str, other: str) -> int | None:
    """Return in which round two models are compared on a question, from 0; None if they are not.

    In each round, each model is compared with one of those before it in the config, with another one on the next
    question. So what was asked when a budget ends connects all models, and all pairs about equally; and models that are
    added at the end of a config leave the pairs of the others as they are.

    Args:
        references: which models are compared.
        sample_id: the question.
        model, other: two models that the judge compares.
    """
    earlier, later = sorted((model, other), key=references.among.index)
    before = references.among[: references.among.index(later)]
    rivals = [one for one in references.rivals(later) if one in before]
    found = (rivals.index(earlier) - int(digest(sample_id, 8), 16)) % len(rivals)
    return None if references.rounds and found >= references.rounds else found


def pairs_per_question(references: ReferenceAnswersSpec, model: str) -> float:
    """Return how many models an answer of a model is compared with, on average over the questions."""
    total = 0.0
    for other in references.rivals(model):
        later = max(model, other, key=references.among.index)
        before = references.among[: references.among.index(later)]
        number = sum(one in before for one in references.rivals(later))
        total += min(1.0, (references.rounds or number) / number)
    return total
