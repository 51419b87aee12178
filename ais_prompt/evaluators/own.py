"""Evaluators of users: a class, or a function ``(prediction, gold) -> float``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import ConfigError, PartError
from ais_prompt.evaluators.base import Evaluator, less_is_better
from ais_prompt.metrics import mean_scores
from ais_prompt.parts import GuardedPart, calling, defined_at, guarded_call
from ais_prompt.registry import EVALUATORS, is_shipped
from ais_prompt.types import STATUSES, SampleScore, Score

_WRITE: Final = "write `def score(self, extracted, gold)` that returns {'accuracy': 1.0} for one sample"


def make_evaluator(kind: str, args: Mapping[str, Any], **offered: Any) -> Evaluator:
    """Make an evaluator.

    Args:
        kind: its registered name, or the dotted path of a class or function.
        args: its arguments.
        offered: as for `PartRegistry.make`.

    Raises:
        ConfigError: there is no such evaluator, it refuses its arguments, or it is not an evaluator.
    """
    part = EVALUATORS.get(kind)
    if is_scoring_function(part, args):
        return _guarded(OwnEvaluator(part, kind, partial(part, **args), metrics=None, aggregate=None), kind)
    made = EVALUATORS.make(kind, args, **offered)
    if is_shipped(type(made)):
        return made  # type: ignore[no-any-return]
    if not callable(score := getattr(made, "score", None)):
        raise ConfigError(f"{kind} is no evaluator: it has no score()", where=defined_at(made), fix=_WRITE)
    _refuse_whole_lists(score, kind)
    metrics, aggregate = _metrics(made, kind), getattr(made, "aggregate", None)
    return _guarded(OwnEvaluator(made, kind, score, metrics, aggregate), kind)


def _guarded(evaluator: OwnEvaluator, kind: str) -> Evaluator:
    """Return the evaluator with the other protocols of its part, such as that of a judge."""
    held: Any = GuardedPart(evaluator, EVALUATORS.protocols(), kind)
    return held  # type: ignore[no-any-return]


def is_scoring_function(part: Callable[..., Any], args: Mapping[str, Any]) -> bool:
    """Return whether a part is a scoring function: ``args`` leave its first two parameters, answer and gold, open."""
    if not inspect.isroutine(part):
        return False
    try:
        parameters = list(inspect.signature(part).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [one for one in parameters[:2] if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len([one for one in positional if one.default is one.empty and one.name not in args]) == 2


class OwnEvaluator:
    """An evaluator of a user, with defaults for what it leaves out. Other attributes are those of the part.

    Without ``aggregate``, the scores are the means of the metrics. Without ``metrics``, they are those of the first
    sample that is scored; a single number is called after the function, or ``score``.

    Args:
        part: the user's object or function.
        name: the part, as the config calls it.
        score, aggregate: its methods; None for an ``aggregate`` that is missing.
        metrics: the names of its metrics; None if they are missing.
    """

    def __init__(
        self,
        part: Any,
        name: str,
        score: Callable[..., Any],
        metrics: tuple[str, ...] | None,
        aggregate: Callable[..., Any] | None,
    ) -> None:
        self.metrics: tuple[str, ...] = metrics or ()
        self.__wrapped__ = part
        self._name = name
        self._score = guarded_call(score, Any, f"{name}.score")
        self._aggregate = guarded_call(aggregate, list[Score], f"{name}.aggregate") if aggregate else None
        self._only_metric = part.__name__ if inspect.isroutine(part) else "score"

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the values of one sample.

        Raises:
            PartError: the part fails, or does not return a number for each metric.
        """
        return self._values(self._score(extracted, gold))

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the part, or the means of its metrics.

        Raises:
            PartError: the part fails, or does not return a list of scores.
        """
        if self._aggregate is None:
            beyond = {name for score in scores for name, value in score.values.items() if not 0 <= value <= 1}
            means: list[Score] = []
            for name in self.metrics or (self._only_metric,):
                best = None if name in beyond else 1.0
                means += mean_scores((name,), scores, best, lower_is_better=less_is_better(self, name))
            return means
        found: list[Score] = self._aggregate(scores)
        if not found:
            raise self._wrong("aggregate gives no score", "return one Score for each of `metrics`")
        if any(set(STATUSES) - score.counts.keys() for score in found):
            fix = "count them with ais_prompt.metrics.aggregate.AnswerCounts, or leave aggregate out"
            raise self._wrong(f"aggregate gives a Score whose counts are not of {', '.join(STATUSES)}", fix)
        if getattr(self, "lower_is_better", None) is None:
            return found
        return [replace(one, lower_is_better=less_is_better(self, one.metric)) for one in found]

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # not set yet
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def _values(self, result: Any) -> Mapping[str, float]:
        if not isinstance(result, Mapping):
            result = {(*self.metrics, self._only_metric)[0]: result}
        self.metrics = self.metrics or tuple(result)
        if missing := [metric for metric in self.metrics if metric not in result]:
            raise self._wrong(f"score gives no {missing[0]!r} but {', '.join(map(repr, result)) or 'nothing'}", _WRITE)
        values: dict[str, float] = {}
        for metric in self.metrics:
            try:
                values[metric] = float(result[metric])
            except (TypeError, ValueError):
                what = f"score gives {result[metric]!r:.60} ({type(result[metric]).__name__}) as {metric!r}"
                raise self._wrong(f"{what}, which is no number", _WRITE) from None
        return values

    def _wrong(self, what: str, fix: str) -> PartError:
        return PartError(f"{self._name}.{what}", where=defined_at(self.__wrapped__, what.partition(" ")[0]), fix=fix)


def _metrics(made: Any, kind: str) -> tuple[str, ...] | None:
    with calling(f"{kind}.metrics", made):
        metrics = getattr(made, "metrics", None)
    names = [metrics] if isinstance(metrics, str) else metrics
    if names is None:
        return None
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        what = f"{kind}.metrics is {metrics!r:.60}, not a tuple of names"
        raise ConfigError(what, where=defined_at(made), fix="write metrics = ('accuracy',)")
    return tuple(names)


def _refuse_whole_lists(score: Callable[..., Any], kind: str) -> None:
    """Refuse an evaluator of OpenCompass, which receives all answers at once."""
    try:
        names = [*inspect.signature(score).parameters]
    except (TypeError, ValueError):
        return
    if names[:2] in (["predictions", "references"], ["references", "predictions"]):
        what = f"{kind} scores all predictions at once, as evaluators of OpenCompass do; here each sample is scored"
        raise ConfigError(what, where=defined_at(score), fix=_WRITE)
