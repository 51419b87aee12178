"""Score one task: from predictions on disk to results on disk, with the verdicts of a judge if there is one."""

from __future__ import annotations

import itertools
import logging
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, DataError, GoldError, MissingGoldError, PartError
from ais_prompt.evaluators import (
    BatchEvaluator,
    Evaluator,
    JudgedBatchEvaluator,
    JudgeEvaluator,
    unread_value,
)
from ais_prompt.metrics import Repeatability, mean_scores, of_whole_set, without_truncated
from ais_prompt.parts import RunsPrograms
from ais_prompt.plan import PlannedDataset, Task, check_cluster, cluster_of
from ais_prompt.scoring.answers import AnyScorer, RepeatScorer, scorer_of, scorer_with
from ais_prompt.scoring.batch_scorer import BatchScorer, batched
from ais_prompt.scoring.rows import percent
from ais_prompt.scoring.scorer import NOT_SCORED, UNUSABLE_GOLD, JudgementOf
from ais_prompt.steps import first_answer, steps
from ais_prompt.store import RunFolder, read_predictions, read_scores, write_results, writing
from ais_prompt.terminal import NOTE, tracked
from ais_prompt.types import STATUSES, ControlSpec, Prediction, Sample, SampleScore, Score, Stratum, TaskSpec
from ais_prompt.utils import Spilled, canonical, counted, listed

logger = logging.getLogger(__name__)

MANY_UNREAD: Final = 0.1
"""Share of unparsed answers above which they are read with other postprocessors too."""
_NAMED = 5
"""Most samples that an error or a warning names."""
_AGAIN = "remove the file and go on with `aisprompt run -r`: answers are in the journal, nothing is asked again"


def score_task(
    task: Task,
    folder: RunFolder,
    asked: int | None = None,
    stopped_of: int | None = None,
    *,
    audits: bool = False,
) -> list[Score]:
    """Score the predictions of a task and write its results.

    A dataset without an evaluator has scores only if an extension knows values of its answers; these also count where
    no sample has a gold, and its evaluators need one.

    Args:
        task: which model answered what.
        folder: where the predictions are, and the verdicts of a judge.
        asked: how many questions were asked, as far as that is known; a warning tells if there are not so many
            predictions.
        stopped_of: how many questions there are, if not all were asked.
        audits: whether to find out if the scores depend on how answers are read, with the step ``audit_answers``.

    Raises:
        AisPromptError: predictions are missing, doubled or broken, or cannot be scored.
    """
    # Not scored here: the log of another tool has the scores, or there is nothing to compare answers with.
    if task.spec.dataset.keeps_scores:
        logger.warning("[%s] keeps the scores of its log: only the tool that made it has its rule", task.name)
        return stored_scores(task.spec, folder)
    if task.spec.dataset.eval.evaluator is None:
        if not (known := score_by_known_values(task, folder)):
            earlier = folder.results(task.spec.model.abbr, task.spec.dataset.abbr)
            with writing(earlier):
                earlier.unlink(missing_ok=True)  # of values that are no longer known
        return known
    if not (scorings := task.scorings):  # its answers are those that other models are compared with
        return []
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    if stopped_of is not None and next(read_predictions(path, with_prompts=False), None) is None:
        return _not_asked(task, folder, scorings, stopped_of)
    found = [_score_by(scoring, folder, asked, stopped_of, audits=audits) for scoring in scorings]
    # No sample was scored, and some for want of a gold alone.
    main = [one.scores[0] for one in found]
    lack_golds = all(one.counts["failed"] == one.n and f"failed: {UNUSABLE_GOLD}" in one.reasons for one in main)
    if lack_golds and (known := score_by_known_values(task, folder)):
        return known
    head = found[0].head
    if isolation := isolation_of(task.dataset):
        head.setdefault("isolation", isolation)
    return _written(task, folder, joined_scores(found), joined_samples(found), head)


