"""Each shipped benchmark runs: prompt, scripted answers, extraction, score."""

from __future__ import annotations

import logging
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ais_prompt import run
from ais_prompt.config import Options, compose_config, find_shipped, list_shipped
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.benchmarks.card import find_card, read_cards
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.extensions.benchmarks.cards.publisher_rows import LETTERS
from ais_prompt.plan import read_spec
from ais_prompt.registry import READERS
from tests.extensions.benchmarks.benchmark_samples import CONFIGS, NAMES, bring, sample
from tests.support.cli import run_cli
from tests.support.logged import own_messages

MOST_DATASETS = 5
"""Subjects of one config that are run."""
SANDBOXED = {"big_code_bench", "humaneval", "humaneval_plus", "live_code_bench", "mbpp", "mbpp_plus"}
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


def scripted(name: str, case: dict[str, Any], datasets: list[dict[str, Any]]) -> dict[str, Any]:
    """The model that answers as the sample says."""
    model: dict[str, Any] = {"type": "ScriptedModel", "abbr": "scripted"}
    if "likely" in case:
        surprises = {**dict.fromkeys(case["likely"], 0.1), "(?s).": 2.0}
        return {**model, "prompt_style": "text", "likelihoods": surprises}
    answers = dict(case.get("answers", {}))
    if "right" in case:
        return {**model, "answers": known_answers(datasets, case["right"]), "default": "I have no answer to this."}
    reader = CatalogDataset(name)
    for cue, choice in case.get("named", {}).items():
        row = next(row for split in reader.splits() for row in reader.read(split) if cue in row["question"])
        place = [line[3:] for line in row["options"].split("\n")].index(choice)
        answers[cue] = f"It is {choice}.\nAnswer: {LETTERS[place]}"
    return {**model, "answers": answers, "default": "I have no answer to this."}


def known_answers(datasets: list[dict[str, Any]], number: int) -> dict[str, str]:
    """The golds of the first so many rows that each reader makes, by the last line of their prompts."""
    found = {}
    for dataset in datasets:
        taken = {name: value for name, value in dataset.items() if name not in ("type", "abbr") and name[-4:] != "_cfg"}
        rows = islice(READERS.make(dataset["type"], taken).read("test"), number)
        found.update({re.escape(row["prompt"].rsplit("\n", 1)[1]): ", ".join(row["answers"]) for row in rows})
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "config"),
    [pytest.param(*pair, marks=[pytest.mark.process] if pair[0] in PROCESSES else []) for pair in CONFIGS],
    ids=[config for _, config in CONFIGS],
)
def test_a_config_scores_what_its_sample_says(
    name: str, config: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    case = sample(name)["configs"][config]
    values = compose_config((), (config,)).values
    datasets = some_datasets(name, values["datasets"])
    for dataset in datasets:
        if "judge" in case:
            judge = {"type": "ScriptedModel", "abbr": "judge", "answers": case["judge"], "default": "[[C]]"}
            dataset["eval_cfg"]["evaluator"]["judge_cfg"] = judge
    models = [scripted(name, case, datasets)]
    if "baseline" in case:
        models += [{"type": "ScriptedModel", "abbr": "baseline", "answers": case["baseline"]}]
    with caplog.at_level(logging.WARNING):
        done = run(
            {"models": models, "datasets": datasets, "work_dir": str(tmp_path)},
            report=False,
            quiet=True,
            allow_code_execution=name in SANDBOXED,
        )
    assert own_messages(caplog) == []
    main: dict[str, float | None] = {}
    for row in done.rows:
        main.setdefault(row.dataset, None if row.score is None else round(100 * row.score, 1))
    assert main == dict.fromkeys((dataset["abbr"] for dataset in datasets), case["score"])


def some_datasets(name: str, datasets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The datasets of a config that are run, with rows that the sample has, or makes smaller."""
    if "made" in sample(name):
        return [dataset | sample(name)["made"] for dataset in datasets[:MOST_DATASETS]]
    return datasets if len(datasets) == 1 else here(datasets)


def here(datasets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The datasets whose rows the sample has."""
    reader = CatalogDataset(datasets[0]["benchmark"])
    rows = [row for split in reader.splits() for row in reader.read(split)]
    found = [dataset for dataset in datasets if any(dataset["only"].items() <= row.items() for row in rows)]
    return found[:MOST_DATASETS]


@pytest.mark.thorough
def test_each_card_has_a_config_and_each_config_a_sample() -> None:
    shipped = {found.path.parent.name: set[str]() for found in list_shipped("datasets")}
    for found in list_shipped("datasets"):
        shipped[found.path.parent.name].add(found.name)
    for name in read_cards():
        assert shipped.get(name), f"{name} has a card and no config"
        assert shipped[name] == set(sample(name)["configs"]), name


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, card in read_cards().items() if card.made])
def test_configs_of_made_rows_keep_room_for_the_answer(name: str) -> None:
    configs = [config for folder, config in CONFIGS if folder == name]
    sizes = {}
    for config in configs:
        for dataset in compose_config((), (config,)).values["datasets"]:
            assert dataset["max_out_len"] == dataset["infer_cfg"]["inferencer"]["max_out_len"]
            sizes[dataset["abbr"]] = (dataset["length"], dataset["num_samples"])
    assert len(sizes) == sum(len(compose_config((), (config,)).values["datasets"]) for config in configs)
    shortest = min(length for length, _ in sizes.values())
    assert all(length.bit_count() == 1 for length, _ in sizes.values()), "lengths are powers of two"
    questions = sum(number for length, number in sizes.values() if name == "needle" or length == shortest)
    assert find_card(name).size == questions


