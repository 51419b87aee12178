from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.errors import MissingExtra, ModelError
from ais_prompt.metrics import mean_scores, without_truncated
from ais_prompt.report import names_of_tasks, print_matrix, print_summary
from ais_prompt.scoring import Row, TaskOutcome, right_answers, score_row, summary_rows
from ais_prompt.types import STATUSES, Precision, SampleScore, Score

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
CELL = "93.5 ±1.3"


def shown(outcomes: list[TaskOutcome], width: int, *, terminal: bool) -> list[str]:
    return printed(summary_rows(outcomes), width, terminal=terminal)


def printed(rows: list[Row], width: int, *, terminal: bool, groups: frozenset[str] = frozenset()) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    print_summary(rows, console, groups)
    return stream.getvalue().splitlines()


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]


@pytest.mark.parametrize("outcomes", [DEMO[:1], DEMO, LONG])
@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_one_model_has_a_line_for_each_dataset_with_the_states_of_its_answers(
    outcomes: list[TaskOutcome], width: int
) -> None:
    lines = plain(shown(outcomes, width, terminal=True))
    text = "\n".join(lines)
    assert max(map(cell_len, lines)) <= width
    assert len([line for line in lines if "93.5 %  92.1–94.7" in line]) == len(outcomes)
    assert len(re.findall(r"1,314\s+scored\s+·\s+3\s+no\s+answer\s+·\s+1\s+cut", text)) == len(outcomes)
    assert "accuracy · 95 % interval · n = 1319" in " ".join(text.split())


@given(st.integers(0, 40), st.integers(0, 5), st.integers(0, 5), st.integers(1, 3), st.booleans())
def test_right_and_wrong_are_counted_from_the_mean_where_answers_are_either(
    right: int, wrong: int, unread: int, cut: int, partly: bool
) -> None:
    statuses = ["scored"] * (right + wrong) + ["unparsed"] * unread + ["truncated"] * cut
    values = [1.0] * right + [0.0] * (wrong + unread) + [1.0] * cut + [0.5] * partly
    statuses += ["scored"] * partly
    samples = [
        SampleScore(str(number), status, values={"accuracy": value})  # type: ignore[arg-type]
        for number, (status, value) in enumerate(zip(statuses, values, strict=True))
    ]
    finished = mean_scores(["accuracy"], without_truncated(samples))[0].value
    row = score_row("sums", "demo", replace(mean_scores(["accuracy"], samples)[0], finished=finished))
    if row.finished is not None and row.stderr is not None and len(samples) > 1:
        assert right_answers(row) == (None if partly else right)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_models_are_side_by_side_with_their_intervals(width: int) -> None:
    lines = plain(shown(SIDE, width, terminal=True))
    assert max(cell_len(line) for line in lines) <= width
    text = "\n".join(lines)
    assert text.count(CELL) == 9
    assert lines[0].startswith("accuracy in % ± half of the 95 % interval · n = 1319")
    assert all(model in text for model in MODELS)


def test_a_narrow_terminal_has_scores_without_intervals() -> None:
    lines = plain(shown(SIDE, 50, terminal=True))
    assert sum(line.split().count("93.5") for line in lines) == 9
    assert not any("interval" in line for line in lines)
    assert f"A = {MODELS[0]}" in lines


def test_a_pipe_has_the_layout_of_a_terminal_without_colours() -> None:
    for outcomes, width in ((LONG, 80), (LONG, 160), (SIDE, 100)):
        pipe, terminal = (shown(outcomes, width, terminal=terminal) for terminal in (False, True))
        assert "\x1b" not in "".join(pipe)
        assert pipe[:4] == plain(terminal)[:4]


def test_a_task_without_a_score_says_so_in_its_place() -> None:
    """Why it failed is printed once for all tasks, where the command ends."""
    lines = [line.strip() for line in shown(SIDE, 200, terminal=False)]
    assert next(line for line in lines if line.startswith("mmlu")).split() == [
        "mmlu",
        "error",
        "–",
        "error",
        *CELL.split(),
    ]
    assert "–: not measured" in lines[0]
    assert not any("refused" in line for line in lines)