def _written(
    task: Task, folder: RunFolder, scores: list[Score], samples: Iterable[SampleScore], head: Mapping[str, Any] = {}
) -> list[Score]:
    """Write results: the scores first, which are all that most readers want. Return the scores."""
    names = {"model": task.spec.model.abbr, "dataset": task.spec.dataset.abbr}
    head = {**names, "scores": [score.to_json() for score in scores], **head}
    write_results(folder.results(*names.values()), head, map(SampleScore.to_json, samples))
    return scores


def _score_by(
    task: Task, folder: RunFolder, asked: int | None, stopped_of: int | None, *, audits: bool
) -> ScoredByEvaluator:
    """Score the predictions of a task with one of its evaluators; the arguments are those of `score_task`."""
    evaluator = task.dataset.evaluator
    assert evaluator is not None  # `Task.scorings` has those that score
    # Read one at a time: a task may have millions of predictions. The first one tells how many answers a question has.
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    predictions = _with_clusters(task.dataset, read_predictions(path, with_prompts=False))
    if (first := next(predictions, None)) is None:
        raise DataError("there is not one prediction in it", where=str(path), fix=_AGAIN)
    scorer = _scorer_with_verdicts(task, folder, evaluator, first)
    # Scored, in the one loop of `_sample_scores`, and kept on disk beyond a few.
    scored = _sample_scores(task.name, scorer, itertools.chain([first], predictions))
    samples = SampleScores(tracked(scored, f"scoring {task.name}", asked, "samples"))
    if doubled := samples.doubled_ids():
        what = f"{counted(len(doubled), 'id')} given more than once: {', '.join(_shortened(doubled))}"
        raise DataError(what, where=str(path), fix=_AGAIN)
    if asked is not None and len(samples) != asked:
        logger.warning("[%s] %d questions were asked, but there are %d predictions", task.name, asked, len(samples))
    # Aggregated.
    repeated = scorer.repeatability(samples) if isinstance(scorer, RepeatScorer) else None
    scores = _aggregated(scorer, samples, repeated, stopped_of, task.dataset)
    head: dict[str, Any] = {"isolation": evaluator.isolation} if isinstance(evaluator, RunsPrograms) else {}
    if isinstance(scorer, RepeatScorer) and repeated:
        head["repeatability"] = scorer.described(repeated, samples)
    one = scorer.answer if isinstance(scorer, RepeatScorer) else scorer
    if isinstance(one, BatchScorer) and one.evaluator.battles:
        head["battles"] = one.evaluator.battles
    if audits or scores[0].counts["unparsed"] > MANY_UNREAD * len(samples):
        level = logging.WARNING if audits else logging.DEBUG  # the end of the run says it otherwise
        for audit in steps("audit_answers"):  # it scores several times, so few runs need it
            head |= audit(task, samples, scores[0], path, scorer_with(task, evaluator, first), level=level)
    if control := task.spec.dataset.reader.control:
        shown, is_answered = _control_finding(control, scores[0], samples)
        if is_answered:
            head["doubt"] = shown
        logger.log(logging.WARNING if is_answered else NOTE, "[%s] %s", task.name, shown)
    return ScoredByEvaluator(task.spec.dataset.eval.name, evaluator, scores, samples, head)


def _scorer_with_verdicts(task: Task, folder: RunFolder, evaluator: Evaluator, first: Prediction) -> AnyScorer:
    """Return the scorer of a task, with the stored verdicts of its judge if it has one."""
    judgement_of: JudgementOf | None = None
    if isinstance(evaluator, BatchEvaluator | JudgeEvaluator):
        from ais_prompt.judges import Verdicts

        verdicts = Verdicts(task, folder)
        judgement_of = verdicts.about
    if not isinstance(evaluator, BatchEvaluator):
        scorer = scorer_of(task, first, judgement_of)
        assert scorer is not None
        return scorer
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    return batched(task, evaluator, first, read_predictions(path), verdicts.of)


