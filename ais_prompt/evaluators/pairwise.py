"""Win rate against a baseline: a judge compares two answers to each question, in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias, get_args

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators.judge import majority, make_postprocessor
from ais_prompt.metrics.aggregate import Estimate, estimated_means, mean_scores
from ais_prompt.postprocess.judge import only_tag
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import JudgeVerdict, SampleScore, Score

OrderChange: TypeAlias = Literal["tie", "mean", "undecided"]
"""What a verdict is that changes with the order of the answers."""
FIRST: Final = "first"
SECOND: Final = "second"
TIE: Final = "tie"
ORDER_CHANGED: Final = "order_changed"
_POINTS: Final = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}


@EVALUATORS.register_module()
class PairwiseEvaluator:
    """Win rate against a baseline by a judge, who is asked about each pair of answers in both orders.

    ``{prediction}`` is the answer that the judge sees first, ``{prediction2}`` the second one. A win counts 1, a tie
    0.5 and a loss 0; ``wins`` and ``ties`` are their shares, the rest are losses. An empty answer is a loss.
    ``order_changed`` is the share of verdicts that changed with the order: the position bias of the judge. A question
    with an order without a verdict fails; it is no loss.

    The turns of a dialogue are compared one by one. ``{conversation}`` is what was said before ``{prediction}``, and
    ``{conversation2}`` what was said before ``{prediction2}``.

    The config gives the judges, their prompt and the other answers beside the arguments: ``judge_cfg``,
    ``prompt_template`` and ``baseline``, a column, a model of the run, or an earlier run.

    Several judges decide by majority; with ``order_change="mean"`` the mean of their points counts.

    Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", section 3.4 (a win is a win in
    both orders).

    Args:
        first, second, tie: what the prompt tells the judge to say, each a text or a list of texts with one meaning:
            ``first=["A>>B", "A>B"]``.
        order_change: what a verdict is that changes with the order: a ``"tie"``; the ``"mean"`` of both, as in
            Arena-Hard; or ``"undecided"``, which leaves the question out as failed.
        verdict_postprocessor: finds one of these texts in the answer of the judge.

    Raises:
        ConfigError: ``order_change`` is another word, or a text has two meanings.
    """

    metrics: tuple[str, ...] = ("win_rate", "wins", "ties", ORDER_CHANGED)
    compares: Final = True

    def __init__(
        self,
        first: str | Sequence[str] = "A",
        second: str | Sequence[str] = "B",
        tie: str | Sequence[str] = "C",
        order_change: OrderChange = "tie",
        verdict_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        if order_change not in get_args(OrderChange):
            fix = "write one of 'tie', 'mean', 'undecided'"
            raise ConfigError(f"order_change is {order_change!r:.60}", where="order_change", fix=fix)
        self.order_change = order_change
        self._meanings: dict[str, str] = {}
        for meaning, texts in ((FIRST, first), (SECOND, second), (TIE, tie)):
            for text in [texts] if isinstance(texts, str) else texts:
                if self._meanings.setdefault(text, meaning) != meaning:
                    what = f"{text!r} means {self._meanings[text]!r} and {meaning!r}"
                    raise ConfigError(what, where=meaning, fix="give each meaning texts of its own")
        self._tag = make_postprocessor(verdict_postprocessor)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # the judge has seen the gold
        """Return the values of a vote: 1 for a win, 0.5 for a tie, 0 for a loss, or a mean of these."""
        points = float(extracted)
        return {
            "win_rate": points,
            "wins": float(points > 0.5),
            "ties": float(points == 0.5),
        }

    def without_judge(self, extracted: Any, gold: Any) -> None:
        """Return None: the judge is always asked."""

    def verdict(self, text: str) -> str | None:
        """Return ``first``, ``second`` or ``tie``; None if the judge says none of them."""
        tag = only_tag(text, tuple(self._meanings)) if self._tag is None else self._tag(text)
        return None if tag is None else self._meanings.get(str(tag))

    def vote(self, verdicts: Sequence[str | None]) -> float | None:
        """Return the points of the model from the verdicts in both orders; None if it is undecided.

        Args:
            verdicts: with the answer of the model first, then with that of the baseline first.
        """
        as_first, as_second = verdicts
        if as_first is None or as_second is None:
            return None
        points = _POINTS[as_first], 1 - _POINTS[as_second]
        if points[0] == points[1] or self.order_change == "mean":
            return fmean(points)
        return 0.5 if self.order_change == "tie" else None

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the values of a question from the votes of all judges; None if they decide nothing."""
        votes = [one.vote for one in panel]
        if self.order_change == "mean":
            known = [float(vote) for vote in votes if vote is not None]
            points: str | float | None = fmean(known) if 2 * len(known) > len(votes) else None
        else:
            points = majority(votes)
        if points is None:
            return None
        return {**self.score(points, gold), ORDER_CHANGED: fmean(_changed(panel))}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means; the two orders of a question are one unit, and bias is that of judged answers."""
        shares = mean_scores(self.metrics[:-1], scores)
        return shares + estimated_means((ORDER_CHANGED,), lambda score: [_order_changed(score)], scores)


def _order_changed(score: SampleScore) -> Estimate:
    """Return how often the order changed the verdict on a question; an answer that was not judged does not count."""
    answers = score.repeats or (score,)
    # An answer that is undecided because the order changed the verdict has failed, and has no values.
    known = [fmean(each) for each in (_changed(one.verdicts) for one in answers) if each]
    changed = sum(known)
    least, most = changed / len(answers), (changed + len(answers) - len(known)) / len(answers)
    return Estimate(changed / len(known) if known else None, least, most)


def _changed(panel: Sequence[JudgeVerdict]) -> list[float]:
    """Return 1 for each judge whose verdict depends on the order, and 0 for others that gave both verdicts."""
    return [float(_changes(*one.orders)) for one in panel if one.orders and None not in one.orders]


def _changes(as_first: str | None, as_second: str | None) -> bool:
    """Return whether the verdict depends on which answer comes first."""
    return as_first != {FIRST: SECOND, SECOND: FIRST}.get(as_second or "", as_second)
