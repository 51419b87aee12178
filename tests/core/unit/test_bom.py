"""A byte order mark, which editors on Windows write, is ignored in every file that a user writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.config import load_config
from ais_prompt.data import read_file
from ais_prompt.scoring import read_answers

BOM = "\ufeff"
DATA = {
    "a.jsonl": '{"question": "1"}\n{"question": "2"}\n',
    "a.json": '[{"question": "1"}, {"question": "2"}]',
    "a.csv": "question\n1\n2\n",
    "a.tsv": "question\n1\n2\n",
}


@pytest.mark.parametrize("name", DATA)
def test_data(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(BOM + DATA[name], "utf-8")
    assert [row["question"] for row in read_file(file)] == ["1", "2"]


@pytest.mark.parametrize("style", ["plain", "read_base", "_base_"])
def test_config_and_its_base(tmp_path: Path, style: str) -> None:
    (tmp_path / "base.py").write_text(f"{BOM}models = [dict(type='A')]\r\n", "utf-8")
    texts = {
        "plain": "models = [dict(type='A')]\r\n",
        "read_base": "from mmengine.config import read_base\nwith read_base():\n    from .base import models\n",
        "_base_": "_base_ = ['./base.py']\n",
    }
    config = tmp_path / "eval.py"
    config.write_text(BOM + texts[style], "utf-8")
    assert load_config(config).values["models"] == [{"type": "A"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"index": 0, "prediction": "1"}\n'),
        ("a.json", json.dumps({"0": {"prediction": "1"}})),
    ],
)
def test_answers_made_elsewhere(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(BOM + text, "utf-8")
    [answer] = read_answers(file)
    assert answer.values["prediction"] == "1"
