"""What summarizers of OpenCompass compute from the replies of a judge, beyond the function that reads a dataset.

Newer configs name a function that reads the judge. A config with a summarizer of its own shows other numbers: they are
computed here. The Bradley-Terry summarizer of CompassArena rates the models of a run against a base model: it pools the
battles of all models on a dataset, and those of all datasets. Source: ``opencompass/summarizers/subjective``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from msgspec import Struct, convert
from numpy.typing import NDArray

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.extensions.peers.code.calls import STYLES
from ais_prompt.steps import step

if TYPE_CHECKING:
    from rich.console import Console

    from ais_prompt.store import RunFolder


class Judgements(Struct, frozen=True):
    """What a judge said of the answers of a model, or of its answers beside those of a base model.

    Attributes:
        replies: each with what is known of its question.
        base: the base model; empty if answers are rated alone.
        args: arguments of the summarizer.
    """

    replies: Sequence[tuple[str, Mapping[str, Any]]]
    base: str = ""
    args: Mapping[str, Any] = {}


RATES: Final = "CompassArenaBradleyTerrySummarizer"
"""The summarizer that rates all models of a run, see `ratings_of`."""


RATES_SHOWN: Final = ("rating_system", "report_pred_win_rates", "odds_ratio", "num_bootstrap", "num_cpu")
"""Arguments of `RATES` that change no rating."""


class RatingOptions(Struct, frozen=True):
    """Arguments of `RATES`.

    Attributes:
        with_control_vars: whether style and groups are covariates.
        normalize_style_features: whether covariates of style are standardized.
        groups: keys of the gold, each of whose values is a covariate.
    """

    with_control_vars: bool = True
    normalize_style_features: bool = True
    groups: Sequence[str] | None = None


Summary: TypeAlias = Callable[[Judgements], dict[str, float]]
"""Judgements → metric → number, the main one first."""

_CHOICES: Final = {"A++": 1.0, "A+": 0.5, "A=B": 0.0, "B+": -0.5, "B++": -1.0}


def paired_choices(said: Judgements) -> dict[str, float]:
    """Return ``score``: the mean of all judgements for the model, from -100 to 100.

    The function of WildBench averages its categories instead.
    """
    points = []
    for reply, known in said.replies:
        choices = re.findall(r"\"choice\": \"(.*?)\"", reply)
        if choices and choices[0] in _CHOICES:
            points.append(_CHOICES[choices[0]] * (-1 if known["answer1"] == said.base else 1))
    return {"score": _percent(points)} if points else {}


def _percent(points: Sequence[float]) -> float:
    return round(math.fsum(points) / len(points) * 100, 2)


def compass_arena(said: Judgements) -> dict[str, float]:
    """Return ``score``: the share of comparisons that the model won, in percent.

    A tie counts nothing, or half with ``summary_type='half_add'``. The function of CompassArena has categories only.
    """
    tie = 0.5 if said.args.get("summary_type") == "half_add" else 0.0
    points = []
    for reply, known in said.replies:
        if found := re.findall("(?:选择：|Choice: )([ABC])", reply):
            own = "B" if known["answer1"] == said.base else "A"
            points.append(tie if found[0] == "C" else float(found[0] == own))
    return {"score": _percent(points)} if points else {}


RATED: Final = "rated"
"""The number of answers whose rating was read."""


def mt_bench(said: Judgements) -> dict[str, float]:
    """Return ``total``, the mean rating, and how many answers it is the mean of, as `RATED`.

    The function of MT-Bench rounds the mean; several temperatures are joined before they round it.
    """
    read = (re.search(r"Rating:\s*\[\[([\d.]+)\]\]", reply) for reply, _ in said.replies)
    ratings = [float(found[1]) for found in read if found]
    return {"total": fmean(ratings), RATED: float(len(ratings))} if ratings else {}


def mt_bench_101(said: Judgements) -> dict[str, float]:
    """Return ``average``, the mean over tasks of the mean over conversations of the lowest rating of a turn.

    The function of MT-Bench-101 calls it ``avg``.
    """
    ratings: dict[Any, dict[Any, int]] = defaultdict(dict)
    for reply, known in said.replies:
        if found := re.search(r"\[([0-9]+)\]", reply):
            talks, talk, rating = ratings[known["task"]], known["multi_id"], int(found[1])
            talks[talk] = min(rating, talks.get(talk, rating))
    means = [fmean(talks.values()) for talks in ratings.values()]
    return {"average": round(fmean(means), 2)} if means else {}


DIMENSIONS: Final = (
    *("事实正确性", "满足用户需求", "安全无害", "清晰度", "逻辑性", "完备性", "创造性", "可负责程度", "逻辑连贯性"),
    *("公平与可负责程度", "丰富度", "综合得分"),
)
_OVERALL: Final = "综合得分"


_CATEGORIES: Final = {
    "中文推理总分": ("数学计算", "逻辑推理"),
    "中文语言总分": ("基本任务", "中文理解", "综合问答", "文本写作", "角色扮演", "专业能力"),
}
"""Mean → the capabilities that it is the mean of; one without a rating counts as 0 there."""


def alignbench(said: Judgements) -> dict[str, float]:
    """Return the mean rating of all, of each capability and of each dimension, over the ratings that can all be used.

    Only the reading for ``judge_type='general'`` is known.
    """
    dimensions: dict[str, list[int]] = defaultdict(list)
    capabilities: dict[str, list[int]] = defaultdict(list)
    for reply, known in said.replies if said.args.get("judge_type", "general") == "general" else ():
        last = re.search(r"{(.*?)}(?![^{]*{)", reply.replace("\n", ""))
        rating = {key: int(value) for key, value in re.findall(r"'(.*?)': (\d+)", last[1])} if last else {}
        if _OVERALL in rating and all(key in DIMENSIONS and value <= 10 for key, value in rating.items()):
            capabilities[known["capability"]].append(rating[_OVERALL])
            for key, value in rating.items():
                dimensions[key].append(value)
    if not capabilities:
        return {}
    means = dict.fromkeys((name for parts in _CATEGORIES.values() for name in parts), 0.0)
    means |= {name: round(fmean(values), 2) for name, values in capabilities.items()}
    categories = {name: round(fmean(means[one] for one in parts), 2) for name, parts in _CATEGORIES.items()}
    whole = {"总分": round(fmean(categories.values()), 2), **categories, **means}
    return whole | {name: round(fmean(values), 2) for name, values in dimensions.items()}


_ANCHOR: Final = "gpt4-0314"
"""The base model of Arena-Hard, whose rating is fixed."""
_STRONG: Final = 3
"""How often a clear win counts."""
_ROUNDS: Final = 100
_SEED: Final = 42


def arena_hard(said: Judgements) -> dict[str, float]:
    """Return ``score``, the win rate in percent by a Bradley-Terry model, and its bounds ``lower`` and ``upper``.

    The bounds are those of the ratings of both models over 100 bootstrap rounds. Only the anchor has a fixed rating:
    that of any other base model varies too.
    """
    points = np.array(
        [point for reply, known in said.replies for point in _battles(reply, is_first=known["answer2"] == said.base)]
    )
    if not len(points):
        return {}
    drawn = np.random.RandomState(_SEED)
    rounds = np.array([_lead(points[drawn.choice(len(points), len(points))]) for _ in range(_ROUNDS)])
    share = 1.0 if said.base == _ANCHOR else 0.5
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
    "AlignmentBenchSummarizer": alignbench,
    "ArenaHardSummarizer": arena_hard,
    "CompassArenaSummarizer": compass_arena,
    "CompassBenchSummarizer": paired_choices,
    "MTBench101Summarizer": mt_bench_101,
    "MTBenchSummarizer": mt_bench,
    "WildBenchPairSummarizer": paired_choices,
}
"""Summarizer → what it computes beyond the function of its benchmark."""


Battles: TypeAlias = Sequence[Mapping[str, Any]]
"""Comparisons: ``models``, ``points`` of the first, ``styles`` of both as `STYLES` counts them, ``groups`` of the gold.
"""
ALL: Final = "all datasets"
_RIDGE: Final = (0.5 / math.log(10) ** 2, 0.5)
"""Chatbot Arena's style control: a prior of 0.5 on ratings in powers of ten, and on coefficients."""


