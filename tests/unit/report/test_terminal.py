from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.errors import MissingExtra, ModelError
from ais_prompt.report.outcome import TaskOutcome
from ais_prompt.report.terminal import print_summary
from ais_prompt.types import Score

COUNTS = {"scored": 1314, "unparsed": 3, "truncated": 1, "failed": 1}
SCORE = Score("accuracy", 0.9351, 0.0175, 1319, COUNTS)  # type: ignore[arg-type]
DEMO = [TaskOutcome("demo", "addition", [SCORE]), TaskOutcome("demo", "chat", [SCORE])]
LONG = [
    *DEMO,
    TaskOutcome("Qwen2.5-72B-Instruct", "gsm8k_4shot_chat", [SCORE]),
    TaskOutcome("通义千问二点五", "小学数学应用题目", [SCORE]),
    TaskOutcome("gpt", "gsm8k", error=ModelError("[bold]refused[/bold]", where="models[0]")),
    TaskOutcome("gpt", "mmlu", error=MissingExtra("no torch")),
]
NUMBERS = "93.5 % 1.8 1319 1314 3 1 1"


def shown(outcomes: list[TaskOutcome], width: int, terminal: bool) -> list[str]:
    stream = io.StringIO()
    print_summary(
        outcomes,
        Console(file=stream, width=width, force_terminal=terminal, color_system="standard" if terminal else None),
    )
    return stream.getvalue().splitlines()


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]


@pytest.mark.parametrize("outcomes", [DEMO, LONG])
@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_whole_numbers_within_its_width(outcomes: list[TaskOutcome], width: int) -> None:
    lines = plain(shown(outcomes, width, terminal=True))
    assert max(cell_len(line) for line in lines) <= width
    scored = sum(bool(outcome.scores) for outcome in outcomes)
    assert sum(NUMBERS in " ".join(line.split()) for line in lines) == scored


def test_folded_names_lose_no_letter() -> None:
    lines = plain(shown(LONG, 80, terminal=True))
    names = "".join(line[:16].split("accuracy")[0] for line in lines).replace(" ", "")
    assert set("小学数学应用题目通义千问二点五") <= set(names)


def test_a_narrow_terminal_still_shows_whole_numbers() -> None:
    lines = plain(shown(LONG, 40, terminal=True))
    assert sum(NUMBERS in " ".join(line.split()) for line in lines) == 4


def test_a_pipe_gets_one_line_for_each_row_without_colours() -> None:
    lines = shown(LONG, 80, terminal=False)
    assert not any("\x1b" in line for line in lines)
    assert lines[0].split() == "dataset model metric score ± n scored unparsed truncated failed".split()
    assert lines[3].split() == ["gsm8k_4shot_chat", "Qwen2.5-72B-Instruct", "accuracy", *NUMBERS.split()]
    assert lines[4].split() == ["小学数学应用题目", "通义千问二点五", "accuracy", *NUMBERS.split()]
    assert cell_len(lines[3]) == cell_len(lines[4])


def test_a_failed_task_has_its_kind_in_the_row_and_its_reason_below() -> None:
    lines = [line.strip() for line in shown(LONG, 200, terminal=False)]
    assert lines[5].split() == ["gsm8k", "gpt", "error"]
    assert "gpt/gsm8k: error: ModelError: [bold]refused[/bold] · models[0]" in lines
    assert not any(cell == "-" for line in lines for cell in line.split())


def test_a_terminal_has_colours() -> None:
    assert any("\x1b[" in line for line in shown(DEMO, 80, terminal=True))