def _aggregated(
    scorer: AnyScorer,
    samples: SampleScores,
    repeated: Repeatability | None,
    stopped_of: int | None,
    dataset: PlannedDataset,
) -> list[Score]:
    """Return the scores of all samples; the first one with what its repeats say about its precision.

    Args:
        scorer, samples: of the task.
        repeated: of the repeats.
        stopped_of: as for `score`.
        dataset: of the task; several judges of it have scores of their own, and their agreement is a further score.
    """
    scores = scorer.aggregate(samples)
    judges = [judge.spec.abbr for judge in dataset.judges]
    if len(judges) > 1 and isinstance(dataset.evaluator, JudgeEvaluator):
        from ais_prompt.judges import scores_of_judges

        scores += scores_of_judges(dataset.evaluator, judges, samples)
    scores = [replace(score, reasons=samples.reasons, failed_samples=samples.failed) for score in scores]
    if samples.population is not None:
        scores = [_of_whole_set(score, len(samples), samples.population) for score in scores]
    if len(judges) > 1:
        from ais_prompt.judges import agreement_of_judges

        scores.append(agreement_of_judges(len(judges), samples, scores[0], dataset.evaluator))
    if stopped_of is not None:
        scores = [_stopped(score, stopped_of) for score in scores]
    if scores[0].counts["truncated"] and scores[0].is_mean:
        finished = SampleScores(without_truncated(samples))
        scores[0] = replace(scores[0], finished=scorer.aggregate(finished)[0].value if len(finished) else None)
    if repeated and scores[0].interval and scores[0].questions and samples.population is None:
        scores[0] = replace(scores[0], precision=repeated.precision(scores[0].repeats))
    return scores


def _of_whole_set(score: Score, drawn: int, population: int) -> Score:
    """Return the score of a metric of drawn questions about the whole set; means are about it already."""
    if score.population is not None or score.value is None:
        return score
    interval = of_whole_set(score.interval, score.value, drawn, population)
    stderr = None if score.stderr is None else score.stderr * math.sqrt(1 - drawn / population)
    return replace(score, interval=interval, stderr=stderr, population=population)


def _not_asked(task: Task, folder: RunFolder, scorings: Sequence[Task], questions: int) -> list[Score]:
    """Write the results of a task of which no sample was asked yet: ``0 of N``."""
    found = []
    for one in scorings:
        evaluator = one.dataset.evaluator
        assert evaluator is not None
        score = Score(evaluator.metrics[0], None, None, 0, dict.fromkeys(STATUSES, 0), of=questions)
        found.append(ScoredByEvaluator(one.spec.dataset.eval.name, evaluator, [score]))
    return _written(task, folder, joined_scores(found), ())


def isolation_of(dataset: PlannedDataset) -> str | None:
    """Return how the programs of a dataset's answers are isolated from the machine; None if none are run.

    Raises:
        AisPromptError: the evaluator cannot be made.
    """
    for scoring in dataset.scorings:
        if isinstance(evaluator := scoring.evaluator, RunsPrograms):
            return evaluator.isolation
    return None


def _stopped(score: Score, questions: int) -> Score:
    """Return the score of a task of which not every sample was asked, with the bounds that the rest can lead to.

    It has no interval: which samples were asked depends on the answers (the shortest come first), so the
    usual ones would not hold.
    """
    of = questions * score.repeats
    bounds = None
    if score.bounds is not None and score.is_mean:
        low, high = score.bounds
        bounds = (low * score.n / of, (high * score.n + of - score.n) / of)
    return replace(score, of=of, stderr=None, interval=None, bounds=bounds)


def stored_scores(task: TaskSpec, folder: RunFolder) -> list[Score]:
    """Read the stored scores; none if the task has no evaluator and its answers no known values.

    Raises:
        StoreError: there are no results, or they cannot be read.
    """
    path = folder.results(task.model.abbr, task.dataset.abbr)
    return read_scores(path) if task.is_scored or path.exists() else []


