"""The verdicts of judges: find them, score answers with them, and compare several judges.

`Verdicts` finds the replies of judges to an answer in their predictions, by the id of the question. `JudgedScorer`
makes scores of them. Of several judges, the dataset also gets the score that each gives alone, and their agreement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PartError
from ais_prompt.evaluators import JudgeEvaluator, PanelEvaluator, best_of, decide, less_is_better, worst_of
from ais_prompt.metrics import ALPHA, Estimate, agreement, estimated_means, exact_mean
from ais_prompt.plan import Task, build_postprocessor
from ais_prompt.scoring.scorer import Scorer, failure_kind, place_of, scoring
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Completion, Failure, JudgeSpec, JudgeVerdict, Prediction, SampleScore, Score
from ais_prompt.utils import defined_at, digest

ORDERS: Final = (False, True)
"""Whether the reference answer comes first, for each question about a pair of answers."""

NOT_JUDGED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))
"""What takes the place of a verdict that is not there."""


NOT_COMPARED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("no_baseline_answer", "")),))
"""What takes the place of a verdict about an answer with which nothing can be compared."""


class Replies(Struct, frozen=True):
    """What one judge said about an answer.

    Attributes:
        judge: its ``abbr``.
        said: one reply, or one for each of `ORDERS`.
    """

    judge: str
    said: Sequence[Prediction]


JudgementOf: TypeAlias = Callable[[SampleScore, Prediction], Sequence[Replies]]
"""What judges said about an answer that was read; the sample's ``extracted`` and ``gold`` are what they are shown, and
the prompt of a turn of a dialogue."""


class Question(Struct, frozen=True):
    """A question to a judge.

    Attributes:
        id: its name among those about the answers of a task.
        sample_id: the sample whose answer it is about.
        fields: columns of the judge's prompt, next to those of the row; they hide a row's own of these names.
        gold: of the sample.
    """

    id: str
    sample_id: str
    fields: Mapping[str, Any]
    gold: Any = None


class Verdicts:
    """Find what judges said about an answer. The files are read when the first verdict is needed.

    Args:
        task: whose answers are judged.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        self._task = task
        self._folder = folder
        self._said: dict[str, dict[str, Prediction]] | None = None

    def about(self, sample: SampleScore, prediction: Prediction) -> list[Replies]:
        """Return what each judge said about an answer that was read; failures where nothing was said.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        missing = NOT_JUDGED if self._judge.reference_answers is None else NOT_COMPARED
        compares = self._judge.reference_answers is not None
        questions = questions_about(sample, prediction.earlier, compares=compares)
        return [
            Replies(judge, [said.get(question, missing) for question in questions])
            for judge, said in self._all().items()
        ]

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

    def _all(self) -> dict[str, dict[str, Prediction]]:
        """Return ``abbr`` of each judge → id of a question → what it said."""
        if self._said is None:
            folder = self._folder.judge(self._task.spec.model.abbr)
            self._said = {}
            for model in self._judge.models:
                path = folder.predictions(model.abbr, self._task.spec.dataset.abbr)
                text_of = build_postprocessor(model.pred_postprocessor)
                self._said[model.abbr] = {
                    said.sample_id: said if said.failed else replace(said, prediction=text_of(said.prediction))
                    for said in read_predictions(path, with_prompts=False)
                }
        return self._said


def questions_about(sample: SampleScore, earlier: Sequence[Any] = (), *, compares: bool) -> list[str]:
    """Return the ids of the questions to a judge about an answer: one for each of `ORDERS` if two are compared."""
    return [question_id(sample, earlier, swapped=swapped) for swapped in (ORDERS if compares else ORDERS[:1])]


def question_id(sample: SampleScore, earlier: Sequence[Any] = (), *, swapped: bool = False) -> str:
    """Return the id of a judge's question, from the sample's id, its answer and its gold.

    Args:
        sample: whose answer it is about.
        earlier: the answers of earlier turns of a dialogue, which the judge may be shown.
        swapped: whether the reference answer comes first.
    """
    shown = [sample.extracted, sample.gold, *([list(earlier)] if earlier else []), *(["swapped"] if swapped else [])]
    return f"{sample.sample_id}-{digest(shown)}"


class JudgedScorer(Struct, frozen=True):
    """Score an answer by a rule where that is conclusive, and by the verdict of a judge otherwise.

    A sample without a verdict failed, which is not the model's fault; its reason begins with "judge".

    Attributes:
        reader: finds answer and gold, and the status of a sample; it does not compare.
        evaluator: makes values of verdicts.
        judgement_of: what the judges said; nothing before they are asked.
    """

    reader: Scorer
    evaluator: JudgeEvaluator
    judgement_of: JudgementOf

    @classmethod
    def of(cls, scorer: Scorer, evaluator: JudgeEvaluator, judgement_of: JudgementOf) -> JudgedScorer:
        """Return the scorer of a dataset in which a judge replaces the comparison."""
        return cls(replace(scorer, evaluator=_NoComparison(evaluator.metrics)), evaluator, judgement_of)

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one sample.

        Raises:
            GoldError, PartError: as `Scorer.score`.
        """
        sample = self.reader.score(prediction)
        if not sample.is_read:
            return sample
        with scoring(place_of(prediction)):
            known = self.evaluator.without_judge(sample.extracted, sample.gold)
            return self._judged(sample, prediction) if known is None else replace(sample, values=self._complete(known))

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a sample that does not count in the value."""
        return self.reader.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)

    def _complete(self, values: Mapping[str, float]) -> dict[str, float]:
        for metric in self.evaluator.metrics:
            if metric not in values:
                where = defined_at(self.evaluator, "without_judge")
                what = f"{type(self.evaluator).__name__} gives no {metric!r}"
                raise PartError(what, where=where, fix="return a value for each of its metrics")
        return dict(values)

    def _judged(self, sample: SampleScore, prediction: Prediction) -> SampleScore:
        replies = self.judgement_of(sample, prediction)
        if not replies:
            return _unjudged(sample, "judge not_judged")
        orders = [tuple(map(self._verdict, one.said)) for one in replies]
        panel = [self._vote(one.judge, verdicts) for one, verdicts in zip(replies, orders, strict=True)]
        if len(panel) > 1 or panel[0].orders:
            sample = replace(sample, verdicts=tuple(panel))
        values = decide(self.evaluator, panel, sample.gold)
        if values is not None:
            return replace(sample, values=self._complete(values))
        said = (reply for one in replies for reply in one.said)
        silent = [reply for reply, verdict in zip(said, chain(*orders), strict=True) if verdict is None]
        return _unjudged(sample, _why_silent(silent[0]) if silent else "judges undecided")

    def _verdict(self, reply: Prediction) -> str | None:
        return None if reply.failed else self.evaluator.verdict(reply.prediction)

    def _vote(self, judge: str, verdicts: tuple[str | None, ...]) -> JudgeVerdict:
        """Return what one judge said, from its verdict or its verdicts in both orders."""
        if not isinstance(self.evaluator, PanelEvaluator):
            return JudgeVerdict(judge, verdicts[0])
        return JudgeVerdict(judge, self.evaluator.vote(verdicts), verdicts if self.evaluator.compares else ())


def _why_silent(reply: Prediction) -> str:
    """Return why a reply has no verdict."""
    if reply.failed:
        return f"judge {failure_kind(reply)}"
    return "judge cut at max_out_len" if reply.truncated else "judge without verdict"


def _unjudged(sample: SampleScore, reason: str) -> SampleScore:
    return replace(sample, status="failed", values={}, reason=reason)


class _NoComparison(Struct):
    """Stand-in for an evaluator where the judge compares."""

    metrics: tuple[str, ...]

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        return {}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        return []


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
    return [replace(score, lower_is_better=less) for score in scores]


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
    changes = [one[metric] - all_of[metric] for one, all_of in zip(alone, together, strict=True) if one and all_of]
    # Turns that no judge was asked about keep their values.
    return answer.values.get(metric, 0.0) + math.fsum(changes) / turns


def agreement_of_judges(judges: int, samples: Iterable[SampleScore], main: Score) -> Score:
    """Return Krippendorff's alpha of the votes: of numbers as interval data, of tags as categories.

    Args:
        judges: how many there are.
        samples: the scores of all samples, with the votes on each answer and each turn.
        main: the main score, whose counts this one has.
    """
    votes: list[list[str | float | None]] = []
    clusters: list[str] = []
    for sample in samples:
        for answer in sample.repeats or (sample,):
            for start in range(0, len(answer.verdicts), judges):
                votes.append([one.vote for one in answer.verdicts[start : start + judges]])
                clusters.append(sample.sample_id if sample.cluster is None else sample.cluster)
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
