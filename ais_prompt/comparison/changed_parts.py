"""Find the parts that differ between two runs of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.models.flat_options import as_flat
from ais_prompt.types import DatasetSpec, ModelSpec, PartSpec, TaskSpec

SHOWN: Final = 100
"""Maximum number of characters of a value that are shown."""

DECODING: Final = ("generation_kwargs", "chat_template_kwargs", "max_out_len", "stop_words", "seed")
"""Arguments of models that control generation."""


LENGTHS: Final = ("max_out_len", "max_tokens", "max_new_tokens", "max_completion_tokens")
"""Arguments that limit how long an answer may be."""


class Change(Struct, frozen=True):
    """A part that differs.

    Attributes:
        part: ``model``, ``decoding``, ``format``, ``template``, ``shots``, ``inferencer``, ``data``, ``extraction`` or
            ``versions``.
        before, after: the part in the two runs, in a few words.
    """

    part: str
    before: str
    after: str


def changed_parts(before: ScoredTask, after: ScoredTask) -> list[Change]:
    """Return the parts that differ, in the order in which an answer is made."""
    parts = zip(_parts(before), _parts(after), strict=True)
    return [Change(name, *_shortest(old, new)) for (name, old), (_, new) in parts if old != new]


def same_reading(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether answers and golds are postprocessed in the same way."""
    return _reading(before) == _reading(after)


def same_metric(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether both use the same evaluator."""
    return _part(before.eval.evaluator) == _part(after.eval.evaluator)


def same_judge(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether both use the same judge and evaluator."""
    return before.eval.judge == after.eval.judge and same_metric(before, after)


def makers_that_differ(before: ScoredTask, after: ScoredTask) -> list[str]:
    """Return which of ``model`` and ``decoding`` differ.

    A limit on the length is not part of decoding here: it changes only truncated answers, which are known.
    """
    parts: dict[str, list[Any]] = {
        "model": [task.facts.model or _model(task.spec.model) for task in (before, after)],
        "decoding": [_decoding(task.spec) for task in (before, after)],
    }
    return [name for name, (old, new) in parts.items() if old != new]


def _parts(task: ScoredTask) -> Iterator[tuple[str, Any]]:
    model, dataset = task.spec.model, task.spec.dataset
    yield "model", task.facts.model or _model(model)
    yield "decoding", {name: value for name, value in as_flat(model.part.args).items() if name in DECODING}
    meta = model.meta_template
    yield "format", {"meta_template": meta and meta.config, "prompt_template": model.prompt_template}
    yield "template", {"ice": _part(dataset.infer.ice_template), "prompt": _part(dataset.infer.prompt_template)}
    yield "shots", _part(dataset.infer.retriever)
    yield "inferencer", _part(dataset.infer.inferencer)
    # The digest is that of the rows, whatever their path.
    yield "data", task.facts.data_digest or _part(dataset.source)
    yield "reader", {name: value for name, value in _plain_reader(dataset).items() if value is not None}
    yield "extraction", {"evaluator": _part(dataset.eval.evaluator), **_reading(dataset), "k": dataset.eval.k}
    yield "versions", dict(task.versions)


def _decoding(task: TaskSpec) -> dict[str, Any]:
    inferencer = _part(task.dataset.infer.inferencer) or {}
    arguments = {name: value for name, value in as_flat(task.model.part.args).items() if name in DECODING}
    arguments["generation_kwargs"] = _without_lengths(arguments.get("generation_kwargs") or {})
    return {**_without_lengths(arguments), "inferencer": _without_lengths(inferencer)}


def _without_lengths(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in LENGTHS}


def _model(model: ModelSpec) -> dict[str, Any]:
    return {"type": model.part.type, **{n: value for n, value in as_flat(model.part.args).items() if n not in DECODING}}


def _part(spec: PartSpec | None) -> dict[str, Any] | None:
    return None if spec is None else {"type": spec.type, **spec.args}


def _plain_reader(dataset: DatasetSpec) -> dict[str, Any]:
    return {name: value for name, value in asdict(dataset.reader).items() if name != "where"}


def _reading(dataset: DatasetSpec) -> dict[str, Any]:
    spec = dataset.eval
    return {
        "pred_postprocessor": _part(spec.pred_postprocessor),
        "dataset_postprocessor": _part(spec.dataset_postprocessor),
    }


def _shortest(before: Any, after: Any) -> tuple[str, str]:
    """Return two values in words; of two mappings only the keys that differ."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]
        before = {key: before[key] for key in keys if key in before}
        after = {key: after[key] for key in keys if key in after}
    return _shown(before), _shown(after)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        text = ", ".join(f"{key}={entry!r}" for key, entry in value.items())
    else:
        text = "" if value is None else str(value)
    text = text or "nothing"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
