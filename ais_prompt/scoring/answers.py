"""Choose what scores the samples of a task, and score those with several answers: repeats, or the turns of a dialogue.

Scorer           one answer (`ais_prompt.scoring.scorer`)
JudgedScorer     one answer, with what a judge said of it
BatchScorer      one answer, after all answers were scored together (`ais_prompt.scoring.batch_scorer`)
RepeatScorer     several answers to one question, each by one of these
DialogueScorer   the turns of a dialogue, each by one of the first two

Of several answers each is scored like a sample. Then all of them together make the score of the question.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.checks import check_k
from ais_prompt.errors import DataError, GoldError
from ais_prompt.evaluators import (
    BatchEvaluator,
    ComparesAnswers,
    Evaluator,
    JudgeEvaluator,
    RepeatEvaluator,
    best_of,
    less_is_better,
    unread_value,
    worst_of,
)
from ais_prompt.metrics import (
    Estimate,
    Repeatability,
    avg_at_n,
    cons_at_k,
    cons_bounds,
    estimate_of_k,
    estimated_means,
    mean_scores,
    noise_of_k,
    pass_at_k,
    pass_hat_k,
    repeatability,
    round_widths_below,
    vote_classes,
)
from ais_prompt.plan import PlannedDataset, Task, build_postprocessor
from ais_prompt.scoring.scorer import (
    SAME,
    AnswerScorer,
    JudgedScorer,
    JudgementOf,
    Scorer,
    composed,
    failure_kind,
    place_of,
)
from ais_prompt.types import PartSpec, Prediction, SampleScore, Score, Status
from ais_prompt.utils import shortened

MOST_NAMED: Final = 1000
"""Unstable questions that results name."""
TARGETS: Final = 3
"""Half widths for which results have the number of answers that they need."""
SAME_TEXT: Final = "same_text"
SAME_ANSWER: Final = "same_answer"
SAME_VERDICT: Final = "same_verdict"
WORST_FIRST: Final[tuple[Status, ...]] = ("truncated", "unparsed", "scored")


class RepeatScorer(Struct, frozen=True):
    """Score repeated questions: the mean of each metric over the answers (avg@n), and pass@k and votes of the main one.

    ``pass@k`` is how likely one of ``k`` answers is right, ``pass^k`` how likely all of them are, and ``cons@n`` the
    value of the answer that most of the ``n`` agree on (`ais_prompt.metrics.repeated`). They need a metric with right
    and wrong, whose best value is 1. An answer that failed has no part in a value; an answer that could not be read is
    wrong, and has no vote. ``same_text``, ``same_answer`` and ``same_verdict`` are the shares of questions whose
    answers all agree.

    Attributes:
        answer: what scores one answer.
        n: answers to each question.
        k: the numbers of ``pass@k``; see `check_k`.
        further: gives further scores, which take the place of those with the same names.
    """

    answer: AnswerScorer
    n: int
    k: tuple[int, ...] = ()
    further: RepeatEvaluator | None = None

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one question; ``extracted`` has one entry for each answer.

        Raises:
            GoldError: the gold cannot be used; ``where`` names the sample.
            DataError: there are not ``n`` answers.
            PartError: a postprocessor or evaluator failed.
        """
        answers = tuple(self.answer.score(one) for one in single_answers(prediction, self.n))
        known = [answer for answer in answers if answer.status != "failed"]
        if not known:
            return replace(answers[0], repeats=answers)
        worst = min(known, key=lambda answer: WORST_FIRST.index(answer.status))
        unread = {metric: unread_value(self.answer.evaluator, metric) for metric in self.answer.evaluator.metrics}
        values = {m: avg_at_n([answer.values.get(m, value) for answer in known]) for m, value in unread.items()}
        more = {name: one.value for name, one in self._estimates(answers).items() if one.value is not None}
        if len(texts := [text for text in prediction.prediction if text is not None]) > 1:
            more[SAME_TEXT] = float(len(set(map(str, texts))) == 1)
        return SampleScore(
            sample_id=prediction.sample_id,
            status=worst.status,
            extracted=[answer.extracted for answer in answers],
            gold=worst.gold,
            values={**values, **more},
            reason=next((answer.reason for answer in answers if answer.status == "failed"), worst.reason),
            repeats=answers,
        )

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a question of which no answer counts."""
        one = self.answer.failed(prediction, reason)
        return replace(one, repeats=(one,) * self.n)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the evaluator, then ``pass@k``, ``pass^k``, ``cons@n`` and the shares that agree."""
        scores = self.answer.evaluator.aggregate(samples)
        more = [] if self.further is None else self.further.repeated(scores, samples)
        if scores[0].fraction and not scores[0].lower_is_better:  # in an error rate 1 is no right answer
            taken = {score.metric for score in more}
            shares = estimated_means(self._names(), self._named_estimates, samples)
            more += [score for score in shares if score.metric not in taken]
        return scores + more

    def repeatability(self, samples: Iterable[SampleScore]) -> Repeatability | None:
        """Return how far the answers to one question differ in the main metric; None of fewer than two questions."""
        metric = self.answer.evaluator.metrics[0]
        return repeatability(
            (
                sample.sample_id if sample.cluster is None else sample.cluster,
                [one.values.get(metric, 0.0) for one in sample.repeats if one.status != "failed"],
            )
            for sample in samples
        )

    def described(self, found: Repeatability, samples: Iterable[SampleScore]) -> dict[str, Any]:
        """Return the repeatability as plain JSON values, for the results.

        ``half_width`` is half the 95 % interval of the main metric with so many answers to each question.
        ``repeats_needed`` has the answers that narrower intervals need, null where only more questions help.
        ``unstable`` names the first questions whose answers differ in their verdict.
        """
        unstable = [sample.sample_id for sample in samples if sample.values.get(SAME_VERDICT) == 0]
        now = found.half_width(self.n)
        targets = round_widths_below(now, TARGETS) if now else []
        widths = {str(number): found.half_width(number) for number in (1, self.n, 2 * self.n, 4 * self.n)}
        return {
            "variance_between_questions": found.between,
            "variance_within_questions": found.within,
            "half_width": {**widths, "any number": found.half_width(math.inf)},
            "repeats_needed": {f"{target:g}": found.repeats_needed(target) for target in targets},
            "unstable_questions": len(unstable),
            "unstable": unstable[:MOST_NAMED],
        }

    def _names(self) -> list[str]:
        names = [f"pass@{k}" for k in self.k] + [f"pass^{k}" for k in self.k if k > 1]
        names += [f"cons@{self.n}", SAME_TEXT, SAME_ANSWER, SAME_VERDICT]
        return [name for name in names if name not in self.answer.evaluator.metrics]

    def _named_estimates(self, sample: SampleScore) -> list[Estimate]:
        found = self._estimates(sample.repeats)
        agree = sample.values.get(SAME_TEXT)
        found[SAME_TEXT] = Estimate(agree, *_agreement_bounds(agree, sample.repeats))
        return [found[name] for name in self._names()]

    def _estimates(self, answers: Sequence[SampleScore]) -> dict[str, Estimate]:
        """Return what is said of one question by all of its answers."""
        metric = self.answer.evaluator.metrics[0]
        values = [answer.values.get(metric, 0.0) for answer in answers]
        right, unread = values.count(1.0), sum(not answer.is_read for answer in answers)
        known = [number for number, answer in enumerate(answers) if answer.status != "failed"]
        found = {}
        for k in self.k:
            for sign, measure in (("@", pass_at_k), ("^", pass_hat_k)):
                found[f"pass{sign}{k}"] = Estimate(
                    value=estimate_of_k(measure, self.n, len(known), right, k),
                    low=measure(self.n, right, k),
                    high=measure(self.n, right + unread, k),
                    noise=noise_of_k(measure, len(known), right, k) if known else 0.0,
                )
        said = [answer.extracted for answer in answers]
        # White space around an answer makes no other vote.
        said = [(composed(one).strip() or None) if isinstance(one, str) else one for one in said]
        evaluator = self.answer.evaluator
        same = evaluator.same_answer if isinstance(evaluator, ComparesAnswers) else lambda _first, _second: False
        votes = vote_classes(said, same)
        found[f"cons@{self.n}"] = Estimate(cons_at_k(votes, values) if known else None, *cons_bounds(votes, values))
        for name, each in ((SAME_ANSWER, votes), (SAME_VERDICT, values)):
            agree = float(len({each[number] for number in known}) == 1) if len(known) > 1 else None
            found[name] = Estimate(agree, *_agreement_bounds(agree, answers))
        return found


