"""A metric of which less is better is treated as its opposite would be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.comparison import Difference
from ais_prompt.comparison.printed import _style
from ais_prompt.gates import Baseline, BaselineTask, HeldPair, check_baseline, read_baseline, write_baseline
from ais_prompt.gates.advice import _rounded
from ais_prompt.gates.decision import _drop_verdict
from ais_prompt.types import parse_gate

values = st.sampled_from((0.0, 0.25, 0.5, 1.0))


def held(before: list[float], after: list[float], *, less: bool) -> HeldPair:
    """The same samples as rightness, or as errors: 1 less the rightness."""
    metric, sign, start = ("error_rate", -1, 1) if less else ("accuracy", 1, 0)
    sides = [
        BaselineTask("m", "d", metric, True, {f"s{n}": start + sign * one for n, one in enumerate(side)})
        for side in (before, after)
    ]
    sides = [replace(side, lower_is_better=less) for side in sides]
    return HeldPair(sides[0], sides[1], tuple(sides[0].values), None, {})


@given(st.lists(st.tuples(values, values), min_size=5, max_size=30), st.booleans())
def test_errors_that_rise_are_a_drop_of_right_answers(pairs: list[tuple[float, float]], binary: bool) -> None:
    before, after = ([float(round(one)) if binary else one for one in side] for side in zip(*pairs, strict=True))
    right, wrong = held(before, after, less=False), held(before, after, less=True)
    assert wrong.drop == pytest.approx(right.drop)
    assert wrong.p_value == pytest.approx(right.p_value)
    verdicts = [
        check_baseline(*(Baseline("r", [side]) for side in (one.before, one.after)))[0] for one in (right, wrong)
    ]
    assert verdicts[0].passed == verdicts[1].passed
    gate = parse_gate("drop < 10pt @95%", "gates")
    assert _drop_verdict(gate, right).passed == _drop_verdict(gate, wrong).passed


def test_a_baseline_file_keeps_the_direction_and_older_files_go_by_the_name(tmp_path: Path) -> None:
    directions = {"accuracy": True, "loss": False, "wer": True, "f1": False}
    tasks = [BaselineTask("m", name, name, True, {"s": 1.0}, lower_is_better=less) for name, less in directions.items()]
    write_baseline(tmp_path / "b.json", Baseline("r", tasks))
    assert {task.metric: task.lower_is_better for task in read_baseline(tmp_path / "b.json").tasks} == directions
    older = (tmp_path / "b.json").read_text(encoding="utf-8")
    older = "".join(line for line in older.splitlines(keepends=True) if "lower_is_better" not in line)
    (tmp_path / "older.json").write_text(older, encoding="utf-8")
    found = {task.metric: task.lower_is_better for task in read_baseline(tmp_path / "older.json").tasks}
    assert found == {"accuracy": False, "loss": True, "wer": True, "f1": False}


def test_a_comparison_counts_and_colours_by_what_is_better() -> None:
    questions = (("a", 0.5), ("b", 0.5), ("c", -0.5))
    rise = Difference(
        model="m", dataset="d", metric="x", fraction=False, common=3, before=1.0, after=1.5, interval=None, p=0.01,
        p_adjusted=0.01, units=3, questions=questions,
    )  # fmt: skip
    fall = replace(rise, lower_is_better=True)
    assert [(one.worse, one.better, _style(one)) for one in (rise, fall)] == [(1, 2, "bold green"), (2, 1, "bold red")]


@given(st.floats(1e-6, 1e6), st.booleans(), st.booleans())
def test_an_advised_limit_is_rounded_away_from_the_mean(limit: float, fraction: bool, up: bool) -> None:
    limit = min(limit, 1.0) if fraction else limit
    found = _rounded(limit, fraction=fraction, up=up)
    slack = 1e-9 * max(limit, 1e-3)
    assert found >= limit - slack if up else found <= limit + slack
    assert found == pytest.approx(limit, abs=1e-3 if fraction else 1.001e-3 * limit)
