"""Each shipped benchmark runs: prompt, scripted answers, extraction, score."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from ais_prompt import run
from ais_prompt.config.cards import cards
from ais_prompt.config.compose import compose
from ais_prompt.config.locate import list_shipped
from ais_prompt.plan.source import Source, read_spec
from ais_prompt.readers.catalogue.dataset import CatalogDataset
from ais_prompt.readers.catalogue.rows import LETTERS
from tests.benchmark_samples import CONFIGS, NAMES, bring, sample
from tests.cli import run_cli

MOST_DATASETS = 2
"""Subjects of one config that are run."""
SANDBOXED = {"humaneval", "humaneval_plus", "mbpp", "mbpp_plus"}
PROCESSES = {"cmath", "math500", "aime24", "aime25", *SANDBOXED}
"""Benchmarks whose evaluator starts a process."""


@pytest.fixture(scope="module", autouse=True)
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("benchmarks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_DATA", str(folder / "data"))
        for name in NAMES:
            bring(name, folder / "brought")
        yield folder


def scripted(name: str, case: dict[str, Any]) -> dict[str, Any]:
    """The model that answers as the sample says."""
    model: dict[str, Any] = {"type": "ScriptedModel", "abbr": "scripted"}
    if "likely" in case:
        surprises = {**dict.fromkeys(case["likely"], 0.1), "(?s).": 2.0}
        return {**model, "prompt_style": "text", "likelihoods": surprises}
    answers = dict(case.get("answers", {}))
    reader = CatalogDataset(name)
    for cue, choice in case.get("named", {}).items():
        row = next(row for split in reader.splits() for row in reader.read(split) if cue in row["question"])
        place = [line[3:] for line in row["options"].split("\n")].index(choice)
        answers[cue] = f"It is {choice}.\nAnswer: {LETTERS[place]}"
    return {**model, "answers": answers, "default": "I have no answer to this."}


@pytest.mark.parametrize(
    ("name", "config"),
    [pytest.param(*pair, marks=[pytest.mark.process] if pair[0] in PROCESSES else []) for pair in CONFIGS],
    ids=[config for _, config in CONFIGS],
)
def test_a_config_scores_what_its_sample_says(
    name: str, config: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    case = sample(name)["configs"][config]
    values = compose((), (config,)).values
    datasets = values["datasets"][:MOST_DATASETS] if len(values["datasets"]) == 1 else here(values["datasets"])
    for dataset in datasets:
        if "judge" in case:
            judge = {"type": "ScriptedModel", "abbr": "judge", "answers": case["judge"]}
            dataset["eval_cfg"]["evaluator"]["judge_cfg"] = judge
    with caplog.at_level(logging.WARNING):
        done = run(
            {"models": [scripted(name, case)], "datasets": datasets, "work_dir": str(tmp_path)},
            report=False,
            quiet=True,
            allow_code_execution=name in SANDBOXED,
        )
    assert not caplog.records, [record.getMessage() for record in caplog.records]
    main: dict[str, float | None] = {}
    for row in done.rows:
        main.setdefault(row.dataset, None if row.score is None else round(100 * row.score, 1))
    assert main == dict.fromkeys((dataset["abbr"] for dataset in datasets), case["score"])


def here(datasets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The datasets whose rows the sample has."""
    columns = {column for dataset in datasets for column in dataset["only"]}
    assert len(columns) == 1
    [column] = columns
    reader = CatalogDataset(datasets[0]["benchmark"])
    values = {row[column] for split in reader.splits() for row in reader.read(split)}
    return [dataset for dataset in datasets if dataset["only"][column] in values][:MOST_DATASETS]


def test_each_card_has_a_config_and_each_config_a_sample() -> None:
    shipped = {found.path.parent.name: set[str]() for found in list_shipped("datasets")}
    for found in list_shipped("datasets"):
        shipped[found.path.parent.name].add(found.name)
    for name in cards():
        assert shipped.get(name), f"{name} has a card and no config"
        assert shipped[name] == set(sample(name)["configs"]), name


def test_there_are_enough_benchmarks() -> None:
    assert len(cards()) >= 25


@pytest.mark.parametrize(
    ("suite", "average"),
    [("chat_core", "chat-core"), ("base_core", "base-core"), ("chinese_core", "chinese-core"), ("code", "code")],
)
def test_a_suite_has_its_averages(suite: str, average: str) -> None:
    source = Source(models=["demo_base"], datasets=[suite], allow_code_execution=True)
    spec = read_spec(source).spec
    groups = {group.name: group for group in spec.summary.groups}
    known = {dataset.abbr for dataset in spec.datasets} | groups.keys()
    assert {entry.name for group in groups.values() for entry in group.subsets} <= known
    assert len(groups[average].subsets) >= 3


def test_mmlu_has_57_subjects_in_four_fields() -> None:
    spec = read_spec(Source(models=["demo_base"], datasets=["mmlu_gen"])).spec
    sizes = {group.name: len(group.subsets) for group in spec.summary.groups}
    assert sizes.pop("mmlu") == len(spec.datasets) == 57
    assert len(sizes) == 4
    assert sum(sizes.values()) == 57


def test_list_and_describe_show_the_cards(data: Path) -> None:
    shown = run_cli("list", "datasets").stdout
    for name, card in cards().items():
        assert any(line.split()[:1] == [name] and card.tests in line and "here" in line for line in shown.splitlines())
    described = run_cli("describe", "mmlu_ppl", environment={"COLUMNS": "100"}).stdout
    for text in (
        "mmlu (benchmark)",
        "14,042",
        "licence: MIT",
        "PPLInferencer",
        "last_option_postprocess",
        "not verified",
    ):
        assert text in described
    assert run_cli("describe", "hellaswog").stderr.count("did you mean hellaswag")


def test_one_screen_each() -> None:
    for name, card in cards().items():
        for file in [card.folder / "card.toml", *card.folder.glob(f"{name}*.py")]:
            assert len(file.read_text("utf-8").splitlines()) <= 60, file
