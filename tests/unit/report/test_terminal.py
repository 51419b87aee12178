from __future__ import annotations

import io
import re

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.errors import MissingExtra, ModelError
from ais_prompt.report.summary import print_summary
from ais_prompt.scoring.rows import TaskOutcome, summary_rows
from ais_prompt.types import Precision, Score

COUNTS = {"scored": 1314, "unparsed": 3, "truncated": 1, "failed": 1}
SCORE = Score("accuracy", 0.9351, 0.0175, 1319, COUNTS, (0.921, 0.947), (0.931, 0.939))  # type: ignore[arg-type]
DEMO = [TaskOutcome("demo", "addition", [SCORE]), TaskOutcome("demo", "chat", [SCORE])]
LONG = [
    *DEMO,
    TaskOutcome("demo", "gsm8k_4shot_chat", [SCORE]),
    TaskOutcome("demo", "小学数学应用题目", [SCORE]),
]
MODELS = ["Qwen2.5-72B-Instruct", "通义千问二点五", "gpt-4o-mini", "demo"]
SIDE = [
    *(TaskOutcome(model, dataset, [SCORE]) for model in MODELS for dataset in ("gsm8k_4shot_chat", "小学数学应用题目")),
    TaskOutcome("demo", "mmlu", [SCORE]),
    TaskOutcome("gpt-4o-mini", "mmlu", error=ModelError("[bold]refused[/bold]", where="models[0]")),
    TaskOutcome("Qwen2.5-72B-Instruct", "mmlu", error=MissingExtra("no torch")),
]
WIDE = "93.5 % 1.8 92.1–94.7 93.1–93.9 1319 1314 3 1 1"
CELL = "93.5 % ±1.8*"


def shown(outcomes: list[TaskOutcome], width: int, *, terminal: bool, full: bool = False) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    print_summary(summary_rows(outcomes), console, full=full)
    return stream.getvalue().splitlines()


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]


@pytest.mark.parametrize("outcomes", [DEMO, LONG])
@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_one_model_has_every_number_where_there_is_room_and_else_its_score(
    outcomes: list[TaskOutcome], width: int
) -> None:
    text = "\n".join(plain(shown(outcomes, width, terminal=True)))
    numbers = ("93.5 %", "1.8", "92.1–94.7", "93.1–93.9", "1314") if width == 160 else ("93.5 % ±1.8*", "1319")
    for number in numbers:
        assert len(re.findall(rf"(?<!\S){re.escape(number)}(?!\S)", text)) >= len(outcomes), number
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 160])
def test_models_are_side_by_side_where_there_is_room(width: int) -> None:
    lines = plain(shown(SIDE, width, terminal=True))
    assert max(cell_len(line) for line in lines) <= width
    text = "\n".join(lines)
    assert text.count(CELL) == 9
    assert ("metric" in text) == (width > 80)
    assert all(model in text for model in MODELS)


def test_a_narrow_terminal_still_shows_whole_scores() -> None:
    assert "\n".join(plain(shown(SIDE, 40, terminal=True))).count(CELL) == 9


def test_a_pipe_gets_one_line_for_each_row_without_colours() -> None:
    lines = shown(LONG, 80, terminal=False)
    assert not any("\x1b" in line for line in lines)
    assert lines[0].split() == "dataset model metric score ± 95 % bounds n scored unparsed truncated failed".split()
    assert lines[3].split() == ["gsm8k_4shot_chat", "demo", "accuracy", *WIDE.split()]
    assert lines[4].split() == ["小学数学应用题目", "demo", "accuracy", *WIDE.split()]
    assert cell_len(lines[3]) == cell_len(lines[4])
    lines = shown(SIDE, 80, terminal=False)
    assert lines[0].split() == ["dataset", "metric", "n", *MODELS]
    assert lines[2].split() == ["小学数学应用题目", "accuracy", "1319", *CELL.split() * 4]


def test_a_file_has_both_tables() -> None:
    lines = shown(SIDE, 80, terminal=False, full=True)
    assert lines[5].split() == "dataset model metric score ± 95 % bounds n scored unparsed truncated failed".split()
    assert sum(WIDE in " ".join(line.split()) for line in lines) == 9


