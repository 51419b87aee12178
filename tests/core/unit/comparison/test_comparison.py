"""The comparison of two runs in a terminal, and in a pipe."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.comparison import (
    Change,
    Comparison,
    Difference,
    Flip,
    RunComparison,
    Share,
    StoredRun,
    adjusted,
    mean_differences,
    print_comparison,
    print_model_difference,
)
from ais_prompt.metrics import mean_difference
from ais_prompt.store import RunFolder
from ais_prompt.types import Prediction

LONG = (
    "a text of many words that no terminal shows in one line, and 一个很长的中文句子没有空格所以必须在任何地方断开 " * 2
)


def comparison(dataset: str = "gsm8k", model: str = "before-7b → after-7b-instruct") -> Comparison:
    answers = [Prediction(f"id{number}", 3, LONG, LONG, "gold", ()) for number in range(2)]
    return Comparison(
        model=model,
        dataset=dataset,
        metric="accuracy",
        fraction=True,
        common=1319,
        only_before=1,
        only_after=0,
        failed_before=2,
        failed_after=0,
        without_gold=0,
        before=0.85,
        after=0.5,
        questions=(("id0", -1.0), ("id1", 0.0)),
        differences=(-1.0, 0.0),
        interval=(-0.495, -0.189),
        p=0.000207,
        units=1319,
        flips=(Flip("id0", 3, 1.0, 0.0, True, (answers[0], answers[1]), ("1", "2")),),
        shares=(Share("model", -0.35, 29, (-0.495, -0.189)),),
        changes=(Change("model", LONG[:100], LONG[50:150]),),
        reported=-0.35,
        p_adjusted=0.000207,
    )


def printed(
    *comparisons: Comparison,
    width: int = 80,
    terminal: bool = True,
    means: Sequence[Difference] = (),
    groups: Mapping[str, frozenset[str]] | None = None,
) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system=None, _environ={})
    before, after = (StoredRun(RunFolder(Path("eval") / name), "finished", ()) for name in "ab")
    found = RunComparison(before, after, comparisons, (f"a note: {LONG}",), tuple(means), groups or {})
    print_comparison(found, 3, console)
    return stream.getvalue()


def mean(name: str, difference: float, datasets: int) -> Difference:
    one = comparison()
    values = {name: getattr(one, name) for name in Difference.__struct_fields__}
    return Difference(**values | {"dataset": name, "after": one.before + difference, "datasets": datasets})


SURE = [-1.0] * 7 + [0.0] * 13
"""Differences of samples with p = 1/64."""
SAME = [-1.0, 1.0] * 3 + [0.0] * 14


def difference(values: Sequence[float], model: str = "a → b", dataset: str = "d") -> Difference:
    found = mean_difference(values)
    return Difference(
        model=model,
        dataset=dataset,
        metric="accuracy",
        fraction=True,
        common=len(values),
        before=0.5,
        after=0.5 + found.value,
        interval=found.interval,
        p=found.p,
        units=found.units,
        found=found,
        questions=tuple((f"{dataset} {number}", value) for number, value in enumerate(values)),
    )


@given(st.integers(60, 200))
def test_no_line_is_wider_than_the_terminal_and_no_text_is_lost(width: int) -> None:
    text = printed(comparison("a-dataset-with-a-long-name"), comparison("another"), width=width)
    assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= width
    assert "".join(LONG[:100].split()) in "".join(text.split())
    assert "-49.5 to -18.9" in text


def test_eighty_columns_show_each_value_below_the_names() -> None:
    lines = [" ".join(line.split()) for line in printed(comparison()).splitlines()]
    start = lines.index("gsm8k · accuracy")
    values = " ".join(lines[start + 1 : start + 4])
    for value in (
        "before 85.0 %",
        "after 50.0 %",
        "difference -35.0",
        "95 % interval -49.5 to -18.9",
        "p (Holm) 0.000207",
    ):
        assert value in values


def test_a_pipe_has_one_line_for_each_fact() -> None:
    text = printed(comparison(), terminal=False, width=40)
    assert f"    before: {LONG[:100]}" in text.splitlines()
    assert any(line.split()[-3:] == ["1319", "1", "0"] for line in text.splitlines())


@pytest.mark.parametrize(("models", "column"), [(("a", "a"), False), (("a", "b"), True)])
def test_the_model_is_a_column_only_where_there_are_several(models: tuple[str, str], column: bool) -> None:
    text = printed(*(comparison(f"d{number}", model) for number, model in enumerate(models)), width=200)
    assert ("model: a" not in text.splitlines()) == column


def test_nothing_to_compare_prints_the_reasons_and_no_table() -> None:
    assert printed(width=2000).splitlines()[1:] == ["Nothing can be compared."]


def suite(models: Sequence[str], datasets: int) -> list[Comparison]:
    """Comparisons of two suites, in each of which the last dataset of group ``b`` is the worst."""
    names = [f"{'ab'[n % 2]}-a-dataset-with-a-rather-long-name-{n:02}" for n in range(datasets)]
    return [
        replace(comparison(name, model), after=0.85 - n / 100, p_adjusted=0.01 if n == datasets - 1 else 1.0)
        for model in models
        for n, name in enumerate(names)
    ]


def test_many_datasets_are_in_groups_the_worst_first_with_the_causes_of_the_worst_and_best() -> None:
    found = suite(["before → after"], 30)
    groups = {group: frozenset(one.dataset for one in found if one.dataset[0] == group) for group in "ab"}
    means = [mean("", -0.145, 30), mean("a", -0.14, 15), mean("b", -0.15, 15)]
    lines = printed(*found, means=means, groups=groups).splitlines()
    assert max(cell_len(line.rstrip()) for line in lines) <= 80
    start = next(number for number, line in enumerate(lines) if line.startswith("mean of 30 datasets"))
    assert [lines[start + 1].split()[0], lines[start + 17].split()[0]] == ["b", "a"]
    worst = lines[start + 2]
    assert worst.startswith("  b-a-")
    assert worst.split()[0].endswith("-29")
    assert worst.split()[5:6] == ["-29.0*"]
    assert "* p < 0.05 after Holm's correction over 30 comparisons" in lines
    assert sum("from model, 29 samples" in line for line in lines) == 6
    assert lines.count("  model differs") == 1  # in all of them alike
    assert any(line.startswith("24 more changed") for line in lines)


def test_the_end_of_a_run_with_many_datasets_shows_no_lucky_one() -> None:
    def ends(datasets: int) -> list[str]:
        names = [f"d{number}" for number in range(datasets)]
        found = adjusted([difference(SURE if name == "d0" else SAME, dataset=name) for name in names])
        stream = io.StringIO()
        print_model_difference([*found, *mean_differences(found, ())], Path("r"), Console(file=stream, width=200))
        return stream.getvalue().splitlines()

    alone, few, many = ends(1), ends(6), ends(60)
    assert alone[1] == "b − a, 95 % interval"
    assert float(alone[2].split()[-1][:-1]) < 0
    assert few[1] == "b − a, 95 % intervals for all 7 together"
    assert [line.split()[0] for line in few[2:]] == ["mean", *(f"d{number}" for number in range(6))]
    assert float(few[3].split()[-1][:-1]) >= 0
    assert [line.split()[0] for line in many[2:]] == ["mean", "every"]


def test_means_of_several_models_are_corrected_together() -> None:
    means = mean_differences([difference(SURE, model, dataset) for model in "abcd" for dataset in "xy"], ())
    assert len(means) == 4
    assert [one.p_adjusted for one in means] == pytest.approx([min(4 * means[0].p, 1)] * 4)


def test_eight_models_on_thirty_datasets_fit_on_a_screen_and_a_pipe_has_all() -> None:
    models = [f"model-{number}" for number in range(8)]
    found = suite(models, 30)
    table = printed(*found, means=[mean("", -0.1, 30)]).partition("All 240")[0].splitlines()
    assert sum("… 24 more" in line for line in table) == 8
    assert len(table) < 75
    piped = printed(*found, terminal=False).splitlines()
    assert sum(line.startswith(("a-a-", "b-a-")) and "accuracy" in line for line in piped) == 240
