"""The verdicts of judges: find them, and compare several judges.

`Verdicts` finds the replies of judges to an answer in their predictions, by the id of the question. Of several judges,
a dataset also gets the score that each gives alone, and their agreement.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.evaluators import AsksInParts, Evaluator, JudgeEvaluator, best_of, less_is_better, worst_of
from ais_prompt.judges.judge_evaluators import decide
from ais_prompt.judges.questions import questions_about
from ais_prompt.judges.reference_answers import Rivals
from ais_prompt.metrics import Estimate, bootstrap_interval, clipped_score, estimated_means, exact_mean
from ais_prompt.plan import Task, build_postprocessor
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Completion, Failure, JudgeSpec, Prediction, SampleScore, Score

NOT_JUDGED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))
"""What takes the place of a verdict that is not there."""


NOT_COMPARED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("no_baseline_answer", "")),))
"""What takes the place of a verdict about an answer with which nothing can be compared."""


class Replies(Struct, frozen=True):
    """What one judge said about an answer.

    Attributes:
        judge: its ``abbr``.
        said: one reply, one for each of `ORDERS`, or one for each of `AsksInParts.parts`.
        rival: ``abbr`` of the model whose answer was compared, of several.
    """

    judge: str
    said: Sequence[Prediction]
    rival: str = ""


class Verdicts:
    """Find what judges said about an answer. The files are read when the first verdict is needed.

    Args:
        task: whose answers are judged.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        self._task = task
        self._folder = folder
        self._said: dict[str, dict[str, dict[str, Prediction]]] = {}

    def about(self, sample: SampleScore, prediction: Prediction) -> list[Replies]:
        """Return what each judge said about an answer that was read; failures where nothing was said.

        Of an answer that is compared with those of several models, each judge has as many replies.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        if self._rivals is not None:
            return list(self._about_rivals(self._rivals, sample, prediction))
        missing = NOT_JUDGED if self._judge.reference_answers is None else NOT_COMPARED
        evaluator = self._task.dataset.evaluator
        compares = self._judge.reference_answers is not None and not isinstance(evaluator, AsksInParts)
        questions = questions_about(sample, prediction.earlier, compares=compares, evaluator=evaluator)
        return [
            Replies(judge, [said.get(question, missing) for question in questions])
            for judge, said in self._all().items()
        ]

    def _about_rivals(self, rivals: Rivals, sample: SampleScore, prediction: Prediction) -> Iterator[Replies]:
        own = self._task.spec.model.abbr
        for rival in rivals.of(prediction):
            names = zip((own, rival.model), rivals.question_ids(sample, prediction, rival), strict=True)
            asked = [(self._all(model), question) for model, question in names]
            for judge in (one.abbr for one in self._judge.models):
                yield Replies(judge, [said[judge].get(question, NOT_JUDGED) for said, question in asked], rival.model)

    @cached_property
    def _rivals(self) -> Rivals | None:
        references = self._judge.reference_answers
        return Rivals(self._task, self._folder) if references is not None and references.models else None

    def of(self, question: str) -> list[Prediction]:
        """Return what each judge said to the question with an id; a failure where nothing was.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        return [said.get(question, NOT_JUDGED) for said in self._all().values()]

    @property
    def _judge(self) -> JudgeSpec:
        judge = self._task.spec.dataset.eval.judge
        assert judge is not None  # `build_evaluator` refuses an evaluator that needs a judge and has none
        return judge

    def _all(self, model: str = "") -> dict[str, dict[str, Prediction]]:
        """Return ``abbr`` of each judge → id of a question about the answers of a model → what it said."""
        answered_by = model or self._task.spec.model.abbr
        if answered_by not in self._said:
            folder = self._folder.judge(answered_by, self._task.spec.dataset.eval.name)
            found = self._said[answered_by] = {}
            for judge in self._judge.models:
                path = folder.predictions(judge.abbr, self._task.spec.dataset.abbr)
                text_of = build_postprocessor(judge.pred_postprocessor)
                is_there = not model or path.is_file()  # the judging of another model may have failed
                found[judge.abbr] = {
                    said.sample_id: said if said.failed else replace(said, prediction=text_of(said.prediction))
                    for said in (read_predictions(path, with_prompts=False) if is_there else ())
                }
        return self._said[answered_by]


