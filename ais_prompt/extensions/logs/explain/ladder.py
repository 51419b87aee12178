"""Explain why two scores of one dataset differ, whatever tools made them.

The difference is divided step by step, from the samples that were asked to the way scores are averaged. Steps after the
raw answer are computed: the answers of each side are scored by the rules of the other. Steps before it are a label for
each pair of answers, since only asking again could separate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.comparison import (
    CHANCE,
    DATA,
    EXTRACTION,
    FAILURES,
    JUDGE,
    METRIC,
    OTHER_SAMPLES,
    RULE,
    TRUNCATION,
    Division,
    Pairing,
    ScoredTask,
    Share,
    StoredRun,
    decoding,
    differing_decoding,
    differing_requests,
    has_bodies,
    has_rule,
    has_scores,
    have_one_metric,
    pair_tasks,
    paired,
    shares_left_out,
    why_undivided,
    with_equal_trust,
)
from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.metrics import exact_mean
from ais_prompt.plan import Task
from ais_prompt.scoring import sample_scores
from ais_prompt.store import read_json
from ais_prompt.types import ELSEWHERE, PartSpec, Prediction
from ais_prompt.utils import listed

Certainty: TypeAlias = Literal["certain", "inferred", "cannot be known"]
AGGREGATION: Final = "aggregation"
ROUNDED: Final = 5e-4
"""A reported score may be rounded by so much."""
_ORDER: Final = (OTHER_SAMPLES, DATA, FAILURES)
BOTH: Final = f"{EXTRACTION} and {METRIC}"
"""One step where a metric looks for the gold inside the answer, so that it extracts too."""
_LAST: Final = (EXTRACTION, METRIC, BOTH, AGGREGATION)
_COMPUTED: Final = {*_ORDER, *_LAST}


class Step(Struct, frozen=True):
    """A part of the difference.

    Attributes:
        cause: its name; several are joined if they differ for the same answers, since only one effect is seen.
        difference: the part, as a fraction of 1 or in the unit of the metric.
        certainty: ``certain`` if it was computed or the logs show it, ``inferred`` if something else could be the
            cause too, ``cannot be known`` if the logs do not hold what would tell.
        why: what was seen, in a few words.
        samples: number of samples it comes from.
        interval: where the true part lies, with 95 % confidence; None if that cannot be known.
        pairs: the ids of these samples in the second log.
    """

    cause: str
    difference: float
    certainty: Certainty
    why: str
    samples: int
    interval: tuple[float, float] | None = None
    pairs: tuple[str, ...] = ()


class ScoreSide(Struct, frozen=True):
    """One of the two scores.

    Attributes:
        name: the log or run.
        tool: that made it.
        model, dataset, metric: their names there.
        score: as reported; the mean over the samples if nothing is reported.
        samples, answered: number of samples, and of those with a score.
        rule: how answers are read and compared; None if the rule is not known here.
        decoding: known fields that control generation.
    """

    name: str
    tool: str
    model: str
    dataset: str
    metric: str
    score: float
    samples: int
    answered: int
    rule: str | None
    decoding: Mapping[str, Any]


class AskedAgain(Struct, frozen=True):
    """What asking again has shown.

    Attributes:
        pairs: number of pairs that were asked and have all of their answers.
        of: number of pairs that could be asked.
        requests: number of requests.
        twice: answers that were asked twice in the same way.
        equal: of these, the ones that were equal both times.
        as_logged: of these, the ones that are those of the log.
        folder: the run folder.
    """

    pairs: int
    of: int
    requests: int
    twice: int
    equal: int
    as_logged: int
    folder: str


class Ladder(Struct, frozen=True):
    """Why two scores differ.

    Attributes:
        before, after: the scores.
        tasks: what was compared; samples of the first have the ids of the second.
        common: number of samples that both sides have answered.
        fraction: whether they are fractions of 1.
        pairing: which sample is which.
        steps: the parts of the difference, in the order in which a score is made; they add up to it. Empty if too few
            samples are paired.
        crossed: the scores of the answers of each side by the golds and rules of each side: answers of the first by
            both, then of the second; None where the rule is not known here.
        unknown: what the logs do not hold.
        requests: fields of the requests that are known to differ → their values; None was not sent.
        answers: sample id → the two predictions, of the samples of the steps.
        extracted: sample id → the two extracted answers.
        values: sample id → the two values.
        asked: what asking again has shown; None if nothing was asked.
    """

    before: ScoreSide
    after: ScoreSide
    tasks: tuple[ScoredTask, ScoredTask]
    common: int
    fraction: bool
    pairing: Pairing
    steps: tuple[Step, ...]
    crossed: tuple[tuple[float | None, float | None], tuple[float | None, float | None]]
    unknown: tuple[str, ...]
    requests: Mapping[str, tuple[Any, Any]]
    answers: Mapping[str, tuple[Prediction, Prediction]]
    extracted: Mapping[str, tuple[Any, Any]]
    values: Mapping[str, tuple[float, float]]
    asked: AskedAgain | None = None

    @property
    def difference(self) -> float:
        """``after`` less ``before``."""
        return self.after.score - self.before.score

    @property
    def titles(self) -> tuple[str, str]:
        """Short names of the two sides, as short as they differ."""
        sides = self.before, self.after
        for name in ("tool", "model", "dataset"):
            first, second = (str(getattr(side, name)) for side in sides)
            if first != second:
                return first, second
        return self.before.name, self.after.name

    def has_other_score(self, name: str) -> bool:
        """Return whether the scores of a pair differ, of one in ``values``."""
        before, after = self.values[name]
        return before != after


def explain_runs(
    before: StoredRun, after: StoredRun, dataset: str | None = None, names: tuple[str, str] | None = None
) -> tuple[Sequence[Ladder], Sequence[str]]:
    """Return the explanation of each dataset that both have, and notes on what cannot be explained.

    Args:
        before, after: the runs.
        dataset: only this dataset of either.
        names: of the runs for the reader; None: those of their folders, which for a log is a temporary one.
    """
    before, after = with_equal_trust(before, after)
    pairs = [
        (old, new) for old, new in pair_tasks(before, after) if dataset is None or dataset in (old.dataset, new.dataset)
    ]
    names = names or (before.name, after.name)
    found, notes = [], []
    for old, new in pairs:
        scored = [task for task in (old, new) if task.is_scored and has_scores(task)]
        if len(scored) < 2:
            notes.append(_unscored(old, new, scored))
            continue
        try:
            found.append(explain(old, new, names))
        except AisPromptError as error:
            notes.append(f"{new.name} cannot be explained: {error}")
    if not pairs:
        datasets = " and ".join(listed(task.name for task in run.tasks) for run in (before, after))
        notes.append(f"there is no dataset in common: {datasets}")
    return found, notes


def _unscored(old: ScoredTask, new: ScoredTask, scored: Sequence[ScoredTask]) -> str:
    """Return what can be said of two tasks if one has no scores: equal answers, and their score by the other's rule."""
    pairing = paired(old.predictions, new.predictions, same_dataset=old.dataset == new.dataset)
    pairs = [(old.predictions[one], new.predictions[other]) for one, other in pairing.names.items()]
    equal = sum(one.prediction == other.prediction for one, other in pairs)
    what = (
        f"{new.name} cannot be explained, since there are no scores: {equal} of {len(pairs)} pairs have equal answers"
    )
    if not scored or not pairs or not has_rule(scored[0]):
        return what
    [ruled] = scored
    answers = [
        replace(one if ruled is new else other, gold=(other if ruled is new else one).gold) for one, other in pairs
    ]
    found = [score for score in sample_scores(Task.of(ruled.spec), answers) if score.status != "failed"]
    values = [next(iter(score.values.values()), 0.0) for score in found]
    if not values:
        return what
    return f"{what}; by the rule of the other log the unscored answers score {100 * exact_mean(values):.1f} %"