@pytest.mark.thorough
def test_data_of_made_rows_cannot_be_got() -> None:
    done = run_cli("data", "get", "ruler")
    assert done.returncode == 2
    assert "made when they are read" in done.stderr


def test_there_are_enough_benchmarks() -> None:
    assert len(read_cards()) >= 25


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("suite", "average"),
    [("chat_core", "chat-core"), ("base_core", "base-core"), ("chinese_core", "chinese-core"), ("code", "code")],
)
def test_a_suite_has_its_averages(suite: str, average: str) -> None:
    source = Options(models=["demo_base"], datasets=[suite], allow_code_execution=True)
    spec = read_spec(source).spec
    groups = {group.name: group for group in spec.summary.groups}
    known = {dataset.abbr for dataset in spec.datasets} | groups.keys()
    assert {entry.name for group in groups.values() for entry in group.subsets} <= known
    assert len(groups[average].subsets) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "subjects", "fields", "across"),
    [
        ("mmlu", 57, {"stem": 19, "humanities": 13, "social-sciences": 12, "other": 13}, {}),
        ("ceval", 52, {"stem": 20, "humanities": 11, "social-science": 10, "other": 11}, {"hard": 8}),
        ("cmmlu", 67, {"stem": 17, "humanities": 13, "social-science": 22, "other": 15}, {"china-specific": 15}),
    ],
)
@pytest.mark.parametrize("kind", ["gen", "ppl"])
def test_averages_by_field(name: str, subjects: int, fields: dict[str, int], across: dict[str, int], kind: str) -> None:
    spec = read_spec(Options(models=["demo_base"], datasets=[f"{name}_{kind}"])).spec
    prefix = name if kind == "gen" else f"{name}-ppl"
    groups = {group.name: [entry.name for entry in group.subsets] for group in spec.summary.groups}
    sizes = {group: len(subsets) for group, subsets in groups.items()}
    assert sizes == {prefix: subjects, **{f"{prefix}-{group}": size for group, size in (fields | across).items()}}
    datasets = sorted(dataset.abbr for dataset in spec.datasets)
    assert sorted(subset for field in fields for subset in groups[f"{prefix}-{field}"]) == datasets
    assert sorted(groups[prefix]) == datasets


@pytest.mark.thorough
def test_list_and_describe_show_the_cards(data: Path) -> None:
    shown = run_cli("list", "datasets").stdout
    for name, card in read_cards().items():
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
    for name, card in read_cards().items():
        for file in [card.folder / "card.toml", *card.folder.glob(f"{name}*.py")]:
            assert len(file.read_text("utf-8").splitlines()) <= 60, file


@pytest.mark.thorough
def test_every_benchmark_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of several lengths or languages name their configs instead."""
    monkeypatch.chdir(tmp_path)
    of_several = {"needle", "ruler"}
    for card in set(read_cards()) - of_several:
        assert find_shipped("datasets", card).parent.name == card
    for card in of_several:
        with pytest.raises(ConfigError, match="has several configs") as caught:
            find_shipped("datasets", card)
        assert f"{card}_" in caught.value.fix