def sample_scores(task: Task, predictions: Sequence[Prediction]) -> list[SampleScore]:
    """Score predictions without writing anything; none if the dataset has no evaluator.

    Raises:
        AisPromptError: they cannot be scored, or not without asking a judge.
    """
    from ais_prompt.judges import NOT_JUDGED

    evaluator = task.dataset.evaluator
    if evaluator is None or not predictions:
        return []
    if isinstance(evaluator, JudgedBatchEvaluator):
        scorer: AnyScorer | None = None
    elif isinstance(evaluator, BatchEvaluator):
        scorer = batched(task, evaluator, predictions[0], predictions, lambda _: [NOT_JUDGED])
    else:
        scorer = scorer_of(task, predictions[0])
    if scorer is None:
        raise ConfigError(
            f"{task.name} is scored by a judge, who is not asked here",
            where=task.spec.dataset.eval.where,
            fix="score it with `aisprompt score RUN`",
        )
    return list(_sample_scores(task.name, scorer, _with_clusters(task.dataset, predictions)))


def _with_clusters(dataset: PlannedDataset, predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    """Yield predictions with the cluster that scoring uses: as stored, or from the data if the column was named later.

    Raises:
        DataError: the data have no such column, or no longer the row of a prediction.
    """
    spec = dataset.spec.eval
    samples: dict[str, Sample] = {}
    for prediction in predictions:
        if (prediction.cluster and prediction.cluster[0]) == spec.cluster:
            yield prediction
        elif spec.cluster is None:
            yield replace(prediction, cluster=None)
        else:
            if not samples:
                check_cluster(spec, dataset.data.test)
                # Predictions of the first version are named after their whole rows.
                samples = {name: sample for sample in dataset.data.test for name in (sample.row_id, sample.id)}
            if (sample := samples.get(prediction.sample_id)) is None:
                raise DataError(
                    f"the data no longer hold sample {prediction.sample_id}, so its cluster is not known",
                    where=f"{spec.where}.cluster",
                    fix="score with the data of the run, or without cluster",
                )
            yield replace(prediction, cluster=cluster_of(sample, spec.cluster))


def _sample_scores(name: str, scorer: AnyScorer, predictions: Iterable[Prediction]) -> Iterator[SampleScore]:
    """Yield the score of each sample. One with an unusable gold, or that a part cannot score, is failed.

    Raises:
        GoldError, PartError: no sample can be scored, and not because their rows have no gold.
    """
    scored = 0
    # The cells are empty, which the check of the data says before, and the end of the run after that.
    empty = _Unscored("golds are missing", logging.INFO)
    golds, parts = _Unscored("golds cannot be used"), _Unscored("samples cannot be scored")
    for prediction in predictions:
        try:
            result = scorer.score(prediction)
            scored += 1
        except GoldError as error:
            (empty if isinstance(error, MissingGoldError) else golds).add(error)
            result = scorer.failed(prediction, f"{UNUSABLE_GOLD}: {error.what}")
        except PartError as error:
            parts.add(error)
            result = scorer.failed(prediction, f"{NOT_SCORED}: {error.what}")
        if prediction.cluster or prediction.stratum:
            cluster = prediction.cluster[1] if prediction.cluster else None
            result = replace(result, cluster=cluster, stratum=prediction.stratum)
        yield result
    for unscored in (parts, golds, empty):
        unscored.tell(name, scored + empty.count, scored + empty.count + golds.count + parts.count)


class _Unscored:
    """Samples that cannot be scored for one reason; the first few are named.

    Args:
        what: the samples, in words.
        level: of the message.

    Attributes:
        count: how many there are.
    """

    def __init__(self, what: str, level: int = logging.WARNING) -> None:
        self.count = 0
        self._what = what
        self._level = level
        self._first: list[AisPromptError] = []

    def add(self, error: AisPromptError) -> None:
        """Add one."""
        self.count += 1
        if self.count <= _NAMED + 1:
            self._first.append(error)

    def tell(self, name: str, scored: int, total: int) -> None:
        """Warn of them.

        Raises:
            AisPromptError: the first of them, if no sample was scored.
        """
        if self._first and not scored:
            raise self._first[0]
        if self._first:
            what = f"[{name}] {self.count} of {total} {self._what}; these samples count as failed"
            logger.log(self._level, "%s:\n  %s", what, "\n  ".join(_shortened([str(fault) for fault in self._first])))


def _shortened(names: list[str]) -> list[str]:
    return names if len(names) <= _NAMED else [*names[:_NAMED], "…"]


class SampleScores(Spilled[SampleScore]):
    """A sequence that also sums up its samples.

    Attributes:
        failed: samples with an answer that failed, whatever it failed for.
    """

    def __init__(self, samples: Iterable[SampleScore]) -> None:
        self.failed = 0
        self._reasons: Counter[str] = Counter()
        self._hashes = array("q")
        self._strata: dict[str, int] = {}
        super().__init__(samples)

    def append(self, sample: SampleScore) -> None:
        """Add a sample at the end.

        Raises:
            StoreError: the disk does not take it.
        """
        super().append(sample)
        self._hashes.append(hash(sample.sample_id))
        if sample.stratum is not None:
            self._strata[sample.stratum.name] = sample.stratum.size
        self.failed += any(answer.status == "failed" for answer in sample.repeats or (sample,))
        for answer in sample.repeats or (sample,):
            if answer.reason:
                self._reasons[f"{answer.status}: {answer.reason.partition(':')[0]}"] += 1

    @property
    def population(self) -> int | None:
        """Number of questions in the set that they were drawn from; None if nothing was drawn."""
        return sum(self._strata.values()) or None

    @property
    def reasons(self) -> Mapping[str, int]:
        """``status: reason`` of all answers that are not scored, the most frequent first.

        Text after a colon in a reason is about one sample, and not counted apart.
        """
        return dict(self._reasons.most_common())

    def doubled_ids(self) -> list[str]:
        """Return ids that several samples share."""
        hashes = np.sort(np.frombuffer(self._hashes, dtype=np.int64))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not suspects:
            return []
        counts = Counter(sample.sample_id for sample in self if hash(sample.sample_id) in suspects)
        return [name for name, count in counts.items() if count > 1]


class ScoredByEvaluator(Struct, frozen=True):
    """What one evaluator of a dataset found about the answers of a model.

    Attributes:
        name: of the evaluator, if there are several; else empty.
        evaluator: it.
        scores: the main one first.
        samples: one for each question, in the order of the predictions.
        head: what the results file says beside scores and details.
    """

    name: str
    evaluator: Evaluator
    scores: Sequence[Score]
    samples: Iterable[SampleScore] = ()
    head: dict[str, Any] = field(default_factory=dict)


def joined_scores(found: Sequence[ScoredByEvaluator]) -> list[Score]:
    """Return the scores of all evaluators, the headline first; of a single evaluator, everything stays as it is.

    The metrics of the headline keep their names. A metric of another evaluator that a second one has too is called
    ``evaluator.metric``. So scores do not depend on the order of the evaluators, but for the headline.
    """
    return [
        replace(score, metric=names.get(score.metric, score.metric), evaluator=one.name)
        for one, names in zip(found, _new_names(found), strict=True)
        for score in one.scores
    ]


def joined_samples(found: Sequence[ScoredByEvaluator]) -> Iterator[SampleScore]:
    """Yield the score of each question: that of the headline, with those of the further evaluators in it."""
    for first, *others in zip(*map(_complete, found, _new_names(found)), strict=True):
        further = {one.name: other for one, other in zip(found[1:], others, strict=True)}
        yield replace(first, further=further) if further else first


def _new_names(found: Sequence[ScoredByEvaluator]) -> list[Mapping[str, str]]:
    """Return metric → its name in the results, for each evaluator; metrics that keep their names are left out."""
    owners = Counter(score.metric for one in found for score in one.scores)
    return [
        {score.metric: f"{one.name}.{score.metric}" for score in one.scores if place and owners[score.metric] > 1}
        for place, one in enumerate(found)
    ]


def _complete(found: ScoredByEvaluator, names: Mapping[str, str]) -> Iterator[SampleScore]:
    """Yield the samples of an evaluator with new names of metrics, and with the values of answers without any.

    These were unread before the evaluator had named its metrics. Files leave such values out and mean 0, which is the
    best where less is better.
    """
    for sample in found.samples:
        if not sample.values and sample.status not in ("scored", "failed"):
            unread = {metric: unread_value(found.evaluator, metric) for metric in found.evaluator.metrics}
            sample = replace(sample, values=unread) if any(unread.values()) else sample
        yield _renamed(sample, names) if names else sample


def _renamed(sample: SampleScore, names: Mapping[str, str]) -> SampleScore:
    values = {names.get(metric, metric): value for metric, value in sample.values.items()}
    return replace(sample, values=values, repeats=tuple(_renamed(one, names) for one in sample.repeats))


def known_values(task: Task, folder: RunFolder) -> tuple[str, Mapping[str, float]] | None:
    """Return the name of a metric, and sample → its value; None if none is known.

    Raises:
        AisPromptError: they cannot be read.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    found: tuple[str, Mapping[str, float]] | None = first_answer("known_values", folder.root, *names)
    return found


def score_by_known_values(task: Task, folder: RunFolder) -> list[Score]:
    """Score a task by the step ``known_values``, such as labels, and write its results; no scores if nothing is known.

    The answers with a value are a random sample of those that did not fail: the others count neither as right nor as
    wrong, and the score says of how many answers it is.

    Raises:
        AisPromptError: predictions or values cannot be read, or the results cannot be written.
    """
    if (known := known_values(task, folder)) is None:
        return []
    metric, values = known
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    answered = sum(not one.failed for one in read_predictions(path, with_prompts=False))
    found = [
        one
        for one in _with_clusters(task.dataset, read_predictions(path, with_prompts=False))
        if one.sample_id in values and not one.failed
    ]
    if not found:
        return []
    drawn = Stratum("", answered) if len(found) < answered else None
    samples = [
        SampleScore(
            one.sample_id,
            "scored",
            one.prediction,
            one.gold,
            {metric: values[one.sample_id]},
            cluster=one.cluster[1] if one.cluster else None,
            stratum=one.stratum or drawn,
        )
        for one in found
    ]
    scores = [replace(score, failed_samples=0) for score in mean_scores((metric,), samples)]
    _written(task, folder, scores, samples)
    what = "[%s] %d of %d answers have a %s; the score is about these, and the others count neither as right nor wrong"
    logger.log(NOTE, what, task.name, len(samples), answered, metric)
    return scores


def _control_finding(control: ControlSpec, score: Score, samples: Iterable[SampleScore]) -> tuple[str, bool]:
    """Return what a control shows, and whether the data can be answered without what was spoiled.

    Chance is the share of the most frequent gold: what an answer gets that is always the same.

    Args:
        control: how the questions were spoiled.
        score: the main score.
        samples: all of them.
    """
    from ais_prompt.metrics import low_end  # few questions are spoiled

    how = f"control {control.type} ({listed(control.columns)})"
    if control.type == "shuffle":
        return (
            f"{how}: the options have another order; `aisprompt compare` with the ordinary run shows what it does",
            False,
        )
    answered = [sample for sample in samples if sample.status != "failed"]
    if not answered or not score.is_mean or score.value is None:
        return f"{how}: {score.metric} is no mean, so that chance is not known", False
    chance = Counter(canonical(sample.gold) for sample in answered).most_common(1)[0][1] / len(answered)
    low = low_end([(one.cluster or one.sample_id, one.values.get(score.metric, 0.0)) for one in answered], 0.95)
    found = f"{how}: {score.metric} {percent(score.value)}; the most frequent gold alone gets {percent(chance)}"
    if low is None or low <= chance:
        return f"{found}: no answer without reading is shown", False
    return f"{found}: with 95 % confidence {percent(low - chance)} or more are answered without reading", True
