"""The protocols of evaluators, and helpers that they share. There is nothing to inherit.

`Evaluator` scores one answer, `CorpusEvaluator` has metrics that are no means, and `BatchEvaluator` scores all answers
of a dataset together, as evaluators of OpenCompass and AISBench do. `MeanEvaluator` is the mean of one value an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.errors import DataError, MissingGoldError
from ais_prompt.metrics import mean_scores
from ais_prompt.parts import KeptChecks
from ais_prompt.types import AgentStep, Completion, GeneratedToken, JudgeVerdict, SampleScore, Score, lower_is_better
from ais_prompt.utils import is_missing


@runtime_checkable
class ComparesAnswers(Protocol, metaclass=KeptChecks):
    """An evaluator that decides whether two answers are the same vote for cons@n; others compare texts."""

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two extracted answers, neither of them None, mean the same."""


@runtime_checkable
class Evaluator(Protocol, metaclass=KeptChecks):
    """Compare answers with gold answers.

    Attributes:
        metrics: names of its metrics; the first is the main one. `less_is_better` tells of which less is better.
    """

    metrics: tuple[str, ...]

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the value of one sample for each of ``metrics``; it depends on the arguments only.

        Args:
            extracted: the answer after postprocessing; None, an unparsed answer, scores `unread_value`.
            gold: the gold answer after its own postprocessing.

        Raises:
            DataError: the gold cannot be used. The caller knows the sample and adds it.
        """

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return one score for each of ``metrics``, usually with `ais_prompt.metrics.aggregate.mean_scores`.

        Args:
            scores: one for each question; one that was asked several times has its answers in ``repeats``. They may
                not fit into memory: iterate in order, as often as needed.
        """


@runtime_checkable
class RepeatEvaluator(Protocol, metaclass=KeptChecks):
    """Gives further scores of questions that are asked several times: ``eval_cfg.repeat_evaluator``."""

    def repeated(self, scores: Sequence[Score], samples: Sequence[SampleScore]) -> list[Score]:
        """Return the further scores; they take the place of `pass@k` and votes with the same names.

        Args:
            scores: of the evaluator, over all answers.
            samples: as in `Evaluator.aggregate`; each has its answers in ``repeats``.
        """


def worst_of(evaluator: Evaluator) -> float:
    """Return the smallest value that an evaluator gives: 0, unless its attribute ``worst`` is another number."""
    found: float = getattr(evaluator, "worst", 0.0)
    return found


def best_of(evaluator: Evaluator) -> float:
    """Return the largest value that an evaluator gives: 1, unless its attribute ``best`` is another number."""
    found: float = getattr(evaluator, "best", 1.0)
    return found


def less_is_better(evaluator: Evaluator, metric: str) -> bool:
    """Return whether less of a metric is better.

    An evaluator may say so with an attribute ``lower_is_better``: True, False, or the names of such metrics. Others
    leave it to the name (`ais_prompt.types.score.lower_is_better`).
    """
    declared = getattr(evaluator, "lower_is_better", None)
    if declared is None:
        return lower_is_better(metric)
    return declared if isinstance(declared, bool) else metric in declared


def unread_value(evaluator: Evaluator, metric: str) -> float:
    """Return the value of an answer in which nothing was found: 0, or 1 where less is better, as in an error rate."""
    return float(less_is_better(evaluator, metric))


@runtime_checkable
class CorpusEvaluator(Evaluator, Protocol):
    """An evaluator whose main metric is computed from sums over all samples, as BLEU is.

    With these two methods `aisprompt compare` and baselines can compare the metric that the run reports.
    """

    def sums(self, score: SampleScore) -> NDArray[np.float64]:
        """Return the contribution of the answers to one question to the sums; shape (quantities,)."""

    def statistic(self, sums: NDArray[np.float64]) -> float:
        """Return the main metric from the sums; shape (quantities,)."""


@runtime_checkable
class DoubtsGolds(Protocol, metaclass=KeptChecks):
    """An evaluator that computes a number from any text, which means nothing for some golds."""

    def doubt(self, golds: Sequence[Any]) -> tuple[str, str] | None:
        """Return what makes its values meaningless for these golds, and what to do; None if nothing does."""


@runtime_checkable
class ScoresMeasures(Protocol, metaclass=KeptChecks):
    """An evaluator of numbers that one inferencer measures, such as log-likelihoods of choices.

    Attributes:
        measured_by: the name of the inferencer.
    """

    measured_by: str


