"""Turn the answers of a log into predictions and scores, one of each for a question, and note what answers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from statistics import fmean
from typing import Any, Final

from msgspec import Struct, field

from ais_prompt.extensions.logs.budget import MOST_METRICS
from ais_prompt.extensions.logs.record import as_written_by, columns_of
from ais_prompt.extensions.logs.rules import RuleSearch
from ais_prompt.scoring import NOT_SCORED
from ais_prompt.store import PredictionSorter
from ais_prompt.types import LoggedAnswer, LoggedTask, Prediction, SampleScore, Status
from ais_prompt.utils import counted

_UNKNOWN: Final = object()


class SeenAnswers(Struct):
    """What all answers of a task have shown.

    Attributes:
        metrics: metric → whether all of its values are from 0 to 1; the main one first, and `MOST_METRICS` at most.
        decoding: fields of the requests that all of them share.
        varying: fields that differ between requests.
        answers: number of answers that did not fail.
        has_bodies: whether the whole body of every request is known.
        repeats: the most answers to a question.
        doubled: ids that occur again after others.
    """

    metrics: dict[str, bool] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    answers: int = 0
    has_bodies: bool = True
    repeats: int = 1
    doubled: int = 0

    def add(self, answer: LoggedAnswer) -> None:
        """Note an answer."""
        for name, value in answer.values.items():
            if name in self.metrics or len(self.metrics) < MOST_METRICS:
                self.metrics[name] = self.metrics.get(name, True) and 0 <= value <= 1
        if answer.completion.failure is not None:
            return
        before = self.decoding if self.answers else dict(answer.decoding)
        self.answers += 1
        self.has_bodies &= answer.is_body
        names = {*before, *answer.decoding}
        differ = {name for name in names if before.get(name, _UNKNOWN) != answer.decoding.get(name, _UNKNOWN)}
        self.varying |= differ
        self.decoding = {name: value for name, value in before.items() if name not in differ}


def read_samples(
    task: LoggedTask, search: RuleSearch, seen: SeenAnswers, sorter: PredictionSorter
) -> Iterator[SampleScore]:
    """Write the prediction of each question, and yield its score.

    Args:
        task: the task of the log.
        search, seen: note each answer.
        sorter: takes the predictions.
    """
    ids: Counter[str] = Counter()
    for index, (name, group) in enumerate(groupby(_answers(task), lambda answer: answer.id)):
        answers = list(group)
        ids[name] += 1
        if ids[name] > 1:
            seen.doubled += 1
        unique = name if ids[name] == 1 else f"{name}-{ids[name]}"
        seen.repeats = max(seen.repeats, len(answers))
        for answer in answers:
            seen.add(answer)
            search.add(answer)
        sorter.add(_prediction(unique, index, answers))
        yield _score(unique, answers, task)


def _answers(task: LoggedTask) -> Iterator[LoggedAnswer]:
    """Yield the answers of a task.

    Raises:
        DataError: one is not as the tool writes it.
    """
    number = 0
    with as_written_by(task.tool, lambda: f"{task.where}, after {counted(number, 'answer')}"):
        for answer in task.answers():
            yield answer
            number += 1


def _prediction(name: str, index: int, answers: Sequence[LoggedAnswer]) -> Prediction:
    first = answers[0]
    texts = [None if one.completion.failure else one.completion.text for one in answers]
    return Prediction(
        sample_id=name,
        index=index,
        origin_prompt=first.prompt,
        prediction=texts if len(answers) > 1 else texts[0],
        gold=first.gold,
        completions=tuple(one.completion for one in answers),
        labels=first.labels,
        columns=columns_of(first),
    )


def _score(name: str, answers: Sequence[LoggedAnswer], task: LoggedTask) -> SampleScore:
    """Return the score of a question; of several answers it is their mean, or as the tool reduces them."""
    reducer = task.reducer
    each = [_score_of_answer(name, one) for one in answers]
    if len(each) == 1 and reducer is None and not task.further:
        return each[0]
    scored = [one for one in each if one.status != "failed"]
    worst: list[Status] = ["truncated", "unparsed", "scored"]
    found = {
        metric: [one.values.get(metric, 0.0) for one in scored]
        for metric in dict.fromkeys(chain(*(one.values for one in scored)))
    }
    values = {metric: (reducer.apply if reducer else fmean)(numbers) for metric, numbers in found.items()}
    if found:
        main = next(iter(found.values()))
        values |= {reducer.mean_metric: fmean(main)} if reducer else {}
        values |= {metric: make(main) for metric, make in task.further.items()}
    return SampleScore(
        name,
        min((one.status for one in scored), key=worst.index) if scored else "failed",
        [one.extracted for one in each],
        answers[0].gold,
        values,
        next((one.reason for one in each if one.reason), ""),
        tuple(each),
    )


def _score_of_answer(name: str, answer: LoggedAnswer) -> SampleScore:
    completion = answer.completion
    status: Status = "truncated" if completion.finish_reason == "length" else "scored"
    if completion.failure is not None:
        # A tool may count a failure as wrong. That is its score, so it is kept.
        why = answer.reason or completion.failure.kind
        status, reason = ("unparsed", "no answer") if answer.values else ("failed", why)
    elif not answer.values:
        status, reason = "failed", f"{NOT_SCORED}: by the tool"
    else:
        reason = "cut at the limit on the length" if status == "truncated" else answer.reason
    return SampleScore(name, status, answer.extracted, answer.gold, dict(answer.values), reason)
