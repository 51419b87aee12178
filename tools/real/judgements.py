"""Record what public scorers compute from verdicts of judges: ``python -m tools.real.judgements``.

It runs the code of Arena-Hard and of simple-evals in folders that you give, on verdicts that are drawn here, and writes
verdicts and numbers to ``tests/data/judgements``. Tests compare these numbers with those of this program. Check out
https://github.com/lmarena/arena-hard-auto and https://github.com/openai/simple-evals for the folders.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Final

import click
import numpy as np

from tools.real.agents import ROOT

TABLES: Final = ROOT / "tests" / "data" / "judgements"
BASELINE: Final = "o3-mini-2025-01-31"
"""The model that their code compares with in the category ``hard_prompt``."""
STRENGTHS: Final = {"large": 0.9, "middle": 0.1, "small": -0.8}
QUESTIONS: Final = 60
LABELS: Final = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
STYLES: Final = ("token_len", "header_count", "list_count", "bold_count")
SEED: Final = 7


@click.command()
@click.option("--arena-hard", type=click.Path(exists=True, path_type=Path), metavar="DIR", help="Code of Arena-Hard.")
@click.option(
    "--simple-evals", type=click.Path(exists=True, path_type=Path), metavar="DIR", help="Code of simple-evals."
)
def main(arena_hard: Path | None, simple_evals: Path | None) -> None:
    """Write the tables of the counterparts whose folders are given."""
    TABLES.mkdir(exist_ok=True)
    if arena_hard is not None:
        _write("arena_hard", {**_source(arena_hard, "Apache-2.0"), **arena_hard_table(arena_hard.absolute())})
    if simple_evals is not None:
        _write("healthbench", {**_source(simple_evals, "MIT"), **healthbench_table(simple_evals.absolute())})


def arena_hard_table(code: Path) -> dict[str, Any]:
    """Return verdicts about answers with their styles, and what ``show_result.py`` computes from them."""
    drawn = drawn_verdicts()
    found: dict[str, Any] = {"baseline": BASELINE, **drawn}
    with TemporaryDirectory() as folder, _imported_from(code), _inside(Path(folder)):
        show: Any = importlib.import_module("show_result")
        _write_arena_files(drawn)
        for weight in (1, 3):
            battles = show.load_judgments(["judge"], "bench", weight=weight)
            found[f"weight {weight}"] = {
                "battles": len(battles),
                "means": battles.groupby("model")["scores"].mean().astype(float).to_dict(),
                "leaderboard": _leaderboard(show, lambda of: show.print_leaderboard(of, "hard_prompt"), battles),
                **_style_control(show, battles),
            }
    return found


def drawn_verdicts() -> dict[str, Any]:
    """Return made-up verdicts: longer answers with more Markdown win more often, and a first position helps.

    ``styles`` has `STYLES` of each answer; ``verdicts`` the labels of both games, first that in which the baseline is
    A; None is a game without a verdict.
    """
    draw = np.random.default_rng(SEED)
    styles = {
        name: [
            [int(draw.integers(40, 900)), *(int(one) for one in draw.poisson((1.5, 4, 3)))] for _ in range(QUESTIONS)
        ]
        for name in (BASELINE, *STRENGTHS)
    }
    verdicts: dict[str, list[list[str | None]]] = {}
    for name, strength in STRENGTHS.items():
        for own, other in zip(styles[name], styles[BASELINE], strict=True):
            gap = strength + (own[0] - other[0]) / 500 + (own[3] - other[3]) / 8
            games: list[str | None] = [_label(-gap + 0.3, draw), _label(gap + 0.3, draw)]
            if draw.random() < 0.03:
                games[0] = None
            verdicts.setdefault(name, []).append(games)
    return {"styles": styles, "verdicts": verdicts}


def _label(gap: float, draw: np.random.Generator) -> str:
    seen = gap + draw.logistic()
    return LABELS[int(np.searchsorted((-1.5, -0.2, 0.2, 1.5), -seen))]


def _write_arena_files(drawn: Mapping[str, Any]) -> None:
    for name, verdicts in drawn["verdicts"].items():
        games = [[{"score": one} for one in both] for both in verdicts]
        rows = [
            {"uid": f"q{number}", "model": name, "category": "hard_prompt", "games": both}
            for number, both in enumerate(games)
        ]
        _write_lines(Path("data/bench/model_judgment/judge") / f"{name}.jsonl", rows)
    for name, styles in drawn["styles"].items():
        rows = [
            {
                "uid": f"q{number}",
                "model": name,
                "metadata": {
                    "token_len": own[0],
                    **{key: {"all": one} for key, one in zip(STYLES[1:], own[1:], strict=True)},
                },
            }
            for number, own in enumerate(styles)
        ]
        _write_lines(Path("data/bench/model_answer") / f"{name}.jsonl", rows)


def _leaderboard(show: Any, printing: Any, battles: Any) -> dict[str, list[float]]:
    """Return model → score, and lower and upper end of its interval of 90 %, as their leaderboard has them."""
    frames: list[Any] = []
    formatted = show.format_confidence_interval

    def recorded(means: Any, lower: Any, upper: Any, *more: Any) -> Any:
        frames.extend((means, lower, upper))
        return formatted(means, lower, upper, *more)

    show.format_confidence_interval = recorded
    np.random.seed(0)
    try:
        printing(battles)
    finally:
        show.format_confidence_interval = formatted
    columns = [frame.set_index("model").iloc[:, 0].to_dict() for frame in frames]
    return {name: [round(float(column[name]), 6) for column in columns] for name in sorted(columns[0])}


def _style_control(show: Any, battles: Any) -> dict[str, Any]:
    """Return their leaderboard with style control, and the fit of all battles that their bootstrap repeats."""
    maths: Any = importlib.import_module("utils.math_utils")
    asked: list[Any] = []
    resampled = show.bootstrap_pairwise_model

    def recorded(features: Any, outcomes: Any, loss_type: str) -> Any:
        asked.extend((features, outcomes))
        return resampled(features, outcomes, loss_type=loss_type)

    show.bootstrap_pairwise_model = recorded

    def printing(of: Any) -> None:
        show.print_leaderboard_with_style_features(of, "bench", "hard_prompt", ["length", "markdown"])

    try:
        leaderboard = _leaderboard(show, printing, battles)
    finally:
        show.bootstrap_pairwise_model = resampled
    found: dict[str, Any] = {"style leaderboard": leaderboard}
    names = sorted([BASELINE, *STRENGTHS])
    for title, epochs in (("style fit", 50), ("style fit, converged", 5000)):
        values, _ = maths.fit_pairwise_model(*asked, max_epochs=epochs)
        rates = maths.to_winrate_probabilities(values[None, : len(names)], names, baseline_model=BASELINE)[0]
        found[title] = {
            "win rates": dict(zip(names, map(float, rates), strict=True)),
            "coefficients": [float(one) for one in values[len(names) :]],
        }
    return found


def healthbench_table(code: Path) -> dict[str, Any]:
    """Return rubrics with marks, and what ``healthbench_eval.py`` computes from them."""
    package = ModuleType("simple_evals")
    package.__path__ = [str(code)]
    sys.modules["simple_evals"] = package
    sys.modules.setdefault("blobfile", ModuleType("blobfile"))  # it reads their data, which is not asked for
    module: Any = importlib.import_module("simple_evals.healthbench_eval")
    draw = np.random.default_rng(SEED)
    evaluation = object.__new__(module.HealthBenchEval)
    runs = []
    for rubrics, chance in ((20, 0.6), (10, 0.1), (5, 0.9)):
        questions, results = [], []
        for _ in range(rubrics):
            rubric = _drawn_rubric(draw)
            marks = [bool(draw.random() < chance) for _ in rubric]
            replies = iter(marks)
            evaluation.grader_model = lambda _, replies=replies: _Reply(json.dumps({"criteria_met": next(replies)}))
            items = [module.RubricItem.from_dict(one) for one in rubric]
            metrics, *_ = _serially(module, evaluation, items)
            questions.append({"rubric": rubric, "marks": marks, "metrics": metrics})
            results.append(module.SingleEvalResult(html="", score=metrics["overall_score"], convo=[], metrics=metrics))
        np.random.seed(0)
        whole = module._aggregate_get_clipped_mean(results)
        runs.append(
            {
                "questions": questions,
                "score": float(whole.score),
                "metrics": {k: float(v) for k, v in whole.metrics.items()},
            }
        )
    return {"runs": runs}


class _Reply:
    def __init__(self, text: str) -> None:
        self.response_text = text


def _serially(module: Any, evaluation: Any, items: list[Any]) -> Any:
    """Grade an answer without threads, whose order would mix the marks."""
    module.common.map_with_progress = lambda function, given, **_: [function(one) for one in given]
    return evaluation.grade_sample(prompt=[], response_text="", example_tags=[], rubric_items=items)


def _drawn_rubric(draw: np.random.Generator) -> list[dict[str, Any]]:
    points = [int(draw.integers(1, 11)) * (1 if draw.random() < 0.75 else -1) for _ in range(draw.integers(1, 9))]
    points = points if any(one > 0 for one in points) else [*points, 5]
    tags = ("axis:accuracy", "axis:completeness", "level:example")
    return [
        {
            "criterion": f"criterion {number}",
            "points": one,
            "tags": [tag for tag in tags if draw.random() < 0.5],
        }
        for number, one in enumerate(points)
    ]


@contextmanager
def _imported_from(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _source(folder: Path, licence: str) -> dict[str, str]:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return {
        "source": f"computed by {folder.name} {commit.stdout.strip()[:12]} (licence {licence})".replace("  ", " "),
        "verdicts": "made up by tools/real/judgements.py",
    }


def _write(name: str, table: Mapping[str, Any]) -> None:
    path = TABLES / f"{name}.json"
    path.write_text(json.dumps(table) + "\n", "utf-8")
    click.echo(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
