"""Score the answers to all questions together, with an evaluator that needs them all at once.

`answers_of` collects the answers of each repeat of the questions, judges add their replies, the evaluator gives a
verdict on each batch, and `BatchScorer` hands the value of each answer to its sample.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.checks import check_k
from ais_prompt.errors import DataError, PartError
from ais_prompt.evaluators import AnswerBatch, BatchEvaluator, BatchVerdict, JudgedBatchEvaluator
from ais_prompt.metrics import AnswerCounts, mean_scores
from ais_prompt.plan import PlannedDataset, Task
from ais_prompt.scoring.answers import AnyScorer, reader_of, repeats_of, single_answers, whole_sample
from ais_prompt.scoring.scorer import AnswerScorer, Scorer, failure_kind
from ais_prompt.types import JudgeVerdict, Prediction, Sample, SampleScore, Score, prompts_to_json

T = TypeVar("T")


def batched(
    task: Task,
    evaluator: BatchEvaluator,
    first: Prediction,
    predictions: Iterable[Prediction],
    said_of: Callable[[str], Sequence[Prediction]],
) -> AnyScorer:
    """Return the scorer of a sample, after all of them were scored together.

    Raises:
        AisPromptError: they cannot be scored.
    """
    found = [
        _judged(one, evaluator, said_of) if isinstance(evaluator, JudgedBatchEvaluator) else [one]
        for one in answers_of(task, evaluator, first, predictions)
    ]
    judges = [judge.spec.abbr for judge in task.dataset.judges]
    joint = [_joint_verdict([evaluator.score_all(one.batch) for one in each], judges) for each in found]
    pairs = list(zip(joint, (each[0] for each in found), strict=True))
    verdicts = BatchVerdicts(pairs, judges if len(judges) > 1 else (), evaluator.metrics)
    scorer = BatchScorer(verdicts, reader_of(task, evaluator).without_comparison())
    return scorer if task.dataset.has_turns else whole_sample(task.dataset, scorer, first)


def answers_of(
    task: Task, evaluator: BatchEvaluator, first: Prediction, predictions: Iterable[Prediction]
) -> list[Answers]:
    """Return the answers to all questions of a task, each repeat of the questions by itself.

    Args:
        task: which model answered what.
        evaluator: of its dataset.
        first: any of its predictions.
        predictions: all of them, with their prompts.

    Raises:
        AisPromptError: its parts cannot be made.
    """
    reader, n = reader_of(task, evaluator).without_comparison(), 1
    if not task.dataset.has_turns:
        n = repeats_of(first)
        check_k(task.spec.dataset.eval, n)
    batches: list[list[tuple[Prediction, SampleScore]]] = []
    for prediction in predictions:
        with suppress(DataError, PartError):  # it comes again when the sample is scored
            for replica, one in enumerate(single_answers(prediction, n) if n > 1 else [prediction]):
                sample = _read(reader, one)
                batches += [[] for _ in range(replica + 1 - len(batches))]
                if sample.status != "failed":
                    batches[replica].append((one, sample))
    return [_answers(batch, task, number) for number, batch in enumerate(batches) if batch]


class BatchScorer(AnswerScorer, frozen=True):
    """Give each answer the values that the evaluator gave it when it scored all of them.

    Answers of one question must come in the order of its repeats.

    Attributes:
        evaluator: what was said of all answers.
        reader: finds answer and gold, and the status of a sample.
        asked: sample → how many of its answers were scored.
    """

    evaluator: BatchVerdicts
    reader: Scorer
    asked: Counter[str] = field(default_factory=Counter)

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one answer.

        Raises:
            GoldError, PartError: as `Scorer.score`.
        """
        sample = _read(self.reader, prediction)
        replica = self.asked[prediction.sample_id]
        self.asked[prediction.sample_id] += 1
        if reason := self.evaluator.unjudged(prediction.sample_id, replica):
            return replace(sample, status="failed", values={}, reason=reason)
        values = self.evaluator.values(prediction.sample_id, replica)
        return replace(sample, values=values, verdicts=self.evaluator.votes(values))


