"""All shipped configs are well, with the data of all benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.checks import checked
from ais_prompt.config import Options, list_shipped, load_config
from tests.extensions.benchmarks.benchmark_samples import NAMES, bring


@pytest.mark.process
def test_shipped_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for name in NAMES:
        bring(name, tmp_path / "brought")
    # A benchmark with many subjects has sample rows for a few; suites hold what other configs hold. Not every model
    # sees images or takes messages, and the weights of one are a package.
    single = [
        one.name
        for one in list_shipped("datasets")
        if len(found := load_config(one.path).values["datasets"]) == 1
        and not any(template in str(found) for template in ("MMPromptTemplate", "RawPromptTemplate"))
    ]
    models = [one.name for one in list_shipped("models") if "package:" not in str(load_config(one.path).values)]
    baseline = f"datasets.{single.index('mt_bench_pairwise_gen')}.eval_cfg.evaluator.baseline.model=demo-base"
    spec, found = checked(Options(models=models, datasets=single, overrides=[baseline], allow_code_execution=True))
    assert len(spec.models) >= 4
    assert len(spec.datasets) >= 30
    # The demo model was trained on "Question: ..."; the prompts of GSM8K, which begin so, are written for chat models.
    assert [("'Question: Question:'" in warning.what, "gsm8k" in warning.where) for warning in found] == [(True, True)]
