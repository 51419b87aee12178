"""Tasks made of a template, rows and a chat format, to look at their prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ais_prompt.config import parse_meta_template
from ais_prompt.data import Dataset
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import PlannedDataset, PlannedModel, Task
from ais_prompt.types import DatasetSpec, EvalSpec, InferSpec, ModelSpec, PartSpec, ReaderSpec, Sample

Part = Mapping[str, Any]
INFER = "datasets[0].infer_cfg"


class ModelWithTokenizer(ScriptedModel):
    """A scripted model whose prompts a tokenizer writes."""

    def __init__(self, style: Any, tokenizer: Callable[[], Any]) -> None:
        super().__init__()
        self.prompt_style = style
        self._make = tokenizer

    def tokenizer(self) -> Any:
        return self._make()


def prompt_task(
    prompt: Any,
    *,
    ice: Any = None,
    rows: Sequence[Mapping[str, Any]] = ({"q": "3+3", "a": "6"},),
    train: Sequence[Mapping[str, Any]] = (),
    inferencer: Part | None = None,
    style: str = "text",
    meta: Any = None,
    role_template: Any = None,
    tokenizer: Callable[[], Any] = lambda: None,
    input_columns: Sequence[str] = ("q",),
) -> Task:
    """A task whose questions all have the rows of ``train`` as their examples."""
    retriever = (
        {"type": "FixKRetriever", "fix_id_list": list(range(len(train)))} if train else {"type": "ZeroRetriever"}
    )
    infer = InferSpec(
        ice_template=part(ice, "ice_template"),
        prompt_template=part(prompt, "prompt_template"),
        retriever=part(retriever, "retriever"),  # type: ignore[arg-type]
        inferencer=part(inferencer or {"type": "GenInferencer"}, "inferencer"),  # type: ignore[arg-type]
        where=INFER,
    )
    reader = ReaderSpec(tuple(input_columns), "a", where="datasets[0].reader_cfg")
    dataset = DatasetSpec("data", PartSpec("LocalDataset"), reader, infer, EvalSpec(), "datasets[0]")
    data = Dataset(samples(train, "train"), samples(rows, "test"), tuple(rows[0]), {})
    spec = ModelSpec("model", PartSpec("ScriptedModel"), parse_meta_template(meta), role_template, "models[0]")
    return Task(PlannedModel(spec, ModelWithTokenizer(style, tokenizer)), PlannedDataset(dataset, data=data))


def part(config: Any, name: str) -> PartSpec | None:
    """A part of the config; what has no type is the template of a PromptTemplate."""
    if config is None:
        return None
    if not (isinstance(config, Mapping) and "type" in config):
        config = {"template": config, **({"ice_token": "</E>"} if "</E>" in repr(config) else {})}
    args = {key: value for key, value in config.items() if key != "type"}
    return PartSpec(config.get("type", "PromptTemplate"), args, f"{INFER}.{name}")


def samples(rows: Sequence[Mapping[str, Any]], split: str) -> list[Sample]:
    return [Sample(f"{split}{number}", number, row, row.get("a")) for number, row in enumerate(rows)]
