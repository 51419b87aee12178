"""A run whose judge compares its models with each other: what is asked, what is scored, and the ratings."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.ratings.bradley_terry import Battle
from ais_prompt.extensions.ratings.fitted_ratings import fit_ratings
from ais_prompt.extensions.ratings.stored_battles import STYLES, battles_of, style_counts
from ais_prompt.store import RunFolder, locate_run, read_details
from tests.support.cli import run_cli
from tests.support.servers import MockServer
from tools.chromium import Page

PARTS = """
import re

def answered(name):
    def answer(prompt):
        number = int(re.search(r'[0-9]+', prompt)[0])
        strength = {'weak': 1, 'fair': 2, 'good': 4}[name]
        return 'x' * (strength + number * 7 % 5)
    return answer

weak, fair, good = map(answered, ('weak', 'fair', 'good'))

def silent(prompt):
    return ''

def judge(prompt):
    first, second = (len(re.search(f'{name}: (x*)', prompt)[1]) for name in 'AB')
    number = int(re.search(r'q([0-9]+)', prompt)[1])
    if number % 6 == 5:  # the judge prefers the shorter one here
        first, second = second, first
    return '[[C]]' if first == second or number % 7 == 3 else '[[A]]' if first > second else '[[B]]'
"""
CONFIG = """
models = [dict(type='FunctionModel', abbr=name, function=f'parts.{{name}}') for name in {models}]
datasets = [dict(type='LocalDataset', abbr='facts', rows=[dict(q=f'q{{number}}') for number in range(24)],
    reader_cfg=dict(input_columns=['q'], output_column=None),
    infer_cfg=dict(prompt_template=dict(type="PromptTemplate", template="{{q}}"),
                   inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type='PairwiseEvaluator', baseline={baseline},
        judge_cfg=dict(type='FunctionModel', abbr='judge', function='parts.judge'),
        prompt_template=dict(type='PromptTemplate', template='{{q}}\\nA: {{prediction}}\\nB: {{prediction2}}'))))]
