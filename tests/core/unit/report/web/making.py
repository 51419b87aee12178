"""Run folders as a run leaves them, made without a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ais_prompt.metrics import mean_scores
from ais_prompt.report import write_summary
from ais_prompt.scoring import TaskOutcome, summary_rows
from ais_prompt.store import RunFolder, write_config, write_json_atomic, write_predictions, write_results
from ais_prompt.types import Completion, Prediction, Prompts, SampleScore


def prediction(
    number: int, prompt: Prompts = "2+2=?", *completions: Completion, gold: Any = "4", answer: Any = None
) -> Prediction:
    answers = completions or (Completion("It is 4.", "stop", seconds=0.5),)
    return Prediction(f"id{number}", number, prompt, answers[-1].text if answer is None else answer, gold, answers)


def scored(number: int, value: float = 1.0, extracted: Any = "4", gold: Any = "4") -> SampleScore:
    return SampleScore(f"id{number}", "scored", extracted, gold, {"accuracy": value})


def make_run(
    root: Path,
    predictions: Sequence[Prediction],
    samples: Sequence[SampleScore] = (),
    *,
    model: str = "model",
    dataset: str = "sums",
    name: str = "eval/20260131_120000",
) -> RunFolder:
    """A run of one task; without ``samples`` it was not scored."""
    folder = RunFolder(root / name)
    write_predictions(folder.predictions(model, dataset), predictions)
    scores = mean_scores(("accuracy",), samples) if samples else []
    if samples:
        head = {"model": model, "dataset": dataset, "scores": [score.to_json() for score in scores]}
        write_results(folder.results(model, dataset), head, (sample.to_json() for sample in samples))
    outcome = TaskOutcome(model, dataset, scores=scores, predictions_only=not samples)
    rows = summary_rows([outcome])
    write_summary(folder.summary_dir, rows, rows)
    session = {"status": "finished", "command": "aisprompt run eval.py", "started": "2026-01-31T12:00:00+00:00"}
    record = {"status": "finished", "sessions": [session], "versions": {"python": "3.11"}, "tasks": {}}
    write_json_atomic(folder.run_file, record)
    write_config(folder, "models = []\n")
    return folder
