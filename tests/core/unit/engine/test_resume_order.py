"""A resumed run asks what is open first; each sample is asked once, and equal questions keep their own answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run_cli

CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', answers=['a%d' % number for number in range(40)], max_concurrency=1)]
datasets = [dict(type='LocalDataset', abbr='d', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='a', test_range=RANGE),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    [path] = folder.glob(f"outputs/e/*/{kind}/m/d.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.process
@pytest.mark.parametrize("first", ["'[::2]'", "'[6:]'", "'[:6]'"])
@pytest.mark.parametrize("equal", [False, True])
def test_each_sample_is_asked_once(tmp_path: Path, first: str, equal: bool) -> None:
    rows = [{"question": f"q{number // 3 if equal else number}", "a": "x"} for number in range(12)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "e.py").write_text(CONFIG.replace("RANGE", first))
    assert run_cli("run", "e.py", folder=tmp_path).returncode == 0
    asked = len(lines(tmp_path, "journal"))
    before = {line["prediction"] for line in lines(tmp_path, "predictions")}
    (tmp_path / "e.py").write_text(CONFIG.replace("RANGE", "None"))
    assert run_cli("run", "e.py", "-r", folder=tmp_path).returncode == 0
    predictions = lines(tmp_path, "predictions")
    assert [line["index"] for line in predictions] == list(range(12))
    assert [line["origin_prompt"][0]["content"] for line in predictions] == [row["question"] for row in rows]
    journal = lines(tmp_path, "journal")
    assert len(journal) == 12
    assert len({line["key"] for line in journal}) == 12
    assert before == {line["completion"]["text"] for line in journal[:asked]}
    kept = {line["key"]: line["completion"]["text"] for line in journal}
    assert sorted(line["prediction"] for line in predictions) == sorted(kept.values())
