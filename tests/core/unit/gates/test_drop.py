"""A run held against a baseline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.errors import ConfigError
from ais_prompt.gates import Baseline, BaselineTask, check_baseline, read_baseline, write_baseline


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


@pytest.mark.thorough
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


def test_scores_of_further_evaluators_are_held_to_their_own() -> None:
    further = replace(task(90, 10, metric="exact_match"), evaluator="exact")
    worse = replace(task(70, 30, metric="exact_match"), evaluator="exact")
    same, dropped = check_baseline(run(task(90, 10), further), run(task(90, 10), worse))
    assert (same.subject, same.passed) == ("m/d", True)
    assert (dropped.subject, dropped.passed) == ("m/d (exact)", False)
    # A baseline of an earlier version has none; a run that lost one shows nothing.
    [verdict] = check_baseline(run(task(90, 10)), run(task(90, 10), further))
    assert verdict.passed
    missing, _ = check_baseline(run(task(90, 10), further), run(task(90, 10)))
    assert missing.inconclusive
    assert (missing.subject, "not in the run" in missing.found) == ("m/d (exact)", True)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (task(9, 1, "other"), ["is not in the baseline", "is in the baseline but not in the run"]),
        (task(9, 1, metric="em"), ["has the metric em, in the baseline it is accuracy"]),
        (BaselineTask("m", "d", "accuracy", True, {"x": 1.0}), ["0 of 10 samples are answered in both runs"]),
        (task(1, 0), ["1 of 10 samples are answered in both runs"]),
        (replace(task(2, 1), n=10), ["(10 of 10 in the baseline, 3 of 10 in the run)"]),
        (replace(task(9, 1), n=12), ["10 of 12 samples are answered in both runs, which is less than 90%"]),
    ],
)
def test_without_evidence_nothing_is_concluded(after: BaselineTask, words: list[str]) -> None:
    verdicts = check_baseline(run(task(9, 1)), run(after))
    assert [part in verdict.found for verdict, part in zip(verdicts, words, strict=True)] == [True] * len(words)
    assert all(verdict.inconclusive and not verdict.passed for verdict in verdicts)


def test_nothing_changed_is_only_said_if_nothing_did() -> None:
    def found(before: BaselineTask, after: BaselineTask) -> str:
        [verdict] = check_baseline(run(before), run(after))
        return verdict.found

    assert "nothing changed" in found(task(9, 1), task(9, 1))
    assert "nothing changed" not in found(task(1, 0), task(0, 1))  # one sample, another value
    f1 = BaselineTask("m", "d", "f1", True, dict.fromkeys("abcdef", 0.5))
    assert "nothing changed" not in found(f1, replace(f1, values=dict.fromkeys("abcdef", 0.25)))
    bleu = replace(f1, metric="bleu", fraction=False, sums=dict.fromkeys("abcdef", (1.0,)))
    other = replace(bleu, sums={**bleu.sums, "b": (3.0,)})
    for after, unchanged in ((bleu, True), (other, False)):
        [verdict] = check_baseline(run(bleu), run(after), metrics={"m/d": lambda sums: float(sums[0])})
        assert ("nothing changed" in verdict.found) is unchanged


def test_a_metric_of_sums_is_compared_as_such() -> None:
    def ratio(sums: NDArray[np.float64]) -> float:
        return float(sums[0] / sums[1])

    def made(right: int) -> BaselineTask:
        # Every sample alone has the same value in both runs; a long one weighs more in the whole.
        sums = {f"s{n}": (float(n % 2 * right), 1.0 + 9 * (n % 2)) for n in range(200)}
        return BaselineTask("m", "d", "ratio", False, dict.fromkeys(sums, 0.5), 200, sums)

    [worse] = check_baseline(run(made(8)), run(made(4)), metrics={"m/d": ratio})
    assert not worse.passed
    assert not worse.inconclusive
    assert f"ratio {(400 - 800) / 1100:+.4g} on 200" in worse.found
    assert check_baseline(run(made(4)), run(made(8)), metrics={"m/d": ratio})[0].passed
    [old] = check_baseline(run(replace(made(8), sums={})), run(made(8)), metrics={"m/d": ratio})
    assert old.inconclusive


def nights(runs: int, count: int, draw: np.random.Generator) -> tuple[Baseline, list[Baseline]]:
    """A baseline of several runs, and later runs of the same model, whose answers vary."""
    chances = np.concatenate([np.ones(60), draw.random(80)])

    def drawn() -> BaselineTask:
        right = (draw.random(len(chances)) < chances).tolist()
        return BaselineTask("m", "d", "accuracy", True, {str(n): float(one) for n, one in enumerate(right)})

    base = [drawn() for _ in range(runs)]
    mean = {name: sum(one.values[name] for one in base) / runs for name in base[0].values}
    return Baseline("runs", [replace(base[0], values=mean)], runs=runs), [run(drawn()) for _ in range(count)]


@pytest.mark.thorough
@pytest.mark.slow
def test_a_baseline_of_several_runs_keeps_the_level() -> None:
    draw = np.random.default_rng(11)
    for runs in (1, 4):
        failed = [
            not check_baseline(base, night)[0].passed for base, [night] in (nights(runs, 1, draw) for _ in range(400))
        ]
        assert 0.005 < np.mean(failed) < 0.08  # 0.05 and three standard errors


def test_the_level_can_be_chosen() -> None:
    before, after = run(task(90, 10)), run(task(83, 17))  # seven became worse: p is 1/128
    assert not check_baseline(before, after, level=0.01)[0].passed
    assert check_baseline(before, after, level=0.005)[0].passed


def test_too_few_samples_cannot_show_a_drop() -> None:
    for metric, worse in (("accuracy", 0.0), ("f1", 0.25)):
        before = BaselineTask("m", "d", metric, True, dict.fromkeys("abcd", 1.0))
        [verdict] = check_baseline(run(before), run(replace(before, values=dict.fromkeys("abcd", worse))))
        assert verdict.inconclusive
        five = replace(before, values=dict.fromkeys("abcde", 1.0))
        [verdict] = check_baseline(run(five), run(replace(five, values=dict.fromkeys("abcde", worse))))
        assert not verdict.inconclusive


def test_a_drop_in_one_cluster_is_no_drop_of_its_many_samples() -> None:
    clusters = {f"s{number}": str(number // 20) for number in range(100)}
    before, after = task(100, 0), task(80, 20)
    assert not check_baseline(run(before), run(after))[0].passed
    assert check_baseline(run(before), run(replace(after, clusters=clusters)))[0].passed


def test_a_limit_on_the_drop_is_exact() -> None:
    # 7 of 100 became worse: a drop of exactly 0.07, which matters from 0.07 on.
    for least, passed in ((0.07, False), (0.0700001, True)):
        [verdict] = check_baseline(run(task(90, 10)), run(task(83, 17)), min_drop=least)
        assert verdict.passed is passed


@pytest.mark.thorough
def test_values_that_are_no_right_and_wrong() -> None:
    before = BaselineTask("m", "d", "f1", True, {str(n): 0.5 + n / 1000 for n in range(100)})
    after = BaselineTask(
        "m", "d", "f1", True, {name: value - 0.1 - int(name) / 9000 for name, value in before.values.items()}
    )
    assert not check_baseline(run(before), run(after))[0].passed
    assert check_baseline(run(after), run(before))[0].passed


@pytest.mark.thorough
@given(st.dictionaries(st.from_regex(r"[0-9a-f]{12}(-\d)?", fullmatch=True), st.floats(0, 1), min_size=1))
def test_a_file_holds_what_was_written(tmp_path_factory: pytest.TempPathFactory, values: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("baseline") / "b.json"
    sums = {name: (value, 1 / 3) for name, value in values.items()}
    made = run(
        BaselineTask("模型", "d", "accuracy", True, values), BaselineTask("m", "b", "bleu", False, values, 9, sums)
    )
    made = replace(made, runs=3, tasks=(replace(made.tasks[0], noise=0.125), *made.tasks[1:]))
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
