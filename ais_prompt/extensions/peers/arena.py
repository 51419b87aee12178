"""Rate the models of a run against a base model, as the Bradley-Terry summarizer of CompassArena does.

It pools the battles of all models on a dataset, and those of all datasets. Source: OpenCompass,
``summarizers/subjective/compass_arena_bradley_terry.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from msgspec import Struct, convert
from numpy.typing import NDArray

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.extensions.peers.code.calls import STYLES
from ais_prompt.extensions.peers.tables import RatingOptions
from ais_prompt.plan import stored_spec
from ais_prompt.steps import step
from ais_prompt.store import RunFolder, read_battles
from ais_prompt.terminal import Column, print_table

if TYPE_CHECKING:
    from rich.console import Console

Battles: TypeAlias = Sequence[Mapping[str, Any]]
"""Comparisons: ``models``, ``points`` of the first, ``styles`` of both as `STYLES` counts them, ``groups`` of the gold.
"""
ALL: Final = "all datasets"
_ROUNDS: Final = 100
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
