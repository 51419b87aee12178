"""Score a dialogue of which each turn was asked: each turn like a sample, then all together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import GoldError
from ais_prompt.evaluators.base import best_of, worst_of
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.scoring.judges.scorer import JudgedScorer
from ais_prompt.scoring.scorer import Scorer, failure_kind
from ais_prompt.types import Prediction, SampleScore, Score, Status

WORST_FIRST: Final[tuple[Status, ...]] = ("truncated", "unparsed", "scored")


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

    turn: Scorer | JudgedScorer

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
        worst = min(turns, key=lambda turn: WORST_FIRST.index(turn.status))
        return SampleScore(
            sample_id=prediction.sample_id,
            status=worst.status,
            extracted=[turn.extracted for turn in turns],
            gold=[turn.gold for turn in turns],
            values=self._values(turns),
            reason=worst.reason and f"{worst.reason} in a turn",
            readings=tuple(turn.readings[0] if turn.readings else None for turn in turns),
            verdicts=tuple(verdict for turn in turns for verdict in turn.verdicts),
        )

    def _values(self, turns: Sequence[SampleScore]) -> dict[str, float]:
        """Return each metric over the turns: its mean, and of the whole dialogue the worst."""
        values: dict[str, float] = {}
        for metric in self.turn.evaluator.metrics:
            each = [turn.values.get(metric, 0.0) for turn in turns]
            values |= {metric: statistics.mean(each), _of_dialogue(metric): min(each)}
        return values

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a dialogue that does not count in the values."""
        return self.turn.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the mean of each metric over the answered dialogues, by turns and as a whole."""
        evaluator = self.turn.evaluator
        metrics = (*evaluator.metrics, *map(_of_dialogue, evaluator.metrics))
        return mean_scores(metrics, samples, best_of(evaluator), worst=worst_of(evaluator))


def _turns(prediction: Prediction) -> Iterator[Prediction]:
    """Yield each turn of a dialogue as if it was a sample."""
    answers, golds = prediction.prediction, prediction.gold
    if not (isinstance(answers, list) and isinstance(golds, list) and len(answers) == len(golds)):
        raise GoldError(
            f"there is not one gold for each answer of the dialogue: {_shortened(golds)} for {_shortened(answers)}",
            where=f"sample {prediction.sample_id}, row {prediction.index}",
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


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _of_dialogue(metric: str) -> str:
    return f"dialogue_{metric}"
