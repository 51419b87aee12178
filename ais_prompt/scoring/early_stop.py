"""Stop a task when all of its gates are decided.

A gate is decided when it would hold, or fail, whatever the rest of the samples answers. Nothing is guessed: a run that
stops early passes exactly the gates that it would have passed in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ais_prompt.errors import AisPromptError, ConfigError, GoldError, PartError
from ais_prompt.metrics import AnswerCounts, exact
from ais_prompt.plan import Task
from ais_prompt.scoring.score import AnyScorer, scorer_of
from ais_prompt.types import AVERAGES, Gate, Prediction, SampleScore, SummaryGroup


class Seen(Struct, frozen=True):
    """The score of a sample, as a watch takes it.

    Attributes:
        score: of the sample.
        usable: whether it could be compared; else its gold cannot be used, or a part raised.
        means: the metrics of the task that are means over the samples, and the value of an unread answer in each; none
            before its evaluator names them.
    """

    score: SampleScore
    usable: bool
    means: Mapping[str, float]


class SampleWise:
    """Scores the samples of a task one by one, as they come."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._scorer: AnyScorer | None = None
        self._means: Mapping[str, float] = {}

    def score(self, prediction: Prediction) -> Seen:
        """Score a sample.

        Raises:
            AisPromptError: samples cannot be scored one by one.
        """
        if self._scorer is None:
            self._scorer = scorer_of(self._task, prediction)
            if self._scorer is None:
                raise ConfigError(
                    "there is no evaluator, or it needs a judge",
                    where=self._task.spec.dataset.eval.where,
                    fix="ask all samples, or set an evaluator that scores them one by one",
                )
        try:
            score, usable = self._scorer.score(prediction), True
        except (GoldError, PartError) as error:
            score, usable = self._scorer.failed(prediction, error.what), False
        evaluator = self._task.dataset.evaluator
        if not self._means and evaluator and evaluator.metrics:  # one of the user's own may name them when it compares
            means = [one for one in self._scorer.aggregate(()) if one.is_mean]
            self._means = {one.metric: float(bool(one.lower_is_better)) for one in means}
        return Seen(score, usable, self._means)


class GateWatch:
    """Watch the predictions of a task, and say when all of its gates are decided.

    These are never decided early, so every sample is asked: a gate on a metric that is not a mean of values from 0 to
    1 (BLEU), a gate on a group that the dataset belongs to, any gate if a judge scores the answers,
    a claim (``@95%``), any gate if questions are drawn from strata, which may weigh differently.

    Args:
        gates: all gates of the run; without any that concerns the task it asks every sample.
        groups: of datasets, whose averages gates may concern too.
        task: whose predictions they are.
        total: how many samples there are.

    Attributes:
        task: whose predictions they are.
        possible: whether its gates can still be decided early.
        decided: whether they are.
    """

    def __init__(self, gates: Sequence[Gate], groups: Sequence[SummaryGroup], task: Task, total: int) -> None:
        self.decided = False
        self._gates = [gate for gate in gates if gate.concerns(task.spec.model.abbr, task.spec.dataset.abbr)]
        draw = task.spec.dataset.reader.sample
        is_weighted = draw is not None and draw.by is not None
        self.possible = bool(self._gates) and not is_weighted and not _concern_groups(gates, groups, task)
        self.task = task
        self._left = total
        self._total = total
        self._samples = SampleWise(task)
        self._usable = False  # whether any gold can be used; without one there is no score at all
        self._answers = AnswerCounts()
        self._failed = self._unread = 0  # samples without a value before the metrics were known
        self._means: dict[str, _Mean] = {}

    def see(self, prediction: Prediction) -> None:
        """Score a prediction, and update whether the gates are decided."""
        if not self.possible or self.decided:
            return
        try:
            self.take(self._samples.score(prediction))
        except AisPromptError:
            # It comes again when all answers are scored; asking goes on, for they are worth keeping.
            self.give_up()

    def take(self, seen: Seen) -> None:
        """Update whether the gates are decided, with the score of one more prediction."""
        self._left -= 1
        self._usable |= seen.usable
        if not self._means:
            self._means = {metric: _Mean(value, self._unread, self._failed) for metric, value in seen.means.items()}
        self._failed += seen.score.status == "failed"
        self._unread += seen.score.status != "failed"
        self._add(seen.score)
        self.decided = self._usable and all(map(self._is_decided, self._gates))

    def give_up(self) -> None:
        """Ask every sample."""
        self.possible = False

    def _add(self, score: SampleScore) -> None:
        self._answers.add(score)
        for metric, mean in self._means.items():
            if score.status == "failed" or (score.values and metric not in score.values):
                mean.without += 1
            else:
                mean.add(score.values.get(metric, mean.unread))

    def _is_decided(self, gate: Gate) -> bool:
        if gate.needs_samples:
            return False
        if gate.counts_answers:
            repeats = self._answers.repeats
            count, answers = self._answers.statuses[gate.name], repeats * self._total  # type: ignore[index]
            return gate.holds_count(count, answers) == gate.holds_count(count + repeats * self._left, answers)
        mean = self._means.get(gate.name)
        if mean is None or not mean.known or mean.beyond:
            return False
        most = self._total - mean.without
        ends = (mean.sum / most, (mean.sum + self._left) / most)
        return gate.holds_score(ends[0], fraction=True) == gate.holds_score(ends[1], fraction=True)


class _Mean:
    """What is known about the mean of a metric.

    Attributes:
        sum: of the values.
        known, without: samples with a value, and without one, which have no part in the mean.
        unread: the value of an unread answer.
        beyond: whether a value was not from 0 to 1.
    """

    def __init__(self, unread: float, known: int, without: int) -> None:
        self.unread = unread
        self.sum = known * exact(unread)
        self.known = known
        self.without = without
        self.beyond = False

    def add(self, value: float) -> None:
        self.known += 1
        if 0 <= value <= 1:
            self.sum += exact(value)
        else:  # or no number at all
            self.beyond = True


def _concern_groups(gates: Sequence[Gate], groups: Sequence[SummaryGroup], task: Task) -> bool:
    """Return whether a gate concerns the average, or the counts, of a group of the task."""
    members = {task.spec.dataset.abbr}
    for group in groups:  # each after the groups that it is made of
        if members & {entry.name for entry in group.subsets}:
            members.add(group.name)
    averages = {*AVERAGES, *(metric for group in groups for metric in group.metrics)}
    return any(
        gate.concerns(task.spec.model.abbr, name) and (gate.counts_answers or gate.name in averages)
        for name in members - {task.spec.dataset.abbr}
        for gate in gates
    )