def _joint_verdict(verdicts: Sequence[BatchVerdict], judges: Sequence[str]) -> BatchVerdict:
    """Return what several judges say: the mean of each number, then the numbers of each judge by itself.

    Battles name their ``judge``.

    Args:
        verdicts: one for each judge, about the same answers.
        judges: ``abbr`` of each.
    """
    from ais_prompt.judges import by_judge

    if len(verdicts) < 2:
        return verdicts[0]
    shared = [metric for metric in verdicts[0].metrics if all(metric in one.metrics for one in verdicts)]
    known = [metric for metric in shared if all(metric in one.each for one in verdicts)]
    metrics = {metric: statistics.fmean(one.metrics[metric] for one in verdicts) for metric in shared}
    each: dict[str, Sequence[float]] = {
        metric: [statistics.fmean(values) for values in zip(*(one.each[metric] for one in verdicts), strict=True)]
        for metric in known
    }
    for judge, verdict in zip(judges, verdicts, strict=True):
        metrics |= {by_judge(metric, judge): value for metric, value in verdict.metrics.items()}
        each |= {by_judge(metric, judge): values for metric, values in verdict.each.items()}
    pairs = zip(judges, verdicts, strict=True)
    return BatchVerdict(metrics, each, [{**battle, "judge": judge} for judge, one in pairs for battle in one.battles])


