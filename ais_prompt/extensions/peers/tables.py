"""What summarizers of OpenCompass compute from the replies of a judge, beyond the function that reads a dataset.

Newer configs name a function that reads the judge. A config with a summarizer of its own shows other numbers: they are
computed here. Source: ``opencompass/summarizers/subjective``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final, TypeAlias

import numpy as np

Output: TypeAlias = Sequence[tuple[str, Mapping[str, Any]]]
"""The replies of a judge, each with what is known of its question."""
Summary: TypeAlias = Callable[[Output, str], dict[str, float]]
"""(replies, the base model of a comparison) → metric → number, the main one first."""

_WILDBENCH: Final = {"A++": 1.0, "A+": 0.5, "A=B": 0.0, "B+": -0.5, "B++": -1.0}


def wildbench_pair(output: Output, base: str) -> dict[str, float]:
    """Return ``score``: the mean of all judgements for the model, from -100 to 100. Others average their categories."""
    points = []
    for reply, known in output:
        choices = re.findall(r"\"choice\": \"(.*?)\"", reply)
        if choices and choices[0] in _WILDBENCH:
            points.append(_WILDBENCH[choices[0]] * (-1 if known["answer1"] == base else 1))
    return {"score": round(100 * fmean(points), 2)} if points else {}


DIMENSIONS: Final = (
    *("事实正确性", "满足用户需求", "安全无害", "清晰度", "逻辑性", "完备性", "创造性", "可负责程度", "逻辑连贯性"),
    *("公平与可负责程度", "丰富度", "综合得分"),
)
_OVERALL: Final = "综合得分"


def alignbench_dimensions(output: Output, base: str = "") -> dict[str, float]:  # noqa: ARG001  # a `Summary`
    """Return the mean rating of each dimension, over the replies whose ratings can all be used."""
    given: dict[str, list[int]] = defaultdict(list)
    for reply, _ in output:
        last = re.search(r"{(.*?)}(?![^{]*{)", reply.replace("\n", ""))
        rating = {key: int(value) for key, value in re.findall(r"'(.*?)': (\d+)", last[1])} if last else {}
        if _OVERALL in rating and all(key in DIMENSIONS and value <= 10 for key, value in rating.items()):
            for key, value in rating.items():
                given[key].append(value)
    return {key: round(fmean(values), 2) for key, values in given.items()}


_ANCHOR: Final = "gpt4-0314"
"""The base model of Arena-Hard, whose rating is fixed."""
_STRONG: Final = 3
"""How often a clear win counts."""
_ROUNDS: Final = 100
_SEED: Final = 42


def arena_hard(output: Output, base: str) -> dict[str, float]:
    """Return ``score``, the win rate in percent by a Bradley-Terry model, and its bounds ``lower`` and ``upper``.

    The bounds are those of the ratings of both models over 100 bootstrap rounds. Only the anchor has a fixed rating:
    that of any other base model varies too.
    """
    points = np.array(
        [point for reply, known in output for point in _battles(reply, is_first=known["answer2"] == base)]
    )
    if not len(points):
        return {}
    drawn = np.random.RandomState(_SEED)
    rounds = np.array([_lead(points[drawn.choice(len(points), len(points))]) for _ in range(_ROUNDS)])
    share = 1.0 if base == _ANCHOR else 0.5
    own, others = share * rounds, (share - 1) * rounds
    found = {"score": _win_rate(_lead(points))}
    for name, quantile in (("lower", 2.5), ("upper", 97.5)):
        found[name] = _win_rate(float(np.percentile(own, quantile) - np.percentile(others, quantile)))
    return found


def _battles(reply: str, *, is_first: bool) -> list[float]:
    """Return the points of the model for a reply, once or several times; none if it names no winner."""
    said = re.findall(r"\[\[([AB<>=]+)\]\]", reply)
    winner = {"A=B": 0.5, "A>B": 1.0, "A>>B": 1.0, "B>A": 0.0, "B>>A": 0.0}.get(said[0]) if said else None
    if winner is None:
        return []
    return [winner if is_first else 1 - winner] * (_STRONG if ">>" in said[0] else 1)


def _lead(points: Any) -> float:
    """Return by how many Elo points the model leads; infinite if it won or lost every battle."""
    share = float(np.mean(points))
    if share in (0.0, 1.0):
        return math.inf if share else -math.inf
    return 400 * math.log10(share / (1 - share))


def _win_rate(lead: float) -> float:
    """Return how often the leader wins, in percent."""
    return round(100 / (1 + 10 ** (-lead / 400)), 2) if lead > -math.inf else 0.0


SUMMARIES: Final[Mapping[str, Summary]] = {
    "AlignmentBenchSummarizer": alignbench_dimensions,
    "ArenaHardSummarizer": arena_hard,
    "WildBenchPairSummarizer": wildbench_pair,
}
"""Summarizer → what it computes beyond the function of its benchmark."""