class ArenaRow(Struct, frozen=True):
    """A row of the table.

    Attributes:
        model_name: of the model.
        rating: on the scale of Elo, where the base model has 1000.
        rating_q025, rating_q975: its interval of 95 %; None if unknown.
        predicted_win_rate: against the base model, covariates being equal.
        num_battles: in which it was.
    """

    model_name: str
    rating: float
    rating_q025: float | None
    rating_q975: float | None
    predicted_win_rate: float
    num_battles: int


class ArenaTable(Struct, frozen=True):
    """The ratings on a dataset.

    Attributes:
        dataset: its ``abbr``, or `ALL`.
        base_model: the model with the rating 1000.
        judge: of several; else empty.
        rows: the best model first.
        odds: covariate → by what it multiplies the odds of a win.
    """

    dataset: str
    base_model: str
    judge: str
    rows: Sequence[ArenaRow]
    odds: Mapping[str, float]


def ratings_of(battles: Battles, base: str, options: RatingOptions, resamples: int = _ROUNDS) -> Any:
    """Rate models, as the step ``rate`` does.

    Args:
        battles: at least one.
        base: the model whose rating is 0.
        options: of the summarizer.
        resamples: of the bootstrap.

    Raises:
        ConfigError: the extension that rates models is not here.
    """
    if (rate := step("rate")) is None:
        what = f"the extension {missing_extension('rate')!r} rates models, and is not here"
        raise ConfigError(what, fix=REINSTALL)
    names: list[str] = []
    columns: list[list[float]] = []
    if options.with_control_vars:
        first, second = zip(*(one["styles"] for one in battles), strict=True)
        names += STYLES
        columns += style_control(first, second, standardize=options.normalize_style_features).T.tolist()
        for key in options.groups or ():
            values = [one["groups"].get(key) for one in battles]
            for value in dict.fromkeys(values):
                names.append(f"{key}_{value}")
                columns.append([float(one == value) for one in values])
    rows = zip(*columns, strict=True) if columns else [()] * len(battles)
    # Each battle is a question of its own: theirs draws single battles too.
    fought = [
        (*one["models"], one["points"], str(number), tuple(features))
        for number, (one, features) in enumerate(zip(battles, rows, strict=True))
    ]
    ridge = _RIDGE if options.with_control_vars else (0.0, 0.0)
    return rate(fought, features=names, position=False, ties="half", anchor=base, ridge=ridge, resamples=resamples)