def by_judge(metric: str, judge: str) -> str:
    """Return the name of a metric as one of several judges gives it."""
    return f"{metric} by {judge}"


def scores_of_judges(evaluator: JudgeEvaluator, judges: Sequence[str], samples: Iterable[SampleScore]) -> list[Score]:
    """Return the main score that each judge gives alone.

    Args:
        evaluator: makes values of verdicts.
        judges: ``abbr`` of each.
        samples: the scores of all samples, with the votes on each answer and each turn.
    """

    def estimates(sample: SampleScore) -> list[Estimate]:
        return [_alone(evaluator, sample, place, len(judges)) for place in range(len(judges))]

    metrics = [by_judge(evaluator.metrics[0], judge) for judge in judges]
    scores = estimated_means(metrics, estimates, samples, best_of(evaluator), worst_of(evaluator))
    less = less_is_better(evaluator, evaluator.metrics[0])  # whatever the judges are called
    scores = [replace(score, lower_is_better=less) for score in scores]
    return [clipped_score(score) for score in scores] if isinstance(evaluator, AsksInParts) else scores


def _alone(evaluator: JudgeEvaluator, sample: SampleScore, place: int, judges: int) -> Estimate:
    """Return the value of a question by one judge, and its bounds; answers without its vote are not known."""
    answers = sample.repeats or (sample,)
    values = [_value(evaluator, answer, place, judges) for answer in answers]
    known = [value for value in values if value is not None]
    best, worst = best_of(evaluator), worst_of(evaluator)
    lows = [worst if value is None else value for value in values]
    highs = [
        value if value is not None and answer.is_read else best for value, answer in zip(values, answers, strict=True)
    ]
    return Estimate(exact_mean(known) if known else None, exact_mean(lows), exact_mean(highs))


def _value(evaluator: JudgeEvaluator, answer: SampleScore, place: int, judges: int) -> float | None:
    """Return the value of an answer if the votes of all other judges are left out; None if it is not known."""
    metric = evaluator.metrics[0]
    panels = [answer.verdicts[start : start + judges] for start in range(0, len(answer.verdicts), judges)]
    alone = [decide(evaluator, panel[place : place + 1], answer.gold) for panel in panels]
    if not all(alone):
        return None
    if answer.status == "failed":  # by the judges together; a failed dialogue has no votes
        return alone[0][metric] if alone and alone[0] else None
    together = [decide(evaluator, panel, answer.gold) for panel in panels]
    turns = len(answer.extracted) if isinstance(answer.extracted, list) else 1
    turns *= len({one.rival for one in answer.verdicts}) or 1  # the value is the mean over turns and rivals
    changes = [one[metric] - all_of[metric] for one, all_of in zip(alone, together, strict=True) if one and all_of]
    # Turns that no judge was asked about keep their values.
    return answer.values.get(metric, 0.0) + math.fsum(changes) / turns


def agreement_of_judges(
    judges: int, samples: Iterable[SampleScore], main: Score, evaluator: Evaluator | None = None
) -> Score:
    """Return Krippendorff's alpha of the votes: of numbers as interval data, of tags as categories.

    Args:
        judges: how many there are.
        samples: the scores of all samples, with the votes on each answer and each turn.
        main: the main score, whose counts this one has.
        evaluator: if it `AsksInParts`, the votes are those on each part.
    """
    votes: list[list[str | float | None]] = []
    clusters: list[str] = []
    for sample in samples:
        for answer in sample.repeats or (sample,):
            for start in range(0, len(answer.verdicts), judges):
                given: list[Sequence[str | float | None]] = [
                    evaluator.marks(one.vote, answer.gold) if isinstance(evaluator, AsksInParts) else [one.vote]
                    for one in answer.verdicts[start : start + judges]
                ]
                votes += map(list, zip(*given, strict=True))
                clusters += [sample.sample_id if sample.cluster is None else sample.cluster] * len(given[0])
    numeric = all(isinstance(vote, float) for given in votes for vote in given if vote is not None)
    found = agreement(votes, "interval" if numeric else "nominal", clusters)
    return replace(
        main,
        metric=ALPHA,
        value=found.alpha,
        stderr=found.stderr,
        interval=found.interval,
        bounds=None,
        fraction=False,
        is_mean=False,
        questions=None,
        precision=None,
    )