@runtime_checkable
class AcceptsSilence(Protocol, metaclass=KeptChecks):
    """An evaluator for which an empty answer may be right, as to a question without an answer."""

    def accepts_silence(self, gold: Any) -> bool:
        """Return whether an empty answer is right for this gold."""


def golds_of(gold: Any) -> list[str]:
    """Return all right answers as texts: the rule of every evaluator that compares texts.

    A gold that is missing is no answer: None, NaN (an empty cell of pandas), an empty or blank text. In a list of
    alternatives those are left out.

    Args:
        gold: one answer, a list of them, a mapping with such a list as ``text`` (SQuAD's column ``answers``), or with
            ``value`` or ``answer`` and ``aliases`` (TriviaQA's column ``answer``), or with ``spans`` and their
            ``types`` (DROP's column ``answers_spans``); or a list of such mappings.

    Raises:
        MissingGoldError: there is none.
        DataError: it has another shape.
    """
    parts = gold if isinstance(gold, list | tuple) else [gold]
    several = [one for part in parts for one in (_alternatives(part) if isinstance(part, Mapping) else [part])]
    if odd := next((one for one in several if isinstance(one, Mapping | list | tuple)), None):
        raise DataError(
            f"the gold answer has the part {odd!r:.60}, which is no text or number",
            fix="name a column with one answer, or with a list of them, as output_column",
        )
    golds = [str(one) for one in several if not is_missing(one)]
    if not golds:
        raise MissingGoldError(
            "there is no gold answer", fix="fill it in, or name the column that holds it as output_column"
        )
    return golds


def letters_of(golds: Sequence[Any]) -> list[str]:
    """Return all letters of golds; those that are missing have none.

    Raises:
        DataError: as `golds_of`.
    """
    known = [gold for gold in golds if not is_missing(gold)]
    return [letter for gold in known for text in golds_of(gold) for letter in text if letter.isalpha()]


def _alternatives(gold: Mapping[str, Any]) -> Sequence[Any]:
    """Return the right answers of an object as public datasets have it."""
    if "text" in gold:
        return gold["text"] if isinstance(gold["text"], list | tuple) else [gold["text"]]
    if "value" in gold or "aliases" in gold:
        aliases = gold.get("aliases") or []
        return [gold.get("value", gold.get("answer")), *(aliases if isinstance(aliases, list | tuple) else [aliases])]
    if isinstance(spans := gold.get("spans"), list | tuple) and "types" in gold:
        return spans
    raise DataError(
        f"the gold answer is an object with {', '.join(map(repr, gold)) or 'no keys'}, which is not known",
        fix="name a column with one answer, or with a list of them, as output_column",
    )


class AveragingEvaluator:
    """Its scores are the means of its metrics over the samples that were answered, or judged."""

    metrics: tuple[str, ...]

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return one mean for each of ``metrics``."""
        return mean_scores(self.metrics, scores)


class MeanEvaluator(AveragingEvaluator, ABC):
    """The mean of a value from 0, a wrong answer, to 1, a right one."""

    metrics: tuple[str, ...] = ("accuracy",)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the only metric.

        Raises:
            DataError: the gold cannot be used.
        """
        return {self.metrics[0]: float(self.value("" if extracted is None else str(extracted), gold))}

    @abstractmethod
    def value(self, answer: str, gold: Any) -> float:
        """Return the value of an answer, from 0 to 1.

        Raises:
            DataError: the gold cannot be used.
        """


class AnswerBatch(Struct, frozen=True):
    """One answer to each question of a dataset, without those that failed.

    Attributes:
        predictions: the answers after postprocessing; empty where nothing was found.
        references: the golds after postprocessing; None if the dataset has none.
        prompts: what was sent.
        rows: reads the columns of each question. It may take long, and fails if the data is no longer there.
        replica: which of several answers to each question these are, from 0.
        row_numbers: reads the number of each question's row in the whole test split, from 0; may fail as ``rows``.
        model, dataset: names of the task.
        judgements: what a judge said, for each of the `JudgedBatchEvaluator.questions`.
        steps: what an agent did for each answer; empty tuples for other models.
        completions: the completions behind each answer.
    """

    predictions: Sequence[Any]
    references: Sequence[Any] | None
    prompts: Sequence[Any]
    rows: Callable[[], Sequence[Mapping[str, Any]]]
    replica: int = 0
    row_numbers: Callable[[], Sequence[int]] = tuple
    model: str = ""
    dataset: str = ""
    judgements: Sequence[str] = ()
    steps: Sequence[Sequence[AgentStep]] = ()
    completions: Sequence[Sequence[Completion]] = ()


