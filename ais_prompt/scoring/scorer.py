"""Score one answer: find it, and compare it with the gold or take the verdict of judges."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from inspect import signature
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, DataError, GoldError, PartError
from ais_prompt.evaluators import (
    AcceptsSilence,
    AsksInParts,
    Evaluator,
    JudgeEvaluator,
    OwnEvaluator,
    PanelEvaluator,
    ReadsTokens,
    unread_value,
)
from ais_prompt.metrics import exact_mean
from ais_prompt.parts import defined_at, exception_line
from ais_prompt.plan import Postprocessor
from ais_prompt.types import REFUSAL, Extraction, JudgeVerdict, Prediction, SampleScore, Score, Status

if TYPE_CHECKING:
    from ais_prompt.judges import Replies

CUT: Final = "cut at max_out_len"
NO_TEXT: Final = "empty answer"
NOTHING_FOUND: Final = "no answer found"
UNCLOSED: Final = "unclosed thought"
UNUSABLE_GOLD: Final = "unusable gold"
NOT_SCORED: Final = "scoring failed"

_ODD: Final = (TypeError, ValueError, ArithmeticError, AttributeError, LookupError, RecursionError)
"""What one of our own parts may raise for odd values, such as numbers that are too large."""

SAME: Final = "give the same number of answers to each question, null where there is none"
FIX: Final = "fix the postprocessor or evaluator, then `aisprompt score RUN`"


class AnswerScorer(Struct, frozen=True):
    """What the scorers of one answer have in common.

    Attributes:
        evaluator: has the metrics, and makes the scores of the dataset.
    """

    evaluator: Evaluator

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one answer.

        Raises:
            GoldError, PartError: it cannot be scored.
        """
        raise NotImplementedError

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a sample that does not count in the value."""
        return SampleScore(prediction.sample_id, "failed", None, prediction.gold, reason=reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)


class Scorer(AnswerScorer, frozen=True):
    """The parts that score one dataset.

    Attributes:
        evaluator: compares answer and gold.
        answer_of, gold_of: find them.
        text_of: what a text goes through before ``answer_of``, see `ais_prompt.plan.Task`.
    """

    evaluator: Evaluator
    answer_of: Postprocessor
    gold_of: Postprocessor
    text_of: Postprocessor = str

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one sample: its status, and the metrics' values unless it failed.

        Raises:
            GoldError: the gold cannot be used; ``where`` names the sample.
            PartError: a postprocessor or an evaluator failed.
        """
        try:
            gold = self.gold_of(prediction.gold)
        except PartError:
            raise
        except AisPromptError as error:
            raise GoldError(error.what, where=error.where or place_of(prediction), fix=error.fix) from error
        except Exception as error:  # what one of ours makes of odd values
            what = f"dataset_postprocessor raised {exception_line(error)}"
            raise GoldError(what, where=place_of(prediction), fix=FIX) from error
        if prediction.failed:
            return SampleScore(prediction.sample_id, "failed", None, gold, reason=failure_kind(prediction))
        said = prediction.prediction
        if isinstance(said, list):
            what = "there are several answers to this question, and one to the first"
            raise DataError(what, where=place_of(prediction), fix=SAME)
        with scoring(prediction):
            # Find the answer.
            text = self.text_of(said) if isinstance(said, str) else said
            found = read_answer(self.answer_of, text, prediction.columns, cut=prediction.truncated)
            # Evaluators and files get plain text; where it was read is kept beside it.
            answer, readings = (str(found), (found.reading,)) if isinstance(found, Extraction) else (found, ())
            if _is_nothing(answer) and not self._accepts_silence(prediction, gold):
                return self._unread(prediction, gold)
            # Compare it with the gold.
            values = dict(self.evaluator.score(composed(answer), composed(gold)))
        if prediction.truncated:
            return SampleScore(prediction.sample_id, "truncated", answer, gold, values, CUT, readings=readings)
        reason = REFUSAL if prediction.refused else ""
        return SampleScore(prediction.sample_id, "scored", answer, gold, values, reason, readings=readings)

    def _accepts_silence(self, prediction: Prediction, gold: Any) -> bool:
        """Return whether a model that said nothing, and was not interrupted, is right."""
        whole = _is_nothing(prediction.prediction) and _why_unread(prediction) == NO_TEXT
        return whole and isinstance(self.evaluator, AcceptsSilence) and self.evaluator.accepts_silence(gold)

    def without_comparison(self, metrics: tuple[str, ...] = ()) -> Scorer:
        """Return what finds answer, gold and status only; values of unread answers have these metrics."""
        return replace(self, evaluator=_NoComparison(metrics))

    def _unread(self, prediction: Prediction, gold: Any) -> SampleScore:
        """Return the score of an answer in which nothing was found; a truncated one counts as truncated."""
        if not isinstance(self.evaluator, OwnEvaluator):
            # Raises if there is no gold: the sample fails, whatever was said.
            self.evaluator.score(None, composed(gold))
        status: Status = "truncated" if prediction.truncated else "unparsed"
        values = {metric: unread_value(self.evaluator, metric) for metric in self.evaluator.metrics}
        return SampleScore(prediction.sample_id, status, None, gold, values, _why_unread(prediction))