Level: TypeAlias = Literal["nominal", "interval"]
"""How far two verdicts differ: by 1 if they are not equal, or by the square of their difference."""

ALPHA: Final = "krippendorff_alpha"
"""The metric of a dataset that several judges rate: 1 is agreement, 0 that of chance."""

_OBSERVED, _COUNT, _SUM, _SQUARES = range(4)


class Agreement(Struct, frozen=True):
    """The agreement of judges.

    Attributes:
        alpha: 1 is agreement, 0 that of chance; None if no two judges rated the same answer, or nothing varies.
        stderr, interval: by the bootstrap over the answers; None if unknown.
        answers: answers that at least two judges have rated.
    """

    alpha: float | None
    stderr: float | None = None
    interval: tuple[float, float] | None = None
    answers: int = 0


def agreement(
    verdicts: Sequence[Sequence[Hashable | None]],
    level: Level = "nominal",
    clusters: Sequence[str] | None = None,
) -> Agreement:
    """Return Krippendorff's alpha with its 95 % interval.

    A resample in which nothing varies counts as agreement.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    Args:
        verdicts: for each answer the verdict of each judge, None where there is none.
        level: how far verdicts differ; numbers only for ``interval``.
        clusters: what answers depend on together, one for each; None if all are independent.
    """
    rated = [
        (given, clusters[place] if clusters else "")
        for place, answer in enumerate(verdicts)
        if len(given := [one for one in answer if one is not None]) > 1
    ]
    if not rated:
        return Agreement(None)
    values = [given for given, _ in rated]
    rows = _nominal_rows(values) if level == "nominal" else _interval_rows(values)
    statistic = _nominal if level == "nominal" else _interval
    alpha = statistic(rows.sum(axis=0))
    if alpha is None:
        return Agreement(None, answers=len(rated))

    def resampled(sums: NDArray[np.float64]) -> float:
        found = statistic(sums)
        return 1.0 if found is None else found

    units = [cluster for _, cluster in rated] if clusters else None
    stderr, interval = bootstrap_interval(rows, resampled, clusters=units) or (None, None)
    return Agreement(alpha, stderr, interval, len(rated))


def krippendorff_alpha(verdicts: Sequence[Sequence[Hashable | None]], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha alone; see `agreement`."""
    return agreement(verdicts, level).alpha


def _nominal_rows(answers: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return the observed disagreement of each answer, and how often it was given each verdict."""
    numbers = {one: place for place, one in enumerate(dict.fromkeys(one for given in answers for one in given))}
    rows = np.zeros((len(answers), 1 + len(numbers)))
    for row, given in zip(rows, answers, strict=True):
        for one in given:
            row[1 + numbers[one]] += 1
        row[_OBSERVED] = (len(given) ** 2 - (row[1:] ** 2).sum()) / (len(given) - 1)
    return rows


def _nominal(sums: NDArray[np.float64]) -> float | None:
    n = sums[1:].sum()
    return _alpha(sums[_OBSERVED], n**2 - (sums[1:] ** 2).sum(), n)


def _interval_rows(answers: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return the observed disagreement of each answer, and number, sum and sum of squares of its verdicts."""
    rows = np.zeros((len(answers), 4))
    for row, given in zip(rows, answers, strict=True):
        values = np.array(given, dtype=np.float64)
        row[_COUNT], row[_SUM], row[_SQUARES] = len(values), values.sum(), (values**2).sum()
        row[_OBSERVED] = 2 * len(values) * ((values - values.mean()) ** 2).sum() / (len(values) - 1)
    return rows


def _interval(sums: NDArray[np.float64]) -> float | None:
    # The squared differences of all ordered pairs are 2 (n Σx² - (Σx)²).
    n = sums[_COUNT]
    expected = 2 * (n * sums[_SQUARES] - sums[_SUM] ** 2)
    return _alpha(sums[_OBSERVED], expected if expected > 1e-9 * n * sums[_SQUARES] else 0.0, n)


def _alpha(observed: float, expected: float, n: float) -> float | None:
    """Return alpha from the disagreement within answers and that of all pairs; None if nothing varies."""
    return float(1 - (n - 1) * observed / expected) if expected else None