def explain(before: ScoredTask, after: ScoredTask, names: tuple[str, str]) -> Ladder:
    """Explain the difference of the scores of two tasks.

    Args:
        before, after: the tasks.
        names: of the two logs or runs.

    Raises:
        DataError: no sample with a score is paired, or one metric is a fraction and the other is none.
        StoreError: predictions or results are missing or broken.
    """
    fraction = after.metric.fraction
    if not have_one_metric(before, after):
        what = f"{before.metric.metric} and {after.metric.metric} are different metrics"
        raise DataError(what, where=after.name, fix="score one of them again: aisprompt score RUN --config CONFIG")
    pairing = paired(before.predictions, after.predictions, same_dataset=before.dataset == after.dataset)
    first = replace(before, names=pairing.names_of(before.predictions))
    ids = [name for name in first.values if name in after.values]
    if not ids:
        what = f"no sample with a score is in both: {pairing.before} and {pairing.after} samples"
        raise DataError(
            what, where=after.name, fix="are they logs of the same dataset? Samples are paired by questions"
        )
    sides = _side(before, names[0]), _side(after, names[1])
    division = Division(first, after, ids)
    unknown = tuple(_unknown(first, after, ids))
    steps: tuple[Step, ...] = ()
    if not why_undivided(pairing.share):
        steps = in_order(_steps(division, first, after, unknown, sides))
    shown = dict.fromkeys(name for step in steps for name in step.pairs)
    return Ladder(
        before=sides[0],
        after=sides[1],
        tasks=(replace(first), replace(after)),  # copies hold no predictions, so a log of many datasets fits in memory
        common=len(ids),
        fraction=fraction,
        pairing=pairing,
        steps=steps,
        crossed=(
            (_crossed(division, 0, 0), _crossed(division, 0, 1)),
            (_crossed(division, 1, 0), _crossed(division, 1, 1)),
        ),
        unknown=unknown,
        requests=differing_requests(before, after),
        answers={name: (first.predictions[name], after.predictions[name]) for name in shown},
        extracted={name: (first.extracted.get(name), after.extracted.get(name)) for name in shown},
        values={name: (first.values[name], after.values[name]) for name in shown},
    )


