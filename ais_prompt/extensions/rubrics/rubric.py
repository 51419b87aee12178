"""Rubrics: a judge says of each criterion whether an answer meets it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.extensions.rubrics.criteria import Criterion, rating_said, read_criteria, rubric_score
from ais_prompt.extensions.rubrics.rubric_replies import MOST_RATING, read_mark, read_marks, weights_of_rating
from ais_prompt.judges import majority
from ais_prompt.metrics import Estimate, clipped_score, estimated_means, mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import GeneratedToken, JudgeVerdict, SampleScore, Score

RUBRIC: Final = "rubric"
"""The metric of a rubric."""
MOST_LINES: Final = 40
"""Most criteria and tags of a column with a line in the results: those that the most questions have."""
TOP_LOGPROBS: Final = 20
"""Of the likeliest tokens as many as OpenAI gives in a chat."""
DISAGREEMENT: Final = "disagreement"
TOGETHER: Final = (
    "Here is a task, an answer to it, and a list of criteria.\n\n"
    "The task:\n{input}\n\nThe answer:\n{prediction}\n\nThe criteria:\n{criteria}\n\n"
    "Say of each criterion whether the answer meets it. Some describe what an answer must not do, and are met if it "
    "does that. Reply with JSON: the number of each criterion with true or false, or with a number where a scale is "
    'given, such as {"1": true, "2": false}'
)
"""A prompt about all criteria of an answer."""
ALONE: Final = (
    "Here is a task, an answer to it, and a criterion.\n\n"
    "The task:\n{input}\n\nThe answer:\n{prediction}\n\nThe criterion:\n{criterion}\n\n"
    "Say whether the answer meets the criterion. It may describe what an answer must not do, and is met if the answer "
    "does that. Reply with JSON, and with a number in place of true or false where a scale is given: "
    '{"explanation": "...", "criteria_met": true}'
)
"""A prompt about one criterion."""


@EVALUATORS.register_module()
class RubricEvaluator:
    """Score by a rubric: a judge says of each criterion whether an answer meets it.

    ``rubric`` is the sum of the points of the criteria that are met, divided by the sum of the positive points. It may
    be below 0 for an answer; the mean over the answers is clipped to 0 to 1, and so is its interval. Source: OpenAI
    simple-evals, ``healthbench_eval.calculate_score`` and ``_compute_clipped_stats``. ResearchRubrics has the same
    formula, with ``partly=0.5``.

    Each criterion has a line with the share of answers that meet it. A tag has the score of its criteria alone, as in
    HealthBench; answers to questions without such criteria do not count in it. Criteria of a column have a line if they
    have a name or a tag, or if their text occurs in several questions.

    The reading is strict: an answer of which the judge leaves out a criterion, or says two things, has no score. It
    failed, which is not the model's fault; the criteria that are known count in their lines. Several judges decide on
    each criterion by majority, and on a rating by the mean.

    The config gives the judges beside the arguments, and their prompt if it differs: ``judge_cfg``, and
    ``prompt_template`` with ``{prediction}`` and ``{criteria}``, or ``{criterion}`` with ``together=False``. With a
    ``baseline`` it also has ``{prediction2}``, a reference answer.

    Args:
        criteria: a list of statements, or of ``dict(criterion=..., points=..., tags=[...])``: points may be negative,
            ``scale=[1, 5]`` lets the judge rate it (the points are multiplied by how high the rating is, from 0 to 1),
            and ``name`` is the name of its line. Or the name of the column that holds them, which is the
            ``output_column`` or one of the ``gold_columns``.
        together: whether one request is about all criteria of an answer, or each about one.
        partly: the mark of a criterion that is met partly, such as 0.5; None does not take it for a mark.
        weighted: whether a rating is the mean of all ratings of its ``scale``, weighed by their probabilities in the
            judge's reply, as in G-Eval (Liu et al. 2023, arXiv 2303.16634, section 2, "Scoring Function"). It needs
            ``together=False``, scales of one digit, and a judge that sends ``top_logprobs``, such as OpenAIChatModel.

    Raises:
        ConfigError: the criteria cannot be used, or cannot be weighted.
    """

    compares: Final = False
    lower_is_better: Final = False
    """An answer in which nothing was found meets no criterion."""
    undecided: Final = "judge left out a criterion"

    def __init__(
        self,
        criteria: Sequence[str | Mapping[str, Any]] | Mapping[str, Any] | str,
        together: bool = True,
        partly: float | None = None,
        weighted: bool = False,
    ) -> None:
        self._column = criteria if isinstance(criteria, str) else ""
        self._fixed: list[Criterion] = []
        if not self._column:
            try:
                self._fixed = read_criteria(criteria, strict=True)
            except DataError as error:
                raise ConfigError(error.what, where="criteria", fix=error.fix) from None
        self._together = together
        self.judge_prompt = TOGETHER if together else ALONE
        self._partly = partly
        self.top_logprobs = TOP_LOGPROBS if weighted else None
        if weighted and together:
            what = "weighted=True is about the only rating of a reply"
            raise ConfigError(what, where="together", fix="add together=False: a request for each criterion")
        if weighted and self._fixed:
            self._check_scales(self._fixed)
        self.metrics: tuple[str, ...] = (RUBRIC, *_lines(self._fixed))

    def parts(self, gold: Any) -> list[dict[str, Any]]:
        """Return the columns of each question about an answer: ``criteria``, or ``criterion``.

        Raises:
            DataError: the gold holds no criteria.
        """
        criteria = self.criteria(gold)
        if self.top_logprobs is not None:
            self._check_scales(criteria)
        if not self._together:
            return [{"criterion": one.shown} for one in criteria]
        return [{"criteria": "\n".join(f"{number}. {one.shown}" for number, one in enumerate(criteria, 1))}]

    def criteria(self, gold: Any) -> list[Criterion]:
        """Return the criteria of a question.

        Raises:
            DataError: the gold holds no criteria.
        """
        if not self._column:
            return self._fixed
        try:
            return read_criteria(gold[self._column] if isinstance(gold, Mapping) and self._column in gold else gold)
        except DataError as error:
            error.fix = f"reader_cfg=dict(gold_columns=[{self._column!r}], ...), if it is a column; or {error.fix}"
            raise

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the values of a vote of `vote`; none if it leaves out a criterion."""
        return self.decide([JudgeVerdict("", extracted)], gold) or {}

    def without_judge(self, extracted: Any, gold: Any) -> None:  # noqa: ARG002
        """Return None: the judge is always asked.

        Raises:
            DataError: the gold holds no criteria.
        """
        self.criteria(gold)

    def verdict(self, text: str) -> str | None:
        """Return what a reply says of the criteria as JSON, number → mark; None if it says nothing."""
        if self._together:
            return json.dumps(marks) if (marks := read_marks(text)) else None
        return None if (mark := read_mark(text)) is None else json.dumps({"1": mark})

    def verdict_of_tokens(self, text: str, tokens: Sequence[GeneratedToken]) -> str | None:
        """Return what a reply says of a criterion as JSON: a rating as the probability of each digit, that said first.

        None if it says nothing, or a rating whose token is not among ``tokens``.
        """
        mark = read_mark(text)
        if isinstance(mark, float):
            mark = weights_of_rating(text, tokens)
        return None if mark is None else json.dumps({"1": mark})

    def vote(self, verdicts: Sequence[str | None]) -> str | None:
        """Return what one judge says of all criteria as JSON, number → mark; None if it says nothing."""
        if self._together:
            return verdicts[0]
        each = {str(number): json.loads(one or "{}").get("1") for number, one in enumerate(verdicts, 1)}
        known = {number: mark for number, mark in each.items() if mark is not None}
        return json.dumps(known) if known else None

    def marks(self, vote: str | float | None, gold: Any) -> list[float | None]:
        """Return how far an answer meets each criterion, from 0 to 1, as one judge says; None where it says nothing."""
        return [one.mark(one.weighed(said), self._partly) for one, said in self._vote_on_each(vote, gold)]

    def said(self, vote: str | float | None, gold: Any) -> list[tuple[str, Any]]:
        """Return each criterion with what one judge says of it: True, False, a number, or `PARTLY`.

        None is a criterion that it leaves out, or of which it says what is no mark.
        """
        each = [(one, one.weighed(said)) for one, said in self._vote_on_each(vote, gold)]
        return [(one.shown, None if one.mark(said, self._partly) is None else said) for one, said in each]

    def _vote_on_each(self, vote: str | float | None, gold: Any) -> list[tuple[Criterion, Any]]:
        marks = json.loads(vote) if isinstance(vote, str) else {}
        return [(one, marks.get(str(number))) for number, one in enumerate(self.criteria(gold), 1)]

    def _check_scales(self, criteria: Sequence[Criterion]) -> None:
        """Check that the ratings of all scales are single digits, each a token of its own.

        Raises:
            ConfigError: they are not, or no criterion has a scale.
        """
        scales = [one.scale for one in criteria if one.scale is not None]
        if not scales:
            raise ConfigError("no criterion has a scale to be weighted", where="weighted", fix="add scale=[1, 5]")
        for low, high in scales:
            if low < 0 or high > MOST_RATING:
                what = f"the scale from {low:g} to {high:g} cannot be weighted: a rating must be one digit"
                raise ConfigError(what, where="weighted", fix="use a scale within 0 to 9, such as scale=[1, 5]")

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the values of an answer from the votes of all judges; None if a criterion is left out."""
        criteria, marks = self.criteria(gold), self.joint(panel, gold)
        known = [mark for mark in marks if mark is not None]
        if len(known) < len(marks):
            return None
        score = rubric_score(criteria, known)
        assert score is not None  # `read_criteria` refuses criteria without positive points
        return {RUBRIC: score, **_line_values(criteria, marks)}

    def joint(self, panel: Sequence[JudgeVerdict], gold: Any) -> list[float | None]:
        """Return the mark of each criterion on which the judges decide; None where they decide nothing."""
        by_criterion = zip(*(self.marks(one.vote, gold) for one in panel), strict=True)
        found: list[float | None] = []
        for one, marks in zip(self.criteria(gold), by_criterion, strict=True):
            known = [mark for mark in marks if mark is not None]
            if one.scale is not None:
                found.append(fmean(known) if 2 * len(known) > len(marks) else None)
            else:
                decided = majority(marks)
                found.append(None if decided is None else float(decided))
        return found

    def marks_by_name(self, answer: SampleScore) -> dict[str, float]:
        """Return the mark of each criterion of an answer that judges know, by its number from 1, its text and name."""
        known: dict[str, float] = {}
        criteria = self.criteria(answer.gold)
        for number, (one, mark) in enumerate(zip(criteria, self.joint(answer.verdicts, answer.gold), strict=True), 1):
            if mark is not None:
                known |= {name: mark for name in (str(number), one.text, one.name) if name}
        return known

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the clipped mean, then a line for each criterion and tag, and how often judges disagree on it."""
        counts, negative, tags, lowest = Counter[str](), set[str](), set[str](), 0.0
        for criteria in filter(None, map(self._criteria_of, scores)):
            counts.update(_lines(criteria))
            negative |= {one.name for one in criteria if one.points < 0}
            tags |= {tag for one in criteria for tag in one.tags}
            worst = [float(one.points < 0) for one in criteria]
            lowest = min(lowest, rubric_score(criteria, worst) or 0.0, *_line_values(criteria, worst).values())
        lines = list(self.metrics[1:])
        if self._column:
            named = Counter({line: number for line, number in counts.items() if number > 1 or len(scores) == 1})
            lines = [line for line, _ in named.most_common(MOST_LINES)]
        [main] = mean_scores((RUBRIC,), scores, worst=lowest, lower_is_better=False)
        found: dict[str, Score] = {}
        # A criterion has a share of answers, from 0 to 1; a tag has a score, which may be below 0.
        for low, names in ((0.0, [x for x in lines if x not in tags]), (lowest, [x for x in lines if x in tags])):
            means = estimated_means(names, partial(self._estimates, lines=names, low=low), scores, worst=low)
            found |= {one.metric: replace(one, lower_is_better=one.metric in negative) for one in means}
        shown = [clipped_score(one) for one in (main, *(found[line] for line in lines))]
        return [*shown, *self._disagreements(lines, scores)]

    def _criteria_of(self, score: SampleScore) -> list[Criterion] | None:
        """Return the criteria of a question; None if its gold holds none."""
        try:
            return self.criteria(score.gold)
        except AisPromptError:
            return None

    def _estimates(self, score: SampleScore, lines: Sequence[str], low: float) -> list[Estimate]:
        """Return the value of a question in each line; a question without such criteria has no weight in it."""
        has = set(_lines(self._criteria_of(score) or ()))
        each = [self._known_lines(answer) for answer in score.repeats or (score,)]
        columns = [[one.get(line) for one in each] for line in lines]
        # A tag whose criteria have no positive points has no score, whatever the judge says.
        is_known = score.status != "failed"
        return [
            _estimate(values, low) if line in has and (not is_known or values != [None] * len(values)) else _ABSENT
            for line, values in zip(lines, columns, strict=True)
        ]

    def _known_lines(self, answer: SampleScore) -> Mapping[str, float]:
        """Return the lines of an answer, of one without a score those of the criteria that the judges know."""
        if answer.status != "failed" and not answer.is_read:
            return dict.fromkeys(_lines(self._criteria_of(answer) or ()), 0.0)
        if answer.status != "failed" or not answer.verdicts:
            return answer.values
        return _line_values(self.criteria(answer.gold), self.joint(answer.verdicts, answer.gold))

    def _disagreements(self, lines: Sequence[str], scores: Sequence[SampleScore]) -> list[Score]:
        """Return the share of answers on which judges do not agree, for each line; nothing for one judge."""
        if not any(len(answer.verdicts) > 1 for score in scores for answer in score.repeats or (score,)):
            return []

        def estimates(score: SampleScore) -> list[Estimate]:
            each = [self._differences(answer) for answer in score.repeats or (score,) if len(answer.verdicts) > 1]
            found = [[one[line] for one in each if line in one] for line in lines]
            return [Estimate(value := fmean(one), value, value) if one else _ABSENT for one in found]

        names = [f"{line} {DISAGREEMENT}" for line in lines]
        found = estimated_means(names, estimates, scores)
        return [replace(one, bounds=None, lower_is_better=True) for one in found if one.value is not None]

    def _differences(self, answer: SampleScore) -> dict[str, float]:
        """Return for each line the share of its criteria on which the judges of an answer do not agree."""
        by_judge = [
            [one.mark(rating_said(said), self._partly) for one, said in self._vote_on_each(verdict.vote, answer.gold)]
            for verdict in answer.verdicts
        ]
        found: dict[str, list[float]] = {}
        for one, marks in zip(self.criteria(answer.gold), zip(*by_judge, strict=True), strict=True):
            known = [mark for mark in marks if mark is not None]
            for line in _lines([one]) if len(known) > 1 else ():
                found.setdefault(line, []).append(float(len(set(known)) > 1))
        return {line: fmean(each) for line, each in found.items()}