def test_bold_is_the_best_and_what_does_not_differ_from_it() -> None:
    better = replace(
        SCORE, value=0.99, interval=(0.98, 0.995), counts={"scored": 1319} | dict.fromkeys(STATUSES[1:], 0)
    )
    near = replace(better, value=0.985)

    def table(**scores: Score) -> list[str]:
        each = [TaskOutcome(name, data, [one]) for name, one in scores.items() for data in ("sums", "products")]
        return shown(each, 80, terminal=True)

    lines = table(one=SCORE, two=better, three=near)
    line = next(line for line in lines if line.startswith("sums"))
    assert all(f"\x1b[1m{score}\x1b[0m" in line for score in ("99.0", "98.5")), lines
    assert "bold: best" in " ".join(lines[:2])
    assert "\x1b[1m93.5" not in line
    assert "bold" not in " ".join(table(two=better, three=near))  # all are as good
    lines = table(a=replace(SCORE, metric="error_rate", lower_is_better=True), b=replace(better, metric="error_rate"))
    assert any("\x1b[1;31m93.5\x1b[0m" in line for line in lines)  # red too, since answers failed
    lines = shown(
        [TaskOutcome(name, "sums", [one]) for name, one in {"a": SCORE, "b": better}.items()], 80, terminal=True
    )
    assert "\x1b[1m99.0 %\x1b[0m" in lines[-1]
    assert "\x1b[1m93.5 %" not in "".join(lines)


def test_the_mean_of_many_datasets_is_first_and_ranks_the_models() -> None:
    scores = {"low": 0.5, "high": 0.9, "middle": 0.7}
    tasks = [
        TaskOutcome(model, str(data), [replace(SCORE, value=value, stderr=0.02)])
        for model, value in scores.items()
        for data in range(4)
    ]
    lines = shown(tasks, 100, terminal=False)
    assert lines[1].split() == ["dataset", "high", "middle", "low"]
    assert lines[2].split() == ["mean", "of", "4", "(±2.0)", "90.0", "70.0", "50.0"]
    assert not lines[3]
    assert not any(line.startswith("mean") for line in shown(tasks[1:], 100, terminal=False))  # one score is missing


@pytest.mark.parametrize(("lost", "starred"), [(65, False), (67, True)])
def test_a_star_marks_more_than_five_percent_without_a_score(lost: int, starred: bool) -> None:
    score = replace(SCORE, counts={"scored": 1319 - lost, "unparsed": lost, "truncated": 0, "failed": 0})
    tasks = [TaskOutcome(model, data, [score]) for model in "ab" for data in "xy"]
    assert any("93.5 ±1.3*" in line for line in shown(tasks, 100, terminal=False)) == starred


@pytest.mark.parametrize("models", [["demo"], ["demo", "other"]])
def test_groups_are_apart_and_their_counts_are_not_added_to_those_of_their_datasets(models: list[str]) -> None:
    rows = [replace(row, model=model) for row in summary_rows(DEMO) for model in models]
    groups = [replace(row, dataset="all", metric="accuracy", n=2638) for row in rows[: len(models)]]
    lines = printed([*groups, *rows], 60, terminal=False, groups=frozenset({"all"}))
    names = [line.split()[0] if line.strip() else "" for line in lines if not line.startswith("      ")]
    first = names.index("all")
    assert names[first : first + 4] == ["all", "", "addition", "chat"]
    assert not any(line.startswith("demo/all") for line in lines)


def test_many_notes_are_counted_and_the_worst_are_named() -> None:
    counts = {"scored": 1000, "unparsed": 319, "truncated": 0, "failed": 0}
    tasks = [TaskOutcome(model, str(number), [SCORE]) for model in MODELS for number in range(30)]
    tasks.append(TaskOutcome("demo", "worst", [replace(SCORE, counts=counts)]))
    lines = shown(tasks, 160, terminal=False)
    head = next(number for number, line in enumerate(lines) if line.startswith("Not scored (*"))
    assert lines[head].startswith(
        "Not scored (* more than 5 %): 679 no answer, 120 cut, 120 failed of 159,599 answers, in 121 of"
    )
    assert lines[head + 1] == "  demo/worst: 319 no answer of 1319  [93.1–93.9]"
    assert lines[head + 4 :] == ["  … and 118 more: summary/summary.txt"]