"""
ALL = ["weak", "fair", "good"]
pytestmark = pytest.mark.thorough


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(PARTS)
    return tmp_path


def run(folder: Path, models: list[str], baseline: Any = "all", *options: str, code: int = 0) -> str:
    (folder / "e.py").write_text(CONFIG.format(models=models, baseline=repr(baseline)))
    done = run_cli("run", "e.py", *options, folder=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def latest(folder: Path) -> RunFolder:
    return locate_run(folder / "outputs", "latest")


def scores(folder: Path) -> dict[str, float]:
    rows = json.loads((latest(folder).root / "summary/summary.json").read_text())
    return {row["model"]: row["score"] for row in rows if row["metric"] == "win_rate"}


def asked(folder: Path) -> Counter[str]:
    """Return the requests to the judge about the answers of each model, each of which comes first."""
    paths = latest(folder).root.glob("judge/*/predictions/judge/facts.jsonl")
    return Counter({path.parts[-4]: len(path.read_text().splitlines()) for path in paths})


def test_each_pair_is_asked_in_both_orders_and_models_are_ranked(folder: Path) -> None:
    shown = run(folder, ALL)
    assert asked(folder) == dict.fromkeys(ALL, 24 * 2)
    found = scores(folder)
    assert found["weak"] < found["fair"] < found["good"]
    assert math.fsum(found.values()) == pytest.approx(1.5)  # each point that one wins another one loses
    assert "facts: ratings · 95 % interval · 144 verdicts about 24 questions" in shown
    assert [line.split()[0] for line in shown.splitlines() if "–" in line and line.startswith(tuple(ALL))][-3:]
    [battles] = battles_of(latest(folder))
    assert Counter((one.first, one.second) for one in battles.battles) == {
        (first, second): 24 for first in ALL for second in ALL if first != second
    }
    report = (latest(folder).root / "report.html").read_text()
    assert '"ratings"' in report


def test_the_ratings_are_those_of_the_verdicts(folder: Path) -> None:
    run(folder, ALL)
    shown = run_cli("ratings", "latest", "--json", "--half-ties", folder=folder)
    [found] = json.loads(shown.stdout)["datasets"]
    battles = []
    for model in ALL:
        for line in (latest(folder).root / f"judge/{model}/predictions/judge/facts.jsonl").read_text().splitlines():
            said = json.loads(line)
            first, second = (text.split("\n")[0] for text in str(said["origin_prompt"]).split(": ")[1:])
            lengths = {len("x" * strength): name for name, strength in (("weak", 1), ("fair", 2), ("good", 4))}
            number = int(str(said["origin_prompt"]).split("\n")[0][1:])
            names = [lengths[len(text) - number * 7 % 5] for text in (first, second)]
            points = {"A": 1.0, "B": 0.0, "C": 0.5}[said["prediction"][2]]
            battles.append(Battle(names[0], names[1], points, str(number)))
    expected = {one.model: one.rating for one in fit_ratings(battles, ties="half", resamples=0).models}
    assert {one["model"]: one["rating"] for one in found["ratings"]["models"]} == pytest.approx(expected, abs=1e-6)


def test_covariates_of_the_answers(folder: Path) -> None:
    run(folder, ALL)
    for option, names in (("--length", ["length"]), ("--style", list(STYLES))):
        shown = run_cli("ratings", "latest", "--json", option, folder=folder)
        [found] = json.loads(shown.stdout)["datasets"]
        assert [one["name"] for one in found["ratings"]["effects"]] == ["first position", *names]
        known = {one["name"] for one in found["ratings"]["effects"] if one["value"] is not None}
        assert known == {"first position", "length"}  # the answers have no Markdown
    both = run_cli("ratings", "latest", "--length", "--style", folder=folder)
    assert "--length and --style are two ways to control for length" in both.stderr


def test_markdown_is_counted_as_arena_hard_counts_it() -> None:
    text = (
        "# Plan\n\n 1. **first** and __second__\n   * third\n- fourth\n#no header\n```\n# code\n- code\n```\n2.no item"
    )
    assert style_counts(text) == (len(text), 1, 3, 2)
    assert style_counts("") == (0, 0, 0, 0)


def test_only_the_pairs_of_a_model_that_is_added_are_asked(folder: Path) -> None:
    run(folder, ALL[:2])
    shown = run(folder, ALL, "all", "-r")
    assert "asked: 120 requests" in shown  # 24 answers, and 24 questions · 2 pairs · 2 orders
    added = scores(folder)
    run(folder, ALL)
    assert added == scores(folder)


def test_rounds_and_a_list_of_baselines_ask_less(folder: Path) -> None:
    run(folder, ALL, {"models": "all", "rounds": 1})
    assert sum(asked(folder).values()) == 24 * 2 * 2
    run(folder, ALL, ["good"])
    assert asked(folder) == {"weak": 24, "fair": 24, "good": 48}
    shown = run(folder, ALL, "good")
    assert "96 verdicts about 24 questions" in shown  # both orders are asked about the answers of a model
    assert set(scores(folder)) == {"weak", "fair"}  # a single baseline has no score of its own


def test_an_answer_in_which_nothing_is_found_loses(folder: Path) -> None:
    run(folder, ["weak", "silent", "good"])
    assert scores(folder)["silent"] == 0
    [battles] = battles_of(latest(folder))
    silent = [one for one in battles.battles if "silent" in (one.first, one.second)]
    assert len(silent) == 24 * 2 * 2
    assert {one.points for one in silent if one.first == "silent"} == {0.0}


SEVERAL = """
def answered(name):
    count = {}
    def answer(prompt):
        count[prompt] = number = count.get(prompt, -1) + 1
        return 'x' * ({'weak': 1, 'fair': 2, 'good': 4}[name] + (number * 2 + int(prompt[1:])) % 6)
    return answer

