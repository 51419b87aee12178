"""Small specs for tests, made of shipped parts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ais_prompt.registry import PartRegistry
from ais_prompt.types import DatasetSpec, EvalSpec, InferSpec, ModelSpec, PartSpec, ReaderSpec, TaskSpec


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def shipped_names(registry: PartRegistry) -> set[str]:
    """Return the names of parts of the program, whatever other tests of the same process have registered."""
    parts = {name: registry.module_dict.get(name) for name in registry.names()}
    return {name for name, part in parts.items() if part is None or part.__module__.startswith("ais_prompt.")}


def model_spec(abbr: str = "fake", **args: Any) -> ModelSpec:
    return ModelSpec(abbr, PartSpec("ScriptedModel", args, "models[0]"), where="models[0]")


def dataset_spec(
    path: Path, template: str = "{question} A: {answer}", abbr: str = "sums", postprocessor: str | None = None
) -> DatasetSpec:
    where = "datasets[0]"
    return DatasetSpec(
        abbr,
        PartSpec("LocalDataset", {"path": str(path)}, where),
        ReaderSpec(("question",), "answer", where=f"{where}.reader_cfg"),
        InferSpec(
            prompt_template=PartSpec("PromptTemplate", {"template": template}, f"{where}.infer_cfg.prompt_template"),
            retriever=PartSpec("ZeroRetriever", {}, f"{where}.infer_cfg.retriever"),
            inferencer=PartSpec("GenInferencer", {}, f"{where}.infer_cfg.inferencer"),
            where=f"{where}.infer_cfg",
        ),
        EvalSpec(
            PartSpec("AccEvaluator", {}, f"{where}.eval_cfg.evaluator"),
            PartSpec(postprocessor, {}, f"{where}.eval_cfg.pred_postprocessor") if postprocessor else None,
            where=f"{where}.eval_cfg",
        ),
        where,
    )


def task_spec(path: Path, **model_args: Any) -> TaskSpec:
    return TaskSpec(model_spec(**model_args), dataset_spec(path))
