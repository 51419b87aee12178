"""A run held against a baseline."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.baseline import check_baseline
from ais_prompt.errors import ConfigError
from ais_prompt.store.baseline_file import Baseline, BaselineTask, read_baseline, write_baseline


def run(*tasks: BaselineTask) -> Baseline:
    return Baseline("run", tasks)


def task(right: int, wrong: int, dataset: str = "d", model: str = "m", metric: str = "accuracy") -> BaselineTask:
    """The first so many samples are right."""
    values = {f"s{number}": float(number < right) for number in range(right + wrong)}
    return BaselineTask(model, dataset, metric, True, values)


def test_a_significant_drop_fails_and_a_small_one_does_not() -> None:
    [small] = check_baseline(run(task(90, 10)), run(task(87, 13)))
    assert small.passed
    assert "-3.0 points on 100 common samples, p 0.12" in small.found
    [large] = check_baseline(run(task(90, 10)), run(task(80, 20)))
    assert not large.passed
    assert "a drop of +" in large.found
    [better] = check_baseline(run(task(80, 20)), run(task(90, 10)))
    assert better.passed


def test_a_drop_that_does_not_matter_is_let_pass() -> None:
    [verdict] = check_baseline(run(task(900, 100)), run(task(890, 110)), min_drop=0.02)
    assert verdict.passed
    assert "significant, but less than +2.0 points" in verdict.found


def test_several_data_sets_need_stronger_evidence() -> None:
    before = [task(90, 10, f"d{number}") for number in range(20)]
    after = [task(85, 15, "d0"), *before[1:]]  # five worse and none better: p is 1/32
    assert not check_baseline(run(before[0]), run(after[0]))[0].passed
    assert all(verdict.passed for verdict in check_baseline(run(*before), run(*after)))


def test_models_may_have_other_names_if_each_run_has_one() -> None:
    [verdict] = check_baseline(run(task(9, 1)), run(task(9, 1, model="new")))
    assert verdict.passed
    several = run(task(9, 1), task(9, 1, model="other"))
    assert [v.passed for v in check_baseline(several, run(task(9, 1)))] == [False, True]


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (task(9, 1, "other"), ["is not in the baseline", "is in the baseline but not in the run"]),
        (task(9, 1, metric="em"), ["has the metric em, in the baseline it is accuracy"]),
        (BaselineTask("m", "d", "accuracy", True, {"x": 1.0}), ["has no answered sample in common with the baseline"]),
    ],
)
def test_what_cannot_be_compared_fails(after: BaselineTask, words: list[str]) -> None:
    verdicts = check_baseline(run(task(9, 1)), run(after))
    assert [verdict.found for verdict in verdicts] == words
    assert not any(verdict.passed for verdict in verdicts)


def test_values_that_are_no_right_and_wrong() -> None:
    before = BaselineTask("m", "d", "f1", True, {str(n): 0.5 + n / 1000 for n in range(100)})
    after = BaselineTask(
        "m", "d", "f1", True, {name: value - 0.1 - int(name) / 9000 for name, value in before.values.items()}
    )
    assert not check_baseline(run(before), run(after))[0].passed
    assert check_baseline(run(after), run(before))[0].passed


@given(st.dictionaries(st.from_regex(r"[0-9a-f]{12}(-\d)?", fullmatch=True), st.floats(0, 1), min_size=1))
def test_a_file_holds_what_was_written(tmp_path_factory: pytest.TempPathFactory, values: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("baseline") / "b.json"
    made = run(BaselineTask("模型", "d", "accuracy", True, values))
    write_baseline(path, made)
    assert read_baseline(path) == made


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "run": "r", "tasks": [3]}']
)
def test_a_file_that_is_no_baseline(tmp_path: Path, content: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"no baseline|has format 2"):
        read_baseline(path)
