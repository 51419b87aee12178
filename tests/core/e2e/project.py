"""A small project in an empty folder, and the program to run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.cli import ROOT, run_cli
from tests.support.waiting import WATCHDOG_SECONDS

COMMAND = [sys.executable, "-m", "ais_prompt"]
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(8)]

MODEL = "dict(type='ScriptedModel', abbr='fake', answers={r'^3\\+3': 'It is 6.'}, default='It is 4.')"
DATASET = """dict(
    abbr='sums',
    type='LocalDataset',
    path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}\\nAnswer: {answer}'),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(
        evaluator=dict(type='Gsm8kEvaluator'),
        pred_postprocessor=dict(type='gsm8k_postprocess'),
    ),
)"""


@dataclass
class Project:
    """A folder with ``data/sums.jsonl`` and configs.

    Attributes:
        root: the folder, which is the working directory of the program.
        environment: variables for the program beside those of the tests; None takes a variable away.
    """

    root: Path
    environment: dict[str, str | None] = field(default_factory=dict)

    def write_data(self, rows: Sequence[dict[str, Any]] = ROWS, name: str = "sums.jsonl") -> Path:
        path = self.root / "data" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def write_config(self, *, models: str = MODEL, datasets: str = DATASET, more: str = "") -> Path:
        path = self.root / "eval.py"
        path.write_text(f"models = [{models}]\ndatasets = [{datasets}]\n{more}\n")
        return path

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the command line in this process."""
        return run_cli(*args, folder=self.root, environment=self.environment)

    def run_process(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the command line in a process of its own: for what a process can do and suffer."""
        process = self.start(*args)
        out, err = process.communicate(timeout=WATCHDOG_SECONDS)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *args],
            cwd=self.root,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def folder(self) -> Path:
        """The only run folder."""
        [folder] = (self.root / "outputs" / "eval").iterdir()
        return folder

    def predictions(self, model: str = "fake", dataset: str = "sums") -> list[dict[str, Any]]:
        return read_lines(self.folder() / "predictions" / model / f"{dataset}.jsonl")

    def journal(self, model: str = "fake", dataset: str = "sums") -> list[dict[str, Any]]:
        return read_lines(self.folder() / "journal" / model / f"{dataset}.jsonl")

    def summary(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads((self.folder() / "summary" / "summary.json").read_text())
        return rows

    def variables(self) -> dict[str, str]:
        """The environment of the program."""
        # Compiled modules are kept, as they are for users: each of the many processes starts in half the time.
        own: dict[str, str | None] = {"PYTHONDONTWRITEBYTECODE": None, "COLUMNS": "140"}
        merged = {**os.environ, "PYTHONPATH": str(ROOT), **own, **self.environment}
        return {name: value for name, value in merged.items() if value is not None}


def read_lines(path: Path) -> list[dict[str, Any]]:
    # Other line separators of Unicode may stand in a text.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