def single_answers(prediction: Prediction, n: int) -> Iterator[Prediction]:
    """Yield each of ``n`` answers to a question as if the question was asked once.

    Raises:
        DataError: there are not so many.
    """
    answers = prediction.prediction
    if not isinstance(answers, list) or not len(answers) == len(prediction.completions) == n:
        count = len(answers) if isinstance(answers, list) else 1
        raise DataError(
            f"there are {count} answers to this question, and {n} to the first one",
            where=place_of(prediction),
            fix=SAME,
        )
    for number, (text, completion) in enumerate(zip(answers, prediction.completions, strict=True)):
        yield replace(prediction, prediction=text, completions=(completion,), repeat=number)


def _agreement_bounds(agree: float | None, answers: Sequence[SampleScore]) -> tuple[float, float]:
    """Return the worst and the best agreement that the failed answers could lead to."""
    failed = any(answer.status == "failed" for answer in answers)
    return (0.0 if failed or agree is None else agree), (1.0 if agree is None else agree)


class DialogueScorer(Struct, frozen=True):
    """Score dialogues; each metric of the evaluator appears twice.

    ``accuracy`` is the mean over the turns of a dialogue, then over the dialogues, which weigh the same however long
    they are: turns of one dialogue depend on each other, dialogues do not, as the standard error presumes.
    ``dialogue_accuracy`` is that of a dialogue's worst turn: 1 if every turn is right.

    A dialogue is unparsed or truncated if one of its turns is. If a turn failed, the dialogue failed: like any failed
    sample it has no part in a value, and neither have its earlier turns, which would be the easier half of it.

    Attributes:
        turn: what scores one turn.
    """

    turn: AnswerScorer

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one dialogue; ``extracted`` and ``gold`` have one entry for each turn.

        Raises:
            GoldError: a gold cannot be used, or there is not one for each turn; ``where`` names the sample.
        """
        if prediction.failed:
            return self.failed(prediction, f"{failure_kind(prediction)} in a turn")
        turns = [self.turn.score(turn) for turn in _turns(prediction)]
        if failed := next((turn for turn in turns if turn.status == "failed"), None):  # a judge gave no verdict
            return self.failed(prediction, f"{failed.reason} in a turn")
        values: dict[str, float] = {}
        for metric in self.turn.evaluator.metrics:
            each = [turn.values.get(metric, unread_value(self.turn.evaluator, metric)) for turn in turns]
            lowest = max(each) if less_is_better(self.turn.evaluator, metric) else min(each)
            values |= {metric: statistics.mean(each), _of_dialogue(metric): lowest}
        worst = min(turns, key=lambda turn: WORST_FIRST.index(turn.status))
        return SampleScore(
            sample_id=prediction.sample_id,
            status=worst.status,
            extracted=[turn.extracted for turn in turns],
            gold=[turn.gold for turn in turns],
            values=values,
            reason=worst.reason and f"{worst.reason} in a turn",
            readings=tuple(turn.readings[0] if turn.readings else None for turn in turns),
            verdicts=tuple(verdict for turn in turns for verdict in turn.verdicts),
        )

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a dialogue that does not count in the values."""
        return self.turn.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the mean of each metric over the answered dialogues, by turns and as a whole."""
        evaluator = self.turn.evaluator
        metrics = {name(metric): metric for name in (str, _of_dialogue) for metric in evaluator.metrics}
        best, worst = best_of(evaluator), worst_of(evaluator)
        scores = mean_scores(tuple(metrics), samples, best, worst=worst)
        return [replace(one, lower_is_better=less_is_better(evaluator, metrics[one.metric])) for one in scores]


def _turns(prediction: Prediction) -> Iterator[Prediction]:
    """Yield each turn of a dialogue as if it was a sample."""
    answers, golds = prediction.prediction, prediction.gold
    if not (isinstance(answers, list) and isinstance(golds, list) and len(answers) == len(golds)):
        raise GoldError(
            f"there is not one gold for each answer of the dialogue: {shortened(repr(golds), 80)} for "
            f"{shortened(repr(answers), 80)}",
            where=place_of(prediction),
            fix="name the column with one gold for each turn as output_column, or use infer_mode='last'",
        )
    prompts = prediction.origin_prompt
    for number, (answer, gold, completion) in enumerate(zip(answers, golds, prediction.completions, strict=True)):
        yield replace(
            prediction,
            # Predictions may be read without their prompts.
            origin_prompt=prompts[number] if isinstance(prompts, tuple) and len(prompts) == len(answers) else "",
            prediction=answer,
            gold=gold,
            completions=(completion,),
            earlier=tuple(answers[:number]),
        )


def _of_dialogue(metric: str) -> str:
    return f"dialogue_{metric}"


AnyScorer: TypeAlias = AnswerScorer | DialogueScorer | RepeatScorer


def scorer_of(task: Task, first: Prediction, judgement_of: JudgementOf | None = None) -> AnyScorer | None:
    """Return the scorer of single samples; None without an evaluator, for one that needs all answers at once, or if a
    judge is needed and not given.

    Args:
        task: which model answered what.
        first: any of its predictions, which tells how many answers there are to each question.
        judgement_of: what the judge said.

    Raises:
        AisPromptError: it cannot be made.
    """
    evaluator = task.dataset.evaluator
    if evaluator is None or isinstance(evaluator, BatchEvaluator):
        return None
    reader = reader_of(task, evaluator)
    if not isinstance(evaluator, JudgeEvaluator):
        return whole_sample(task.dataset, reader, first)
    if judgement_of is None:
        return None
    judged = JudgedScorer(evaluator, reader.without_comparison(evaluator.metrics), judgement_of)
    return whole_sample(task.dataset, judged, first)


def reader_of(task: Task, evaluator: Evaluator) -> Scorer:
    return Scorer(evaluator, task.dataset.answer_of, task.dataset.gold_of, task.text_of)


def scorer_with(
    task: Task, evaluator: Evaluator, first: Prediction
) -> Callable[[PartSpec], Callable[[Prediction], SampleScore]]:
    """Return what makes the scorer of a sample with another postprocessor."""
    reader = reader_of(task, evaluator)

    def scorer_of(spec: PartSpec) -> Callable[[Prediction], SampleScore]:
        return whole_sample(task.dataset, replace(reader, answer_of=build_postprocessor(spec)), first).score

    return scorer_of


def whole_sample(dataset: PlannedDataset, one: AnswerScorer, first: Prediction) -> AnyScorer:
    """Return the scorer of a sample: by turns if each is asked, by answers if a question has several."""
    if dataset.has_turns:
        return DialogueScorer(one)
    repeats = repeats_of(first)
    check_k(dataset.spec.eval, repeats)
    return RepeatScorer(one, repeats, dataset.spec.eval.k, dataset.repeat_evaluator) if repeats > 1 else one


def repeats_of(prediction: Prediction) -> int:
    """Return how many answers a question has that is not a dialogue."""
    # A list may also be one answer: the probabilities of choices.
    return len(prediction.completions) if isinstance(prediction.prediction, list) else 1
