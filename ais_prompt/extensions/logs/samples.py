"""Turn the answers of a log into predictions and scores, one of each for a question, and find the rule of its scores.

A log names its rule at best. It is taken as known only if our counterpart gives the log's own verdicts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from statistics import fmean
from typing import Any, Final

from msgspec import Struct, field

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.evaluators import Evaluator
from ais_prompt.extensions.logs.log_files import MOST_METRICS
from ais_prompt.extensions.logs.record import as_written_by, columns_of
from ais_prompt.extensions.logs.rules import compiled
from ais_prompt.plan import build_evaluator, build_postprocessor
from ais_prompt.scoring import NOT_SCORED, read_answer
from ais_prompt.store import PredictionSorter
from ais_prompt.types import (
    EvalSpec,
    LoggedAnswer,
    LoggedTask,
    LogRule,
    PartConfig,
    PartSpec,
    Prediction,
    SampleScore,
    Status,
)
from ais_prompt.utils import counted

_UNKNOWN: Final = object()

AGREEMENT: Final = 0.99
"""Share of a log's verdicts that a rule must give."""
LEAST_ANSWERS: Final = 20
"""Fewest answers by which a rule that the log does not name is found."""
RULE_SECONDS: Final = 5.0
"""Most seconds of one rule on a log, beside `SECONDS_PER_ANSWER`."""
SECONDS_PER_ANSWER: Final = 0.1
_GENERAL: Final = (
    LogRule(None, {"type": "LoggedMatchEvaluator"}),
    LogRule(None, {"type": "LoggedMatchEvaluator", "match": "any", "ignore_case": True}),
    LogRule(
        {"type": "logged_regex", "pattern": r"(?i)answer\s*(?:is)?\s*[:：]?\s*\(?([A-Z])\b", "which": -1},
        {"type": "LoggedMatchEvaluator", "ignore_case": True},
    ),
    LogRule(
        {"type": "logged_regex", "pattern": r"-?\d[\d,]*(?:\.\d+)?", "which": -1},
        {"type": "LoggedMatchEvaluator", "numeric": True},
    ),
    LogRule(None, {"type": "LoggedMatchEvaluator", "match": "words"}),
    LogRule(None, {"type": "LoggedMatchEvaluator", "match": "f1"}),
)
"""Rules of many tools, for logs that name none."""


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


class RuleSearch:
    """Find the rule that gives the verdicts of a log, while its answers are read.

    Args:
        rules: those that the log names.
        extracts: whether the log has extracted answers, which the rule must extract too.

    Attributes:
        answers: number of answers with a verdict.
        fault: why a rule that the log names cannot be computed; empty if it can.
    """

    def __init__(self, rules: Sequence[LogRule], *, extracts: bool) -> None:
        self._extracts = extracts
        self._named = len(rules)
        self._rules = [*rules, *(rule for rule in _GENERAL if rule not in rules)]
        self._parts = [_built(rule) for rule in self._rules]
        self._agreed = [0] * len(self._rules)
        self._spent = [(0.0, 0.0)] * len(self._rules)  # seconds of each: processor time of this process, and all time
        self.answers = 0
        self.fault = ""

    def add(self, answer: LoggedAnswer) -> None:
        """Score an answer of the log by every rule."""
        if answer.completion.failure is not None or not answer.values or answer.gold is None:
            return
        self.answers += 1
        value = next(iter(answer.values.values()))
        for number, parts in enumerate(self._parts):
            if parts is not None and (self._agreed[number] + 5) * 2 > self.answers:  # a rule that is far off is not it
                begun = time.process_time(), time.perf_counter()
                try:
                    self._agreed[number] += self._gives(parts, answer, value)
                    self._count_time(number, *begun)
                except PartError as error:
                    self._parts[number] = None
                    self.fault = error.what if number < self._named else self.fault

    def _count_time(self, number: int, begun: float, begun_waiting: float) -> None:
        """Count the time of a rule on one answer. Mathematics are read in a process that takes a while to start.

        Raises:
            PartError: the rule has taken too long on all answers so far.
        """
        spent, waited = self._spent[number]
        spent, waited = spent + time.process_time() - begun, waited + time.perf_counter() - begun_waiting
        self._spent[number] = spent, waited
        allowed = RULE_SECONDS + SECONDS_PER_ANSWER * self.answers
        if spent > allowed or waited > 10 * allowed:
            what = "the rule of the tool takes too long on these answers"
            raise PartError(what, fix="score them by a rule of this program: aisprompt score RUN --config CONFIG")

    def found(self) -> LogRule | None:
        """Return the first rule that agrees; None if the tool has a rule of its own."""
        for number, rule in enumerate(self._rules):
            enough = self.answers >= (1 if number < self._named else LEAST_ANSWERS)
            if enough and self._parts[number] is not None and self._agreed[number] >= AGREEMENT * self.answers:
                return rule
        return None

    def _gives(self, parts: tuple[Any, Evaluator], answer: LoggedAnswer, value: float) -> bool:
        """Return whether a rule extracts the same from an answer, and gives it the same value.

        Raises:
            PartError: the rule cannot be computed.
        """
        postprocessor, evaluator = parts
        try:
            extracted = read_answer(postprocessor, answer.completion.text, columns_of(answer))
            found = evaluator.score(extracted, answer.gold) if extracted not in (None, "") else {"": 0.0}
        except PartError:
            raise
        except AisPromptError:
            return False
        if self._extracts and (extracted or "") != str(answer.extracted or "").strip():
            return False
        return abs(next(iter(found.values())) - value) < 1e-9


def _built(rule: LogRule) -> tuple[Any, Evaluator] | None:
    """Return the parts of a rule; None if they cannot be built, as with a pattern that Python does not know."""
    reading = rule.postprocessor
    try:
        if reading is not None:
            for pattern in (reading.get("pattern", ""), *reading.get("ignore", ())):
                compiled(str(pattern))
        evaluator = build_evaluator(EvalSpec(evaluator=_spec(rule.evaluator)))
    except AisPromptError:
        return None
    assert evaluator is not None
    return build_postprocessor(_spec(reading) if reading is not None else None), evaluator


def _spec(part: PartConfig) -> PartSpec:
    return PartSpec(part["type"], {name: value for name, value in part.items() if name != "type"})
