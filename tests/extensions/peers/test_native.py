"""Which configs are translated before they are parsed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ais_prompt.catalog import PARTS
from ais_prompt.extensions.peers.foreign_config import is_native
from ais_prompt.extensions.peers.table import peer_part
from ais_prompt.extensions.peers.translate import translate
from tests.support.servers import ROOT

MODEL: dict[str, Any] = {"type": "ScriptedModel", "abbr": "m", "answers": "a"}
DATASET: dict[str, Any] = {
    "type": "LocalDataset",
    "path": "rows.jsonl",
    "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
    "infer_cfg": {"prompt_template": {"type": "PromptTemplate", "template": "{q}"}},
}


def test_a_config_of_our_parts_is_native_and_its_translation_changes_nothing() -> None:
    config = {"models": [MODEL], "datasets": [DATASET, DATASET], "work_dir": "o", "helper": {"type": "whatever"}}
    assert is_native(config)
    assert translate(config) == (config, ())


@pytest.mark.parametrize(
    "change",
    [
        {"models": [{**MODEL, "type": "opencompass.models.OpenAISDK"}]},
        {"models": [{**MODEL, "type": "VLLMCustomAPIChat"}]},
        {"datasets": [{"path": "mine.jsonl"}]},
        {"datasets": [{**DATASET, "eval_cfg": {"evaluator": {"type": "ais_bench.benchmark.openicl.AccEvaluator"}}}]},
        {"datasets": [{**DATASET, "eval_cfg": {"evaluator": {"type": "MathEvaluator"}}}]},
        {"chatml_datasets": [{"abbr": "c", "path": "c.jsonl"}]},
        {"infer": {"partitioner": {"type": "NumWorkerPartitioner", "num_worker": 2}}},
        {"summarizer": {"type": "opencompass.summarizers.DefaultSummarizer"}},
        {"models": "none"},
    ],
)
def test_whatever_may_be_of_another_program_is_translated(change: dict[str, Any]) -> None:
    assert not is_native({"models": [MODEL], "datasets": [DATASET], **change})


def test_no_part_of_another_program_has_one_of_our_names() -> None:
    names = [(kind, name) for kind in ("evaluators", "postprocessors", "templates") for name in PARTS[kind]]
    assert not [name for kind, name in names if peer_part(kind, name) is not None]


@pytest.mark.process
def test_a_config_that_names_no_peer_loads_neither_tables_nor_adapters() -> None:
    program = (
        "import sys; from ais_prompt.cli import main; sys.argv = ['aisprompt', 'check', 'configs/eval.py']\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "print([name for name in sys.modules if 'extensions.peers.t' in name or 'extensions.peers.code' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