_ABSENT: Final = Estimate(None, 0.0, 0.0, 0.0)


def _estimate(values: Sequence[float | None], lowest: float) -> Estimate:
    known = [value for value in values if value is not None]
    low, high = (fmean(other if value is None else value for value in values) for other in (lowest, 1.0))
    return Estimate(fmean(known) if known else None, low, high)


def _lines(criteria: Sequence[Criterion]) -> list[str]:
    """Return the lines of criteria in the results, each once; none is called as the metric."""
    names = (name for one in criteria for name in (one.name, *one.tags) if name)
    return list(dict.fromkeys(f"criterion {name}" if name == RUBRIC else name for name in names))


def _line_values(criteria: Sequence[Criterion], marks: Sequence[float | None]) -> dict[str, float]:
    """Return the value of each line whose marks are all known: the mean mark of a criterion, the score of a tag."""
    tags = {tag for one in criteria for tag in one.tags}
    found: dict[str, float] = {}
    for line in _lines(criteria):
        members = [(one, mark) for one, mark in zip(criteria, marks, strict=True) if line in _lines([one])]
        known = [mark for _, mark in members if mark is not None]
        if len(known) == len(members):
            value = rubric_score([one for one, _ in members], known) if line in tags else fmean(known)
            if value is not None:
                found[line] = value
    return found