def read_answer(postprocessor: Postprocessor, text: Any, columns: Mapping[str, Any], *, cut: bool = False) -> Any:
    """Return the answer in a text.

    A function with the parameter ``sample_choices`` gets the choices of the sample, one with ``cut`` whether the text
    was cut off.

    Args:
        postprocessor: reads the answer.
        text: what the model said.
        columns: of the sample; ``choices`` has one choice a line.
        cut: whether the text ends at ``max_out_len``.
    """
    offered: dict[str, Any] = {"cut": True} if cut else {}
    if "choices" in columns:
        offered["sample_choices"] = columns["choices"]
    takes = _parameters(postprocessor) if offered else ()
    return postprocessor(text, **{name: value for name, value in offered.items() if name in takes})


@lru_cache(maxsize=64)
def _parameters(postprocessor: Postprocessor) -> Collection[str]:
    try:
        return signature(postprocessor).parameters.keys()
    except (TypeError, ValueError):  # some functions in C have none
        return ()


@contextmanager
def scoring(prediction: Prediction) -> Iterator[None]:
    """Score one sample in the body: whatever its values make a part raise is about this sample alone.

    Raises:
        GoldError: the gold cannot be used.
        PartError: a postprocessor or an evaluator failed.
    """
    try:
        yield
    except AisPromptError as error:
        error.where = error.where or place_of(prediction)
        if isinstance(error, DataError) and not isinstance(error, GoldError):
            raise GoldError(error.what, where=error.where, fix=error.fix) from error
        raise
    except _ODD as error:
        raise PartError(f"scoring raised {exception_line(error)}", where=place_of(prediction), fix=FIX) from error


def place_of(prediction: Prediction) -> str:
    """Return where a sample is, for messages."""
    return f"sample {prediction.sample_id}, row {prediction.index}"


def composed(value: Any) -> Any:
    """Return a value with its texts in the composed form of Unicode (NFC), and without marks of the byte order.

    So é is one letter in whatever way it is written, in an answer and in a gold.
    """
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value.replace("\ufeff", ""))
    if isinstance(value, Mapping):
        return {composed(key): composed(one) for key, one in value.items()}
    return [composed(one) for one in value] if isinstance(value, list | tuple) else value


def _why_unread(prediction: Prediction) -> str:
    if any(completion.unclosed for completion in prediction.completions):
        return UNCLOSED
    if prediction.truncated:
        return CUT
    if prediction.refused:
        return REFUSAL
    return NO_TEXT if _is_nothing(prediction.prediction) else NOTHING_FOUND


def failure_kind(prediction: Prediction) -> str:
    """Return the kind of the first failure."""
    return next(completion.failure.kind for completion in prediction.completions if completion.failure)


def _is_nothing(answer: Any) -> bool:
    return answer is None or (isinstance(answer, str) and not answer.strip())


JudgementOf: TypeAlias = "Callable[[SampleScore, Prediction], Sequence[Replies]]"
"""What judges said about an answer that was read; the sample's ``extracted`` and ``gold`` are what they are shown, and
the prompt of a turn of a dialogue."""


