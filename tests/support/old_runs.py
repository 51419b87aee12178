"""A run folder of AISBench, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_old_run(root: Path, dataset: Mapping[str, Any], predictions: Sequence[Any]) -> Path:
    """Write the config and the predictions of one dataset and the model ``fake``, and return the folder."""
    folder = root / "old/20260101_000000"
    (folder / "configs").mkdir(parents=True)
    model = {"type": "ais_bench.benchmark.models.VLLMCustomAPIChat", "abbr": "fake", "model": "fake"}
    (folder / "configs/20260101_000000.py").write_text(f"models={[model]!r}\ndatasets={[dataset]!r}\n")
    lines = [{"id": number, "success": True, "prediction": said} for number, said in enumerate(predictions)]
    path = folder / "predictions/fake" / f"{dataset['abbr']}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
