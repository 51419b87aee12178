"""Drawn questions: which are drawn, how many, and what the command line makes of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import allot, drawn, number_drawn
from ais_prompt.metrics import mean_scores
from ais_prompt.types import DrawSpec, ReaderSpec, Sample, SampleScore, Stratum, parse_draw
from tests.support.cli import run_cli

COUNTS = st.lists(st.integers(1, 300), min_size=1, max_size=30)


def samples(names: list[str], kinds: list[str] | None = None) -> list[Sample]:
    kinds = kinds or [""] * len(names)
    return [
        Sample(name, number, {"kind": kind}, "x") for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]


def ids(found: Any) -> set[str]:
    return {sample.id for sample in found}


def draw(all_of_them: list[Sample], **values: Any) -> Any:
    return drawn(all_of_them, ("kind",), ReaderSpec(("q",), "a", where="reader_cfg", sample=DrawSpec(**values)))


@given(st.integers(1, 200), st.integers(1, 250), st.integers(0, 5))
def test_the_draw_does_not_depend_on_the_order_and_grows(size: int, n: int, seed: int) -> None:
    names = [f"id{number}" for number in range(size)]
    found = draw(samples(names), size=n, seed=seed)
    assert len(found) == min(n, size)
    shuffled = random.Random(seed).sample(names, size)
    assert ids(draw(samples(shuffled), size=n, seed=seed)) == ids(found)
    assert ids(found) <= ids(draw(samples(names), size=n + 7, seed=seed))
    assert [sample.index for sample in found] == list(range(len(found)))
    assert [sample.id for sample in found] == sorted(ids(found), key=names.index)
    assert list(found[1:3]) == [found[1:3][number] for number in range(len(found[1:3]))]


def test_new_rows_replace_as_many_as_they_are_a_part_of_all() -> None:
    names = [f"id{number}" for number in range(1000)]
    before = ids(draw(samples(names), size=200))
    after = ids(draw(samples([*names, *(f"new{number}" for number in range(100))]), size=200))
    assert 165 <= len(before & after) < 200
    assert ids(draw(samples(names), size=200, seed=1)) != before


def test_every_question_is_drawn_equally_often() -> None:
    names = [f"id{number}" for number in range(40)]
    counts = Counter(name for seed in range(400) for name in ids(draw(samples(names), size=10, seed=seed)))
    assert len(counts) == 40
    assert all(60 <= count <= 145 for count in counts.values())  # 100 ± 5 standard deviations


@given(st.lists(st.sampled_from("aaaaab"), min_size=10, max_size=200), st.integers(2, 60))
def test_strata_have_their_part_and_at_least_one(kinds: list[str], n: int) -> None:
    found = list(draw(samples([f"id{number}" for number in range(len(kinds))], kinds), size=n, by="kind"))
    if n >= len(kinds):
        assert all(sample.stratum is None for sample in found)
        return
    counts = Counter(sample.fields["kind"] for sample in found)
    for kind, size in Counter(kinds).items():
        assert 1 <= counts[kind] <= size
        assert abs(counts[kind] - n * size / len(kinds)) <= 1
    assert {sample.stratum for sample in found} == {Stratum(kind, size) for kind, size in Counter(kinds).items()}


@given(COUNTS, st.data())
def test_questions_are_divided_in_proportion(sizes: list[int], data: st.DataObject) -> None:
    total = data.draw(st.integers(len(sizes), sum(sizes)))
    counts = allot(total, sizes)
    assert sum(counts) == total
    assert all(1 <= count <= size for count, size in zip(counts, sizes, strict=True))
    if total < sum(sizes):
        assert all(more >= count for more, count in zip(allot(total + 1, sizes), counts, strict=True))
    if len(sizes) > 1:
        with pytest.raises(ValueError, match="cannot have one of each"):
            allot(len(sizes) - 1, sizes)


@given(st.integers(50, 20_000), st.floats(0.5, 20), st.floats(0.0, 1.0))
def test_as_many_are_drawn_as_the_interval_needs(size: int, points: float, share: float) -> None:
    n = number_drawn(DrawSpec(points=points), size)
    assert 1 <= n <= size
    if n == size or n > 3000:
        return
    right = round(share * n)
    of = Stratum("", size)
    scores = [SampleScore(str(k), "scored", values={"a": float(k < right)}, stratum=of) for k in range(n)]
    [score] = mean_scores(["a"], scores)
    assert score.interval is not None
    assert (score.interval[1] - score.interval[0]) / 2 <= points / 100 + 1 / size + 0.004


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (200, DrawSpec(200)),
        ("200", DrawSpec(200)),
        ("±2", DrawSpec(points=2.0)),
        ("+-2.5", DrawSpec(points=2.5)),
        (" +/-2 % ", DrawSpec(points=2.0)),
        ({"size": "±2", "by": "kind", "seed": 3}, DrawSpec(points=2.0, by="kind", seed=3)),
    ],
)
def test_what_a_draw_may_look_like(value: Any, expected: DrawSpec) -> None:
    assert parse_draw(value) == expected


@pytest.mark.parametrize("value", [0, -3, "x", "", 1.5, True, {}, {"size": 3, "sed": 1}, "±0", "±70", [3], "2%"])
def test_what_is_no_draw(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_draw(value)


CONFIG = """
def dataset(name):
    return dict(type='LocalDataset', abbr=name, path=name + '.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='a'),
        infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                       inferencer=dict(type='GenInferencer')),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')))
