"""Score one sample: find the answer, and compare it with the gold."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import AisPromptError, DataError, GoldError, PartError
from ais_prompt.evaluators import AcceptsSilence, Evaluator, OwnEvaluator, unread_value
from ais_prompt.parts import exception_line
from ais_prompt.plan import Postprocessor, read_answer
from ais_prompt.types import REFUSAL, Extraction, Prediction, SampleScore, Score, Status

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


class Scorer(Struct, frozen=True):
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
        where = place_of(prediction)
        gold = self._gold(prediction, where)
        if prediction.failed:
            return SampleScore(prediction.sample_id, "failed", None, gold, reason=failure_kind(prediction))
        if isinstance(prediction.prediction, list):
            raise DataError("there are several answers to this question, and one to the first", where=where, fix=SAME)
        with scoring(where):
            return self._compare(prediction, gold)

    def _compare(self, prediction: Prediction, gold: Any) -> SampleScore:
        """Find the answer, and compare it with the gold."""
        said = prediction.prediction
        text = self.text_of(said) if isinstance(said, str) else said
        found = read_answer(self.answer_of, text, prediction.columns, cut=prediction.truncated)
        # Evaluators and files get plain text; where it was read is kept beside it.
        answer, readings = (str(found), (found.reading,)) if isinstance(found, Extraction) else (found, ())
        if _is_nothing(answer) and not self._accepts_silence(prediction, gold):
            return self._unread(prediction, gold)
        values = dict(self.evaluator.score(composed(answer), composed(gold)))
        if prediction.truncated:
            return SampleScore(prediction.sample_id, "truncated", answer, gold, values, CUT, readings=readings)
        reason = REFUSAL if prediction.refused else ""
        return SampleScore(prediction.sample_id, "scored", answer, gold, values, reason, readings=readings)

    def _accepts_silence(self, prediction: Prediction, gold: Any) -> bool:
        """Return whether a model that said nothing, and was not interrupted, is right."""
        whole = _is_nothing(prediction.prediction) and _why_unread(prediction) == NO_TEXT
        return whole and isinstance(self.evaluator, AcceptsSilence) and self.evaluator.accepts_silence(gold)

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a sample that does not count in the value."""
        return SampleScore(prediction.sample_id, "failed", None, prediction.gold, reason=reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)

    def _gold(self, prediction: Prediction, where: str) -> Any:
        try:
            return self.gold_of(prediction.gold)
        except PartError:
            raise
        except AisPromptError as error:
            raise GoldError(error.what, where=error.where or where, fix=error.fix) from error
        except Exception as error:  # what one of ours makes of odd values
            what = f"dataset_postprocessor raised {exception_line(error)}"
            raise GoldError(what, where=where, fix=FIX) from error

    def _unread(self, prediction: Prediction, gold: Any) -> SampleScore:
        """Return the score of an answer in which nothing was found; a truncated one counts as truncated."""
        if not isinstance(self.evaluator, OwnEvaluator):
            # Raises if there is no gold: the sample fails, whatever was said.
            self.evaluator.score(None, composed(gold))
        status: Status = "truncated" if prediction.truncated else "unparsed"
        values = {metric: unread_value(self.evaluator, metric) for metric in self.evaluator.metrics}
        return SampleScore(prediction.sample_id, status, None, gold, values, _why_unread(prediction))


@contextmanager
def scoring(where: str) -> Iterator[None]:
    """Score one sample in the body: whatever its values make a part raise is about this sample alone.

    Raises:
        GoldError: the gold cannot be used.
        PartError: a postprocessor or an evaluator failed.
    """
    try:
        yield
    except AisPromptError as error:
        error.where = error.where or where
        if isinstance(error, DataError) and not isinstance(error, GoldError):
            raise GoldError(error.what, where=error.where, fix=error.fix) from error
        raise
    except _ODD as error:
        raise PartError(f"scoring raised {exception_line(error)}", where=where, fix=FIX) from error


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
