"""The scorers of shipped benchmarks are not fooled, but for those whose cards say what they accept."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ais_prompt import check
from ais_prompt.config import compose_config
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from tests.extensions.benchmarks.benchmark_samples import CONFIGS, bring, sample

LENIENT = {"drop_gen", "ocrbench_gen", "triviaqa_gen"}
"""Their cards have a note."""
JUDGED = {"aa_lcr", "healthbench", "hle", "mt_bench", "simpleqa"}
OTHERS = {"bfcl", "drop_f1_gen", "gsm8k", "ifbench", "ifeval", "mrcr", *JUDGED}
"""Benchmarks and configs whose golds are no short texts, or are judged."""
SANDBOXED = {"big_code_bench", "humaneval", "humaneval_plus", "live_code_bench", "mbpp", "mbpp_plus"}
PROCESSES = {"aime24", "aime25", "cmath", "math500", *SANDBOXED}
NAMES = ["Oslo", "Rome", "Paris", "Lima", "Quito", "Cairo", "Delhi", "Tokyo"]
TRIED = [
    (name, config)
    for name, config in CONFIGS
    if config.endswith("_gen") and not {name, config} & (OTHERS | PROCESSES) and "made" not in sample(name)
]


def another(gold: Any, draw: Random) -> Any:
    """A gold of the same kind: one letter, yes or no, a number, or a name."""
    if isinstance(gold, list):
        return [another(gold[0], draw)] * len(gold)
    if gold in ("yes", "no"):
        return draw.choice(["yes", "no"])
    if len(str(gold)) == 1 and str(gold).isupper():
        return draw.choice("AB")
    return str(draw.randint(1, 90)) if str(gold).lstrip("-").replace(".", "").isdigit() else draw.choice(NAMES)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "config"), TRIED, ids=[config for _, config in TRIED])
def test_answers_that_know_nothing(name: str, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "data"))
    bring(name, tmp_path / "brought")
    reader, draw = CatalogDataset(name), Random(config)
    rows = [row for split in reader.splits() for row in reader.read(split)]
    found = next(
        (dataset, fitting)
        for dataset in compose_config((), (config,)).values["datasets"]
        if (fitting := [row for row in rows if dataset.get("only", {}).items() <= row.items()])
    )
    dataset, column = dict(found[0]), found[0]["reader_cfg"]["output_column"]
    many = [{**row, column: another(row[column], draw)} for row in found[1] * (48 // len(found[1]))]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many), "utf-8")
    del dataset["benchmark"]
    dataset.pop("only", None)
    roots = [str(tmp_path / "data")]
    dataset |= {"type": "LocalDataset", "path": str(tmp_path / "rows.jsonl")}
    dataset["reader_cfg"] = {**dataset["reader_cfg"], "test_split": "test", "media_roots": roots}
    dataset["infer_cfg"] = {**dataset["infer_cfg"], "retriever": {"type": "ZeroRetriever"}}
    models = [{"type": "ScriptedModel", "abbr": "m"}]
    [audit] = check({"models": models, "datasets": [dataset]}, audit_scorers=True).audits
    assert bool(audit.fooled) == (config in LENIENT), audit
    if config in LENIENT:
        assert reader.card.note