def test_a_reason_that_many_scores_lack_is_one_note() -> None:
    tasks = [TaskOutcome(model, str(number), predictions_only=True) for model in MODELS for number in range(30)]
    assert shown(tasks, 100, terminal=False) == ["Nothing is scored.", "", "not scored: predictions only (120 scores)"]
    lines = shown([*tasks, TaskOutcome("demo", "sums", [SCORE])], 100, terminal=False)
    assert "not scored: predictions only (120 scores)" in lines


def test_tasks_with_one_cause_are_named_by_what_they_share() -> None:
    error = ModelError("no server")
    tasks = [TaskOutcome(model, str(number), error=error) for model in MODELS for number in range(30)]
    by_model = names_of_tasks([task for task in tasks if task.model == "demo"] + tasks[:3], tasks)
    assert by_model == f"all 30 datasets of demo, 3 of 30 datasets of {MODELS[0]}"
    assert names_of_tasks([task for task in tasks if task.dataset == "7"], tasks) == "7 of all 4 models"
    assert names_of_tasks(tasks[:2], tasks) == f"{MODELS[0]}/0, {MODELS[0]}/1"


ROWS = st.builds(
    lambda score, unparsed: Row(
        "", "", "accuracy", score, ci95_low=0.9 * score, ci95_high=score, n=40, unscored=unparsed
    ),
    st.floats(0, 1),
    st.sampled_from(["", "1 unparsed"]),
)
NAMES = st.text("abcxyz-._/小学数", min_size=1, max_size=40)


@given(
    st.lists(NAMES, min_size=1, max_size=12, unique=True),
    st.lists(NAMES, min_size=1, max_size=8, unique=True),
    st.data(),
    st.integers(50, 200),
)
def test_no_line_is_too_long_and_each_dataset_has_one_and_each_model_is_named(
    models: list[str], datasets: list[str], data: st.DataObject, width: int
) -> None:
    metrics = data.draw(st.lists(st.sampled_from(["accuracy", "bleu", "f1"]), min_size=1, max_size=2, unique=True))
    rows = [
        replace(data.draw(ROWS), dataset=dataset, model=model, metric=metric, fraction=metric != "bleu")
        for model in models
        for dataset in datasets
        for metric in metrics
    ]
    stream = io.StringIO()
    print_matrix(rows, Console(file=stream, width=width, color_system=None, _environ={}))
    lines = stream.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    lines = [line for line in lines if line and not line.startswith("mean of ")]
    heads = [number for number, line in enumerate(lines) if re.match("dataset +", line)]
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        assert end - head - 1 == len(datasets) * len(metrics)
    text = "\n".join(lines)
    assert all(model in text for model in models)


def test_answers_that_are_not_scored_are_told_with_what_they_could_change_where_models_are_side_by_side() -> None:
    reasons = {"unparsed: no answer found": 3, "failed: timeout": 1}
    tasks = [TaskOutcome(model, data, [replace(SCORE, reasons=reasons)]) for model in "ab" for data in "xy"]
    lines = shown(tasks[:3], 160, terminal=False)
    assert lines[-1] == "b/x: 3 no answer, 1 cut, 1 failed of 1319  [93.1–93.9]"
    assert lines[-4].startswith("Not every answer was scored (*")
    assert not any("Not every answer" in line for line in shown(tasks[:1], 160, terminal=False))
    whole = replace(SCORE, counts={"scored": 1319, "unparsed": 0, "truncated": 0, "failed": 0})
    assert len(shown([TaskOutcome("demo", "sums", [whole])], 160, terminal=False)) == 2


def test_numbers_that_are_no_fractions_are_no_percentages() -> None:
    bleu = Score("bleu", 27.314, 0.6, 1319, {**COUNTS}, (26.1, 28.5), fraction=False)  # type: ignore[arg-type]
    line = shown([TaskOutcome("demo", "wmt", [bleu])], 160, terminal=False)[1]
    assert "demo 27.31 26.10–28.50 1,314 scored" in " ".join(line.split())


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
    assert "\x1b[2m" in text
    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