class JudgedScorer(AnswerScorer, frozen=True):
    """Score an answer by a rule where that is conclusive, and by the verdict of a judge otherwise.

    A sample without a verdict failed, which is not the model's fault; its reason begins with "judge".

    Attributes:
        evaluator: makes values of verdicts.
        reader: finds answer and gold, and the status of a sample; it does not compare.
        judgement_of: what the judges said; nothing before they are asked.
    """

    evaluator: JudgeEvaluator
    reader: Scorer
    judgement_of: JudgementOf

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one sample.

        Raises:
            GoldError, PartError: as `Scorer.score`.
        """
        sample = self.reader.score(prediction)
        if not sample.is_read:
            return sample
        with scoring(prediction):
            known = self.evaluator.without_judge(sample.extracted, sample.gold)
            return self._judged(sample, prediction) if known is None else replace(sample, values=self._complete(known))

    def _complete(self, values: Mapping[str, float]) -> dict[str, float]:
        for metric in self.evaluator.metrics:
            if metric not in values:
                where = defined_at(self.evaluator, "without_judge")
                what = f"{type(self.evaluator).__name__} gives no {metric!r}"
                raise PartError(what, where=where, fix="return a value for each of its metrics")
        return dict(values)

    def _judged(self, sample: SampleScore, prediction: Prediction) -> SampleScore:
        from ais_prompt.judges import decide

        replies = self.judgement_of(sample, prediction)
        if not replies:
            return _unjudged(sample, "judge not_judged")
        orders = [tuple(map(self._verdict, one.said)) for one in replies]
        votes = [self._vote(one, verdicts) for one, verdicts in zip(replies, orders, strict=True)]
        if len(votes) > 1 or votes[0].orders or isinstance(self.evaluator, AsksInParts):
            sample = replace(sample, verdicts=tuple(votes))
        panels = [list(panel) for _, panel in groupby(votes, attrgetter("rival"))]
        decided = [values for panel in panels if (values := decide(self.evaluator, panel, sample.gold)) is not None]
        if decided:
            means = {metric: exact_mean([values[metric] for values in decided]) for metric in decided[0]}
            return replace(sample, values=self._complete(means if len(decided) > 1 else decided[0]))
        said = (reply for one in replies for reply in one.said)
        silent = [reply for reply, verdict in zip(said, chain(*orders), strict=True) if verdict is None]
        undecided: str = getattr(self.evaluator, "undecided", "judges undecided")
        return _unjudged(sample, self._why_silent(silent[0]) if silent else undecided)

    def _verdict(self, reply: Prediction) -> str | None:
        if reply.failed:
            return None
        if self._reads_tokens:
            assert isinstance(self.evaluator, ReadsTokens)
            return self.evaluator.verdict_of_tokens(reply.prediction, reply.completions[-1].tokens)
        return self.evaluator.verdict(reply.prediction)

    @property
    def _reads_tokens(self) -> bool:
        return isinstance(self.evaluator, ReadsTokens) and self.evaluator.top_logprobs is not None

    def _why_silent(self, reply: Prediction) -> str:
        """Return why a reply has no verdict."""
        if reply.failed:
            return f"judge {failure_kind(reply)}"
        if self._reads_tokens and not reply.completions[-1].tokens:
            return "judge gave no log-probabilities"
        return "judge cut at max_out_len" if reply.truncated else "judge without verdict"

    def _vote(self, replies: Replies, verdicts: tuple[str | None, ...]) -> JudgeVerdict:
        """Return what one judge said, from its verdict or its verdicts in both orders."""
        if not isinstance(self.evaluator, PanelEvaluator):
            return JudgeVerdict(replies.judge, verdicts[0])
        orders = verdicts if self.evaluator.compares else ()
        return JudgeVerdict(replies.judge, self.evaluator.vote(verdicts), orders, replies.rival)


class _NoComparison(Struct, frozen=True):
    """Stand-in for the evaluator of a scorer that only reads: the answer is compared elsewhere."""

    metrics: tuple[str, ...]

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        return {}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        return []


def _unjudged(sample: SampleScore, reason: str) -> SampleScore:
    return replace(sample, status="failed", values={}, reason=reason)