def style_control(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], standardize: bool = True
) -> NDArray[np.float64]:
    """Return the covariates of Chatbot Arena's style control: relative differences, standardized.

    Each is ``(a - b) / (a + b + 1)``, less its mean over all battles, divided by its standard deviation. The first
    version of Arena-Hard and OpenCompass's ``CompassArenaBradleyTerrySummarizer`` use the same formula, with the counts
    of tokens, Markdown headers, list items and bold texts.

    Source: Li, Angelopoulos and Chiang 2024, "Does Style Matter? Disentangling Style and Substance in Chatbot Arena"
    (LMSYS blog), and FastChat's ``rating_systems.py``.

    Args:
        first, second: counts of the answers of each battle; shape (battles, counts).
        standardize: False returns the relative differences.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    relative: NDArray[np.float64] = (a - b) / (a + b + 1)
    if not standardize:
        return relative
    spread, centred = relative.std(axis=0), relative - relative.mean(axis=0)
    found: NDArray[np.float64] = np.divide(centred, spread, out=np.zeros_like(relative), where=spread > 0)
    return found


Pools: TypeAlias = Mapping[tuple[str, str, str], Battles]
"""Judge (empty if it is the only one), dataset and base model → battles of all models."""


def tables_of(folder: RunFolder) -> Iterator[ArenaTable]:
    """Return the ratings of a run as `tables`; nothing if no function of its evaluators returns battles.

    Raises:
        AisPromptError: the run cannot be read.
    """
    from ais_prompt.plan import stored_spec  # a translation does without
    from ais_prompt.store import read_battles

    options = RatingOptions()
    pools: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for task in stored_spec(folder).tasks:
        path = folder.results(task.model.abbr, task.dataset.abbr)
        evaluator = task.dataset.eval.evaluator
        if evaluator is None or evaluator.type != "PeerJudgeEvaluator" or not path.is_file():
            continue
        options = convert(evaluator.args.get("ratings") or {}, RatingOptions)
        for battle in read_battles(path):
            pools.setdefault((battle.get("judge", ""), task.dataset.abbr, battle["base"]), []).append(battle)
    return tables(pools, options)


def tables(pools: Pools, options: RatingOptions) -> Iterator[ArenaTable]:
    """Yield the ratings by each judge on each dataset against each base model, then those on all datasets together."""
    for judge in dict.fromkeys(key[0] for key in pools):
        ours = {(dataset, base): battles for (one, dataset, base), battles in pools.items() if one == judge}
        for (dataset, base), battles in ours.items():
            yield _table(dataset, base, judge, battles, options)
        # Theirs takes the battles with the first base model of each dataset, and anchors that of the last dataset.
        firsts = dict(reversed(ours))
        if len(firsts) > 1:
            *_, last = dict.fromkeys(dataset for dataset, _ in ours)
            whole = [battle for key in firsts.items() for battle in ours[key]]
            yield _table(ALL, firsts[last], judge, whole, options)


def _table(dataset: str, base: str, judge: str, battles: Battles, options: RatingOptions) -> ArenaTable:
    found = ratings_of(battles, base, options)
    rows = []
    for one in found.models:
        low, high = (None, None) if one.interval is None else map(_elo, one.interval)
        rate = round(1 / (1 + math.exp(-one.rating)), 4)
        rows.append(ArenaRow(one.model, _elo(one.rating), low, high, rate, one.battles))
    odds = {one.name: math.exp(one.value) for one in found.effects if one.value is not None}
    return ArenaTable(dataset, base, judge, rows, odds)


def _elo(rating: float) -> float:
    return 1000 + rating * 400 / math.log(10)


def print_table_of(table: ArenaTable, console: Console) -> None:
    """Print ratings, with the names of columns that OpenCompass has."""
    from ais_prompt.terminal import Column, print_table

    judge = f" by {table.judge}" if table.judge else ""
    heading = f"\n{table.dataset}{judge}: bt_rating · {table.base_model} is 1000"
    console.print(heading, highlight=False, markup=False)
    columns = [Column("ranking"), Column("model_name", is_name=True, right=False)]
    columns += [Column(name) for name in ("rating", "interval", "predicted_win_rate", "num_battles")]
    print_table(columns, [_cells(number, row) for number, row in enumerate(table.rows, 1)], console)
    if table.odds:
        odds = " · ".join(f"{name} {value:.2f}" for name, value in table.odds.items())
        console.print(f"  odds ratios: {odds}", highlight=False, markup=False, soft_wrap=True)


def _cells(number: int, row: ArenaRow) -> list[str]:
    known = row.rating_q025 is not None and row.rating_q975 is not None
    interval = f"{row.rating_q025:.0f}–{row.rating_q975:.0f}" if known else ""
    rates = (f"{row.rating:.2f}", interval, f"{row.predicted_win_rate:.4f}", f"{row.num_battles:,}")
    return [str(number), row.model_name, *rates]