def test_a_task_without_a_score_says_so_in_its_place_and_why_below() -> None:
    lines = [line.strip() for line in shown(SIDE, 200, terminal=False)]
    assert lines[3].split() == ["mmlu", "accuracy", "1319", "error", "not", "measured", "error", *CELL.split()]
    assert "gpt-4o-mini/mmlu: error: ModelError: [bold]refused[/bold] · models[0]" in lines
    assert not any(cell == "-" for line in lines for cell in line.split())


def test_answers_that_are_not_plainly_scored_are_told_with_what_they_could_change() -> None:
    reasons = {"unparsed: no answer found": 3, "failed: timeout": 1}
    lines = shown([TaskOutcome("demo", "sums", [replace(SCORE, reasons=reasons)])], 160, terminal=False)
    expected = "demo/sums: 3 unparsed (no answer found), 1 truncated, 1 failed (timeout) of 1319  [93.1–93.9]"
    assert lines[-1] == expected
    assert lines[-2].startswith("Not every answer was scored")
    whole = replace(SCORE, counts={"scored": 1319, "unparsed": 0, "truncated": 0, "failed": 0})
    assert len(shown([TaskOutcome("demo", "sums", [whole])], 160, terminal=False)) == 2


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("models", [["demo"], ["demo", "other"]])
def test_the_legend_names_the_star_only_where_the_table_has_one(models: list[str], full: bool) -> None:
    lines = shown([TaskOutcome(model, "sums", [SCORE]) for model in models], 160, terminal=False, full=full)
    table, legend = (
        "\n".join(lines[: -len(models) - 1]),
        next(line for line in lines if line.startswith("Not every answer was scored")),
    )
    assert ("*" in table) == ("(*)" in legend) == (len(models) > 1)


def test_numbers_that_are_no_fractions_are_no_percentages() -> None:
    bleu = Score("bleu", 27.314, 0.6, 1319, {**COUNTS}, (26.1, 28.5), fraction=False)  # type: ignore[arg-type]
    line = shown([TaskOutcome("demo", "wmt", [bleu])], 160, terminal=False)[1]
    assert "wmt demo bleu 27.31 0.60 26.10–28.50 1319" in " ".join(line.split())


def test_several_answers_to_a_question_are_said_once() -> None:
    scores = [replace(SCORE, repeats=4), replace(SCORE, metric="pass@2", repeats=4)]
    lines = shown([TaskOutcome("demo", "sums", scores)], 160, terminal=False)
    assert [line for line in lines if "4 answers to each question" in line] == [lines[-1]]


@pytest.mark.parametrize(
    ("score", "precision", "expected"),
    [
        (
            SCORE,
            Precision(0.0162, 0.01, 12),
            "a 95 % interval of ±1.0 points needs 12 answers to each question (now 4: ±1.6 points)",
        ),
        (
            SCORE,
            Precision(0.0008, 0.0005, 1200),
            "±0.05 points needs 1,200 answers to each question (now 4: ±0.08 points)",
        ),
        (SCORE, Precision(0.0162, 0.01, None), "±1.0 points needs more questions (now 4: ±1.6 points)"),
        (
            replace(SCORE, fraction=False),
            Precision(1.62, 1.0, 12),
            "±1.00 needs 12 answers to each question (now 4: ±1.62)",
        ),
    ],
)
def test_repeated_questions_say_how_many_answers_a_narrower_interval_needs(
    score: Score, precision: Precision, expected: str
) -> None:
    scores = [replace(score, repeats=4, precision=precision), replace(score, metric="pass@2", repeats=4)]
    lines = shown([TaskOutcome("demo", "sums", scores)], 160, terminal=False)
    assert lines[-1].startswith("demo/sums: a 95 % interval of")
    assert lines[-1].endswith(expected)


def test_a_terminal_has_colours_and_names_cannot_reach_it() -> None:
    text = "\n".join(shown([TaskOutcome("de\x1b[2Jmo", "\x1b]0;x", [SCORE])], 80, terminal=True))
    assert "\x1b[1m" in text
    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