weak, fair, good = map(answered, ('weak', 'fair', 'good'))
"""


def run_with_three_answers(folder: Path, model: str, *options: str, code: int = 0) -> str:
    """Ask each question three times; the first model of the config is replaced."""
    (folder / "parts.py").write_text(PARTS + SEVERAL)
    config = CONFIG.format(models=ALL, baseline="'all'").replace("abbr='facts'", "abbr='facts', n=3")
    (folder / "e.py").write_text(f"{config}\nmodels[0] = {model or 'models[0]'}\n")
    done = run_cli("run", "e.py", *options, folder=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def answers_of(folder: Path) -> dict[str, list[list[Any]]]:
    return {
        path.parent.name: [json.loads(line)["prediction"] for line in path.read_text().splitlines()]
        for path in latest(folder).root.glob("predictions/*/facts.jsonl")
    }


def test_of_several_answers_each_meets_that_of_the_same_number(folder: Path) -> None:
    shown = run_with_three_answers(folder, "")
    assert f"{24 * 3 * 3 * 2} verdicts about 24 questions" in shown
    answers, wins = answers_of(folder), dict.fromkeys(ALL, 0.0)
    for number in range(24):
        for repeat in range(3):
            for own in ALL:
                for other in set(ALL) - {own}:
                    first, second = (len(answers[name][number][repeat]) for name in (own, other))
                    first, second = (second, first) if number % 6 == 5 else (first, second)
                    wins[own] += 0.5 if first == second or number % 7 == 3 else float(first > second)
    assert scores(folder) == pytest.approx({name: points / (24 * 3 * 2) for name, points in wins.items()})
    [battles] = battles_of(latest(folder))
    means = dict.fromkeys(ALL, 0.0)
    for one in battles.battles:
        means[one.first] += one.points
        means[one.second] += 1 - one.points
    assert means == pytest.approx({name: 2 * points for name, points in wins.items()})  # both orders


def test_an_answer_of_several_that_failed_takes_no_part(folder: Path, server: MockServer) -> None:
    server.follow({"requests": [5], "status": 400}, {"answer": "xxx"})
    weak = f"dict(type='OpenAIChatModel', abbr='weak', model='m', base_url={server.base_url!r}, api_key=None)"
    run_with_three_answers(folder, weak, "--max-failures", "1")
    failed = [
        (row, place)
        for row, each in enumerate(answers_of(folder)["weak"])
        for place, one in enumerate(each)
        if one is None
    ]
    assert len(failed) == 1
    [battles] = battles_of(latest(folder))
    assert len(battles.battles) == 24 * 3 * 3 * 2 - 2 * 2
    for model, lost in (("weak", 1), ("good", 0)):
        details = list(read_details(latest(folder).results(model, "facts")))
        assert sum(one.status == "failed" for each in details for one in each.repeats) == lost


@pytest.mark.parametrize(
    ("models", "baseline", "message"),
    [
        (ALL[:1], "all", "facts is answered by one model"),
        (ALL, ["weak", "other"], "the run has no model 'other' to compare with"),
        (ALL, {"model": "weak", "rounds": 2}, "rounds needs several models"),
        (ALL, {"model": "weak", "models": "all"}, "names answers of more than one kind"),
    ],
)
def test_baselines_that_cannot_be(folder: Path, models: list[str], baseline: Any, message: str) -> None:
    assert message in run(folder, models, baseline, code=2)


def test_a_run_without_battles_says_how_to_get_some(folder: Path) -> None:
    run(folder, ALL[:2])
    shown = run_cli("ratings", "latest", folder=folder)
    assert shown.returncode == 2
    assert "fix:   compare the models: evaluator=dict(type='PairwiseEvaluator', baseline='all'" in shown.stderr


def test_a_dataset_with_another_evaluator_beside_the_comparison(folder: Path) -> None:
    before, _, evaluator = CONFIG.format(models=ALL, baseline="'all'").partition("evaluator=")
    pairs = evaluator.strip().removesuffix("))]")
    (folder / "e.py").write_text(f"{before}evaluator=dict(pairs={pairs}, exact=dict(type='EMEvaluator'))))]\n")
    done = run_cli("run", "e.py", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "facts (pairs): ratings · 95 % interval · 144 verdicts" in done.stdout


@pytest.mark.browser
def test_the_report_has_a_tab(folder: Path, chromium: Page) -> None:
    run(folder, ALL)
    chromium.complaints.clear()
    chromium.open(latest(folder).report.as_uri())
    chromium.wait_for("performance.getEntriesByName('samples').length")  # until then the tabs may move below the mouse
    tabs = chromium.texts("[role=tab]")
    chromium.click("[role=tab]", next(place for place, text in enumerate(tabs) if text.startswith("Ratings")))
    chromium.wait_for("document.querySelector('.ratings table')")
    assert [line.split()[0] for line in chromium.texts(".ratings table:first-of-type tbody tr")[:3]] == ALL[::-1]
    assert not chromium.complaints