class BatchVerdicts:
    """What an evaluator said of all answers, for each of the repeats of a question.

    Attributes:
        metrics: names of the numbers that it gave.
        battles: of all repeats.
    """

    def __init__(
        self, found: Sequence[tuple[BatchVerdict, Answers]], judges: Sequence[str], metrics: Sequence[str]
    ) -> None:
        """Keep verdicts.

        Args:
            found: one for each repeat that has answers, and these answers.
            judges: ``abbr`` of each, if there are several; `_joint_verdict` made the verdicts of theirs.
            metrics: what the evaluator names, for the case that there is no answer.
        """
        self._judges = judges
        self._verdicts = [verdict for verdict, _ in found]
        self.battles = [battle for verdict in self._verdicts for battle in verdict.battles]
        given = tuple(dict.fromkeys(metric for verdict in self._verdicts for metric in verdict.metrics))
        self.metrics: tuple[str, ...] = given or tuple(metrics)
        self._known = [metric for metric in self.metrics if all(metric in one.each for one in self._verdicts)]
        self._unjudged = {answers.batch.replica: answers.unjudged for _, answers in found}
        self._rows = {
            (answers.batch.replica, sample): (verdict, row)
            for verdict, answers in found
            for row, sample in enumerate(answers.ids)
        }

    def unjudged(self, sample_id: str, replica: int) -> str:
        """Return why the judge's part of an answer is missing; empty if it is not."""
        return self._unjudged.get(replica, {}).get(sample_id, "")

    def values(self, sample_id: str, replica: int) -> Mapping[str, float]:
        """Return the values of one answer; empty if nothing is known of it alone."""
        verdict, row = self._rows.get((replica, sample_id), (None, 0))
        return {} if verdict is None else {metric: verdict.each[metric][row] for metric in self._known}

    def votes(self, values: Mapping[str, float]) -> tuple[JudgeVerdict, ...]:
        """Return what each of several judges says of an answer with these values; empty if that is not known."""
        from ais_prompt.judges import by_judge

        names = {judge: by_judge(self.metrics[0], judge) for judge in self._judges} if self.metrics else {}
        if any(name not in values for name in names.values()):
            return ()
        return tuple(JudgeVerdict(judge, values[name]) for judge, name in names.items())

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        """Return nothing: answers are not scored one by one."""
        return {}

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return a mean with its interval for each metric that is one, and the bare number for the others."""
        counts = AnswerCounts(samples)
        scores = []
        for metric in self.metrics:
            if metric in self._known:
                is_amount = any(metric in verdict.amounts for verdict in self._verdicts)
                within = all(0 <= value <= 1 for verdict in self._verdicts for value in verdict.each[metric])
                scores += mean_scores((metric,), samples, best=1.0 if within and not is_amount else None)
                continue
            found = [verdict.metrics[metric] for verdict in self._verdicts if metric in verdict.metrics]
            whole = statistics.fmean(found) if found else None
            bare = Score(metric, whole, None, counts.n, counts.statuses, repeats=counts.repeats, fraction=False)
            scores.append(bare)
        return scores


class Answers(Struct, frozen=True):
    """The answers of one repeat of all questions, without those that failed.

    Attributes:
        ids: of their samples.
        batch: what the evaluator gets.
        unjudged: sample → why a judge did not answer; these answers are left out.
    """

    ids: Sequence[str]
    batch: AnswerBatch
    unjudged: Mapping[str, str] = {}


def _judged(
    answers: Answers, evaluator: JudgedBatchEvaluator, said_of: Callable[[str], Sequence[Prediction]]
) -> list[Answers]:
    """Return answers with what a judge said, once for each judge.

    All of them score the same answers: those of which a judge did not answer each question are left out.

    Args:
        answers: of one repeat.
        evaluator: knows the questions.
        said_of: what each judge said to a question, by its id.

    Raises:
        AisPromptError: as `JudgedBatchEvaluator.questions`.
    """
    from ais_prompt.judges import batch_question_id

    # Each question is looked up once, for all judges. One failed reply takes its answer out for every judge, or their
    # verdicts would be about different answers.
    unjudged: dict[str, str] = {}
    said: list[tuple[str, Sequence[Prediction]]] = []
    for question in evaluator.questions(answers.batch):
        sample = answers.ids[question.answer]
        replies = said_of(batch_question_id(sample, question))
        if failed := next((reply for reply in replies if reply.failed), None):
            unjudged[sample] = f"judge {failure_kind(failed)}"
        said.append((sample, replies))
    kept = [place for place, sample in enumerate(answers.ids) if sample not in unjudged]
    ids, batch = [answers.ids[place] for place in kept], _chosen(answers.batch, kept)
    of_answers = [[str(reply.prediction) for reply in replies] for sample, replies in said if sample not in unjudged]
    of_judges = list(zip(*of_answers, strict=True)) or [()]
    return [Answers(ids, replace(batch, judgements=list(texts)), unjudged) for texts in of_judges]


def _read(reader: Scorer, prediction: Prediction) -> SampleScore:
    """Return answer, gold and status of a prediction. A dialogue has a list of answers."""
    if not isinstance(prediction.prediction, list) or prediction.failed:
        return reader.score(prediction)
    turns = [reader.score(replace(prediction, prediction=text, gold=None)) for text in prediction.prediction]
    first = turns[0]
    return replace(first, extracted=[turn.extracted for turn in turns], gold=prediction.gold)


def _answers(answers: Sequence[tuple[Prediction, SampleScore]], task: Task, replica: int) -> Answers:
    dataset = task.dataset
    ids = [one.sample_id for one, _ in answers]
    references: list[Any] | None = None
    if dataset.spec.reader.output_column is not None:
        references = [sample.gold for _, sample in answers]
        if dataset.is_dialogue:  # its gold is the output column; the prediction has those of its turns
            references = [dataset.gold_of(sample.gold) for sample in _samples(ids, dataset)]
    batch = AnswerBatch(
        predictions=["" if sample.extracted is None else sample.extracted for _, sample in answers],
        references=references,
        prompts=[prompts_to_json(one.origin_prompt) for one, _ in answers],
        rows=lambda: [sample.fields for sample in _samples(ids, dataset)],
        replica=replica,
        row_numbers=lambda: _row_numbers(ids, dataset),
        model=task.spec.model.abbr,
        dataset=dataset.spec.abbr,
        steps=[one.steps for one, _ in answers],
        completions=[one.completions for one, _ in answers],
    )
    return Answers(ids, batch)


def _chosen(batch: AnswerBatch, places: Sequence[int]) -> AnswerBatch:
    if len(places) == len(batch.predictions):
        return batch
    return replace(
        batch,
        predictions=_at(batch.predictions, places),
        references=None if batch.references is None else _at(batch.references, places),
        prompts=_at(batch.prompts, places),
        steps=_at(batch.steps, places),
        completions=_at(batch.completions, places),
        rows=lambda: _at(batch.rows(), places),
        row_numbers=lambda: _at(batch.row_numbers(), places),
    )


def _at(values: Sequence[T], places: Sequence[int]) -> list[T]:
    return [values[place] for place in places]


def _row_numbers(ids: Sequence[str], dataset: PlannedDataset) -> list[int]:
    """Return the numbers of the rows of samples in the whole split.

    Raises:
        DataError: as `_samples`.
    """
    *_, test = dataset.data.tables.values()
    numbers = {name: number for number, name in enumerate(test.row_ids)}
    return [numbers[sample.row_id] for sample in _samples(ids, dataset)]


def _samples(ids: Sequence[str], dataset: PlannedDataset) -> list[Sample]:
    """Return the rows of samples.

    Raises:
        DataError: the data is not there, or no longer what was asked about.
    """
    samples = {name: sample for sample in dataset.data.test for name in (sample.row_id, sample.id)}
    if missing := [name for name in ids if name not in samples]:
        raise DataError(
            f"the row of sample {missing[0]} is no longer in the data, and the evaluator needs it",
            where=dataset.spec.where,
            fix="score with the data that was asked about, and the same test_range",
        )
    return [samples[name] for name in ids]