models = [dict(type='ScriptedModel', abbr=name, default='yes') for name in ('m', 'o')]
datasets = [dataset('small'), dataset('large')]
summarizer = dict(summary_groups=[dict(name='all', subsets=['small', 'large'], weights='n')])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, size in (("small", 20), ("large", 180)):
        rows = [
            {"question": f"{name} {n}?", "a": "yes" if n % 4 else "no", "level": str(n % 3 > 1)} for n in range(size)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "e.py").write_text(CONFIG)
    return tmp_path


def rows_of(folder: Path, place: int = -1) -> dict[tuple[str, str, str], dict[str, Any]]:
    run = sorted((folder / "outputs/e").iterdir())[place]
    rows = json.loads((run / "summary/summary.json").read_text())
    return {(row["model"], row["dataset"], row["metric"]): row for row in rows}


def asked(folder: Path, model: str, dataset: str, place: int = -1) -> list[str]:
    run = sorted((folder / "outputs/e").iterdir())[place]
    lines = (run / f"predictions/{model}/{dataset}.jsonl").read_text().splitlines()
    return [json.loads(line)["id"] for line in lines]


@pytest.mark.process
def test_datasets_of_a_group_divide_the_questions(folder: Path) -> None:
    done = run_cli("run", "e.py", "--sample", "50", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "m/large: 45 of 180 drawn, ±" in done.stdout
    assert " for the whole set" in done.stdout
    rows = rows_of(folder)
    assert (rows["m", "small", "accuracy"]["n"], rows["m", "large", "accuracy"]["n"]) == (5, 45)
    average = rows["m", "all", "weighted_average"]
    assert (average["n"], average["population"]) == (50, 200)
    parts = [rows["m", name, "accuracy"]["score"] for name in ("small", "large")]
    assert average["score"] == pytest.approx((20 * parts[0] + 180 * parts[1]) / 200)
    assert average["ci95_low"] < average["score"] < average["ci95_high"]
    assert asked(folder, "m", "large") == asked(folder, "o", "large")
    [config] = (folder / "outputs/e").glob("*/config.py")
    assert "size=45" in config.read_text().replace("'size': 45", "size=45")


@pytest.mark.process
def test_a_larger_draw_goes_on_with_the_smaller(folder: Path) -> None:
    assert run_cli("run", "e.py", "--sample", "50", folder=folder).returncode == 0
    before = asked(folder, "m", "large")
    grown = run_cli("run", "e.py", "--sample", "100", "-r", folder=folder)
    assert "90/90 (45 from before)" in grown.stderr + grown.stdout
    assert set(before) < set(asked(folder, "m", "large"))
    whole = run_cli("run", "e.py", "-r", folder=folder)
    assert "180/180 (90 from before)" in whole.stderr + whole.stdout
    assert rows_of(folder)["m", "large", "accuracy"]["population"] is None


@pytest.mark.process
def test_the_first_questions_are_no_sample(folder: Path) -> None:
    instead = "ask a random sample instead aisprompt run e.py --sample 20"
    assert instead in run_cli("run", "e.py", "--num-prompts", "20", folder=folder).stdout
    assert "random sample" not in run_cli("run", "e.py", "--num-prompts", "20", "--sample", "5", folder=folder).stdout


@pytest.mark.process
def test_stored_draws_are_scored_and_compared_with_the_whole_set(folder: Path) -> None:
    assert run_cli("run", "e.py", "--sample", "50", "--sample-by", "level", folder=folder).returncode == 0
    first = rows_of(folder)
    [run] = (folder / "outputs/e").iterdir()
    assert run_cli("score", str(run), folder=folder).returncode == 0
    assert rows_of(folder) == first
    assert run_cli("run", "e.py", folder=folder).returncode == 0
    compared = run_cli("compare", str(run), "e", folder=folder).stdout
    assert "sample={'size': 5, 'by': 'level', 'seed': 0}" in compared
    assert first["m", "large", "accuracy"]["population"] == 180
    assert run_cli("run", "e.py", "-w", "whole", folder=folder).returncode == 0
    [whole] = (folder / "whole/e").iterdir()
    compared = run_cli("compare", str(run), str(whole), "--json", folder=folder)
    found = json.loads(compared.stdout)["comparisons"]
    assert {one["n"] for one in found if one["dataset"] == "large"} == {45}


@pytest.mark.process
def test_shards_ask_the_same_draw(folder: Path) -> None:
    assert run_cli("run", "e.py", "--sample", "50", folder=folder).returncode == 0
    for part in ("0/2", "1/2"):
        done = run_cli("run", "e.py", "--sample", "50", "--shard", part, "-r", "parts", folder=folder)
        assert done.returncode == 0, done.stderr
    assert run_cli("merge", "outputs/e/parts", folder=folder).returncode == 0
    assert rows_of(folder) == rows_of(folder, 0)
    assert sorted(asked(folder, "m", "large")) == sorted(asked(folder, "m", "large", 0))


@pytest.mark.process
def test_a_lock_covers_all_questions(folder: Path) -> None:
    assert run_cli("lock", "e.py", folder=folder).returncode == 0
    done = run_cli("run", "e.py", "--locked", "--sample", "50", folder=folder)
    assert "The prompts are those of e.lock" in done.stderr
    assert rows_of(folder)["m", "large", "accuracy"]["n"] == 45


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sample", "x"], "--sample cannot be 'x'"),
        (["--sample", "1"], "1 questions cannot have one of each of 2 parts: datasets of a group"),
        (["--sample", "50", "--sample-by", "dog"], "the data have no column 'dog'"),
        (["--sample", "3", "--sample-by", "question"], "so many values"),
        (["--sample-by", "level"], "fix:   add --sample N"),
        (["--sample-seed", "3"], "fix:   add --sample N"),
        (["--set", "datasets.0.reader_cfg.sample=0"], "datasets[0].reader_cfg.sample cannot be 0"),
    ],
)
def test_a_draw_that_cannot_be_is_refused(folder: Path, options: list[str], words: str) -> None:
    done = run_cli("check", "e.py", *options, folder=folder)
    assert done.returncode == 2
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