class JudgeQuestion(Struct, frozen=True):
    """A question to a judge about one answer of a batch, or about that answer and one of another model.

    Attributes:
        answer: position of the answer in the batch.
        fields: columns of the judge's prompt, next to those of the row; they hide a row's own of these names.
    """

    answer: int
    fields: Mapping[str, Any]


class BatchVerdict(Struct, frozen=True):
    """What an evaluator says of an `AnswerBatch`.

    Attributes:
        metrics: name → value for the whole dataset; the first is the main one.
        each: name → value of each answer, for those metrics that are the mean of these values, or its percentage.
        battles: comparisons with other models, as plain values: a table over several models is made of them.
        amounts: names of metrics that are no parts of 1, such as seconds, whatever their values are.
    """

    metrics: Mapping[str, float]
    each: Mapping[str, Sequence[float]]
    battles: Sequence[Mapping[str, Any]] = ()
    amounts: Collection[str] = ()


@runtime_checkable
class BatchEvaluator(Evaluator, Protocol):
    """An evaluator that needs all answers at once. Its metrics are known when it has scored."""

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Score all answers.

        Raises:
            AisPromptError: they cannot be scored.
        """


@runtime_checkable
class JudgedBatchEvaluator(BatchEvaluator, Protocol):
    """A `BatchEvaluator` that needs what a judge says of the answers. It may ask several questions about one answer."""

    def questions(self, batch: AnswerBatch) -> Sequence[JudgeQuestion]:
        """Return what the judge is asked; the same for the same batch.

        Raises:
            AisPromptError: data that the questions show is absent.
        """


@runtime_checkable
class JudgeEvaluator(Evaluator, Protocol):
    """An evaluator that needs the verdict of a judge. Its `score` is given the verdict in place of the answer."""

    def without_judge(self, extracted: Any, gold: Any) -> Mapping[str, float] | None:
        """Return the values of an answer that needs no judge; None if the judge has to be asked.

        Raises:
            DataError: the gold cannot be used.
        """

    def verdict(self, text: str) -> str | None:
        """Return the verdict in the text of a judge; None if there is none."""


@runtime_checkable
class AsksInParts(Protocol, metaclass=KeptChecks):
    """A `PanelEvaluator` that may ask a judge several questions about an answer, such as one for each criterion.

    Its `vote` gets one verdict for each question.
    """

    def parts(self, gold: Any) -> Sequence[Mapping[str, Any]]:
        """Return columns of the judge's prompt for each question about an answer, next to those of all of them.

        Raises:
            DataError: the gold cannot be used.
        """

    def marks(self, vote: str | float | None, gold: Any) -> Sequence[float | None]:
        """Return what one judge says of each part, as a number; None where it says nothing."""

    def said(self, vote: str | float | None, gold: Any) -> Sequence[tuple[str, Any]]:
        """Return the text of each part, with what one judge says of it as a JSON value; None where it says nothing."""

    def marks_by_name(self, answer: SampleScore) -> Mapping[str, float]:
        """Return the mark, from 0 to 1, of each part of an answer on which the judges decide.

        A part may have several names: those by which labels of people mean it.
        """


@runtime_checkable
class ReadsTokens(Protocol, metaclass=KeptChecks):
    """A `JudgeEvaluator` that reads how likely other tokens were in the reply of a judge.

    Attributes:
        top_logprobs: how many of the likeliest tokens the judges are asked for in the place of each token; None reads
            the text alone.
    """

    top_logprobs: int | None

    def verdict_of_tokens(self, text: str, tokens: Sequence[GeneratedToken]) -> str | None:
        """Return the verdict in a reply, as `JudgeEvaluator.verdict` does.

        Args:
            text: the reply.
            tokens: what the judge generated; it may have reasoning before the text.
        """


@runtime_checkable
class HasJudgePrompt(Protocol, metaclass=KeptChecks):
    """An evaluator with a prompt for its judges, which a config may leave out.

    Attributes:
        judge_prompt: a text with {column}; {input} are the input columns of the dataset.
    """

    judge_prompt: str


@runtime_checkable
class PanelEvaluator(JudgeEvaluator, Protocol):
    """A `JudgeEvaluator` that has its own rule for the verdicts of several judges, or of one about two orders.

    Others take the verdict of more than half of the judges (`majority`).

    Attributes:
        compares: whether it compares the answer with the reference answer, in both orders.
    """

    compares: bool

    def vote(self, verdicts: Sequence[str | None]) -> str | float | None:
        """Return the vote of one judge; None if it has none.

        Args:
            verdicts: one, or with ``compares`` one for each order of the two answers.
        """

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the values of a sample from the votes of all judges; None if they decide nothing."""