def in_order(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps in the order in which a score is made."""
    return tuple(sorted(steps, key=_place))


def is_before_answer(step: Step) -> bool:
    """Return whether a step is a label of answers that differ, which asking again may separate."""
    return step.certainty != "certain" and step.cause not in _COMPUTED


def _crossed(division: Division, answers: int, rule: int) -> float | None:
    return division.crossed(answers_of_after=bool(answers), rule_of_after=bool(rule))


def _side(task: ScoredTask, name: str) -> ScoreSide:
    source = task.spec.dataset.source
    reported = read_json(task.folder.results(task.model, task.dataset)).get("reported") or {}
    stored = reported.get(task.metric.metric)
    mean = task.metric.value or 0.0
    scoring = task.spec.dataset.eval
    parts = [one for one in (scoring.pred_postprocessor, scoring.evaluator) if one is not None]
    return ScoreSide(
        name=name,
        tool=source.type.removeprefix(ELSEWHERE) if task.is_log else "ais_prompt",
        model=task.model,
        dataset=task.dataset,
        metric=task.metric.metric,
        score=float(stored) if isinstance(stored, int | float) and abs(stored - mean) > ROUNDED else mean,
        samples=task.size,
        answered=len(task.values),
        rule=", then ".join(map(_part, parts)) if has_rule(task) else None,
        decoding=decoding(task),
    )


def _reads_answers(task: ScoredTask) -> bool:
    """Return whether the rule of a log looks for the gold inside the whole answer, without extracting it first."""
    evaluator = task.spec.dataset.eval.evaluator
    return evaluator is not None and evaluator.args.get("match") in ("begin", "end", "any")


def _part(part: PartSpec) -> str:
    options = ", ".join(f"{name}={value!r}" for name, value in part.args.items())
    return f"{part.type}({options})" if options else part.type


def _steps(
    division: Division, before: ScoredTask, after: ScoredTask, unknown: Sequence[str], sides: Sequence[ScoreSide]
) -> Iterator[Step]:
    shares = division.shares()
    joined = [share for share in shares if share.cause in (EXTRACTION, METRIC)]
    if len(joined) == 2 and (_reads_answers(before) or _reads_answers(after)):
        pairs = tuple(dict.fromkeys(name for share in joined for name in division.samples_of(share.cause)))
        difference = sum(share.difference for share in joined)
        yield Step(BOTH, difference, "certain", _WHY[BOTH], len(pairs), None, pairs)
        shares = [share for share in shares if share not in joined]
    for share in (*shares, *shares_left_out(before, after)):
        pairs = () if share.cause in (OTHER_SAMPLES, FAILURES) else tuple(division.samples_of(share.cause))
        if share.difference or pairs:
            yield _step(share, pairs, before, after, unknown)
    gaps = [
        side.score - exact_mean(list(task.values.values())) for side, task in zip(sides, (before, after), strict=True)
    ]
    if before.corpus is None and after.corpus is None and max(map(abs, gaps)) > ROUNDED:
        why = "the tool reports another number than the mean over its samples"
        yield Step(AGGREGATION, gaps[1] - gaps[0], "certain", why, 0)


def _step(share: Share, pairs: tuple[str, ...], before: ScoredTask, after: ScoredTask, unknown: Sequence[str]) -> Step:
    cause, why = share.cause, _WHY.get(share.cause, "")
    certainty: Certainty = "certain"
    parts = cause.split(" and ")
    interval = share.interval
    if cause in _COMPUTED:
        interval = None  # nothing of it is chance
    elif cause == TRUNCATION:
        certainty = "inferred" if "why answers end" in unknown else "certain"
    elif RULE in parts or JUDGE in parts:
        certainty = "certain" if len(parts) == 1 else "cannot be known"
    elif cause == CHANCE:
        hidden = [one for one in unknown if one != "why answers end"]
        certainty = "cannot be known" if hidden else "inferred"
        cause = f"{' or '.join(hidden)} or chance" if hidden else CHANCE
    else:
        certainty = "inferred"
        cause = " or ".join([*parts, *(one for one in unknown if one != "why answers end"), CHANCE])
        why = "; ".join(_seen(parts, before, after))
    return Step(cause, share.difference, certainty, why, len(pairs) or share.samples, interval, pairs)


_WHY: Final = {
    OTHER_SAMPLES: "one side has samples that the other lacks",
    FAILURES: "one side has no answer to some samples of both",
    DATA: "the golds differ",
    EXTRACTION: "each side's answers read by the rule of the other",
    METRIC: "each side's answers compared by the rule of the other",
    BOTH: "each side's answers scored by the rule of the other",
    TRUNCATION: "an answer was cut at the limit on the length",
    RULE: "the same answers have other scores, by a rule that is not here",
    JUDGE: "the same answers have other scores",
    CHANCE: "nothing that the logs hold differs, but the answers do",
}


def _seen(parts: Sequence[str], before: ScoredTask, after: ScoredTask) -> Iterator[str]:
    """Yield what differs, for each of the parts."""
    if "model" in parts:
        yield f"{before.model} → {after.model}"
    if "prompt" in parts:
        yield "the prompts differ"
    if "decoding" in parts:
        differ = differing_decoding(before, after)
        yield ", ".join(f"{name} {old!r} → {new!r}" for name, (old, new) in differ.items()) or "the decoding differs"


def _unknown(before: ScoredTask, after: ScoredTask, ids: Sequence[str]) -> Iterator[str]:
    """Yield what one of the logs does not hold."""
    sides = (before, after)
    if any(task.is_log and not any(task.predictions[name].origin_prompt for name in ids) for task in sides):
        yield "prompt"
    if any(task.is_log and not decoding(task) and not has_bodies(task) for task in sides):
        yield "decoding"
    reasons = {one.finish_reason for task in sides for name in ids for one in task.predictions[name].completions}
    if "unknown" in reasons:
        yield "why answers end"


def _place(step: Step) -> int:
    """Return the place of a step in the order in which a score is made."""
    if step.cause in _ORDER:
        return _ORDER.index(step.cause)
    if step.cause in _LAST:
        return 20 + _LAST.index(step.cause)
    return 10 if step.cause == TRUNCATION else 5
