"""How tasks were asked and scored, as far as their runs or the logs of other tools tell it, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.models import as_flat
from ais_prompt.preview import changes_title, hunks
from ais_prompt.types import ELSEWHERE, ChatMessage, DatasetSpec, ModelSpec, PartSpec, Prediction, TaskSpec
from ais_prompt.utils import shortened

LENGTHS: Final = ("max_out_len", "max_tokens", "max_new_tokens", "max_completion_tokens", "max_gen_toks", "max_length")
"""Arguments that limit how long an answer may be."""

_SAME: Final = {
    **dict.fromkeys(LENGTHS, "max_tokens"),
    **dict.fromkeys(("until", "stop_sequences", "stop_seqs", "stop_words"), "stop"),
    **dict.fromkeys(("num_completions", "num_choices"), "n"),
}
"""Name of a field of a request in some tool → its name here."""

_OURS: Final = ("generation_kwargs", "max_out_len", "stop_words", "seed", "temperature", "top_p", "top_k")

SHOWN: Final = 100
"""Maximum number of characters of a value that are shown."""

_LOCAL: Final = ("HuggingFace", "tokenizer", "encoder")
_ONLY_FOR: Final = {
    **dict.fromkeys(("torch", "transformers", "tokenizers"), _LOCAL),
    "datasets": ("HuggingFaceDataset",),
    "openai": ("openai",),
}
"""Package → words of which a part or an argument has one if the part uses the package; others are always used."""

DECODING: Final = ("generation_kwargs", "chat_template_kwargs", "max_out_len", "stop_words", "seed")
"""Arguments of models that control generation."""


class Change(Struct, frozen=True):
    """A part that differs.

    Attributes:
        part: ``model``, ``decoding``, ``format``, ``template``, ``shots``, ``inferencer``, ``data``, ``extraction`` or
            ``versions``.
        before, after: the part in the two runs, in a few words.
        words: what changed in the prompts that were sent, as `lock --check` says it; empty if that is not known.
    """

    part: str
    before: str
    after: str
    words: str = ""


def changed_parts(before: ScoredTask, after: ScoredTask) -> list[Change]:
    """Return the parts that differ, in the order in which an answer is made."""
    parts_of = _known_parts if before.is_log or after.is_log else _parts
    parts = zip(parts_of(before), parts_of(after), strict=True)
    return [
        Change(name, *_shortest(old, new), _prompt_change(before, after) if name == "template" else "")
        for (name, old), (_, new) in parts
        if old != new
    ]


def _prompt_change(before: ScoredTask, after: ScoredTask) -> str:
    """Return what changed in the prompt of the first common sample whose prompts differ; empty without one."""
    for name, old in before.predictions.items():
        new = after.predictions.get(name)
        if new is not None and not same_prompt(old, new):
            first, second = ("\n".join(text for _, text in _texts(one.origin_prompt)) for one in (old, new))
            return changes_title(hunks(first, second))
    return ""


def makers_that_differ(before: ScoredTask, after: ScoredTask) -> list[str]:
    """Return which of ``model`` and ``decoding`` differ.

    A limit on the length is not part of decoding here: it changes only truncated answers, which are known.
    """
    if before.is_log or after.is_log:
        return [
            *([] if model_name(before) == model_name(after) else ["model"]),
            *(["decoding"] if differing_decoding(before, after) else []),
        ]
    parts: dict[str, list[Any]] = {
        "model": [task.facts.model or _model(task.spec.model) for task in (before, after)],
        "decoding": [_decoding(task.spec) for task in (before, after)],
    }
    return [name for name, (old, new) in parts.items() if old != new]


def same_reading(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether answers are postprocessed in the same way."""
    return _part(before.eval.pred_postprocessor) == _part(after.eval.pred_postprocessor)


def same_metric(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether both use the same evaluator, on golds that are postprocessed in the same way."""
    first, second = before.eval, after.eval
    return (_part(first.evaluator), _part(first.dataset_postprocessor)) == (
        _part(second.evaluator),
        _part(second.dataset_postprocessor),
    )


def same_judge(before: DatasetSpec, after: DatasetSpec) -> bool:
    """Return whether both use the same judge and evaluator."""
    return before.eval.judge == after.eval.judge and same_metric(before, after)


def decoding(task: ScoredTask) -> dict[str, Any]:
    """Return the known fields that control generation, by the same name for all tools."""
    args = task.spec.dataset.source.args
    if task.is_log:
        known: Mapping[str, Any] = args.get("decoding") or {}
    else:
        flat = as_flat(task.spec.model.part.args)
        known = {name: flat[name] for name in _OURS if flat.get(name) is not None}
        known = {**known, **(known.get("generation_kwargs") or {})}
    found = {_SAME.get(name, name): value for name, value in known.items() if name != "generation_kwargs"}
    if found.get("do_sample") is False:
        found.setdefault("temperature", 0.0)
    found.pop("do_sample", None)
    return found


def differing_requests(before: ScoredTask, after: ScoredTask) -> dict[str, tuple[Any, Any]]:
    """Return the fields of the requests that are known to differ.

    A field that only one side has differs if the bodies of both are known; else the other side may have sent it too.
    """
    first, second = decoding(before), decoding(after)
    known = has_bodies(before) and has_bodies(after)
    names = [name for name in dict.fromkeys((*first, *second)) if known or (name in first and name in second)]
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}


def differing_decoding(before: ScoredTask, after: ScoredTask) -> dict[str, tuple[Any, Any]]:
    """Return `differing_requests` but for the limit on the length, which changes cut answers only."""
    found = differing_requests(before, after)
    return {name: values for name, values in found.items() if name != "max_tokens"}


def has_bodies(task: ScoredTask) -> bool:
    """Return whether the whole body of the requests is known, so that a missing field was not sent."""
    return bool(task.spec.dataset.source.args.get("bodies")) if task.is_log else False


def model_name(task: ScoredTask) -> str:
    """Return the name of a model without the provider or folder in front, in lower case."""
    args = task.spec.model.part.args
    name = task.facts.model.get("model") or args.get("model") or args.get("path") or task.model
    return str(name).rstrip("/").rpartition("/")[2].casefold()


def has_rule(task: ScoredTask) -> bool:
    """Return whether the task can be scored again by the rule that its scores were made with."""
    evaluator = task.spec.dataset.eval.evaluator
    return evaluator is not None and not evaluator.type.startswith(ELSEWHERE)


def same_prompt(one: Prediction, other: Prediction) -> bool:
    """Return whether two prompts have the same texts; an unknown one is not known to differ."""
    first, second = one.origin_prompt, other.origin_prompt
    return first == second or not first or not second or list(_texts(first)) == list(_texts(second))


def _known_parts(task: ScoredTask) -> Iterator[tuple[str, Any]]:
    """Yield the parts that the log of any tool tells, in the same words for all tools."""
    yield "model", model_name(task)
    yield "decoding", decoding(task)
    yield "extraction", {"evaluator": _part(task.spec.dataset.eval.evaluator), **_reading(task.spec.dataset)}


def _texts(prompt: Any) -> Iterator[tuple[str, str]]:
    """Yield role and text of each message; a text alone is what the user says, without white space at its ends."""
    if isinstance(prompt, str):
        yield "user", prompt.strip()
        return
    for one in prompt:
        if isinstance(one, ChatMessage):
            yield one.role, one.content.strip() if isinstance(one.content, str) else str(one.content)
        else:
            yield from _texts(one)


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
    yield "reader", _plain_reader(dataset)
    yield "extraction", {"evaluator": _part(dataset.eval.evaluator), **_reading(dataset), "k": dataset.eval.k}
    yield "versions", _used_versions(task)


def _used_versions(task: ScoredTask) -> dict[str, str]:
    """Return the versions of the packages, without those that no part of the task uses."""
    model, dataset = task.spec.model.part, task.spec.dataset
    judges = [] if dataset.eval.judge is None else [judge.part for judge in dataset.eval.judge.models]
    parts = [model, dataset.source, dataset.infer.retriever, dataset.eval.evaluator, *judges]
    named = repr([_part(part) for part in parts])
    return {
        package: version
        for package, version in task.versions.items()
        if package not in _ONLY_FOR or any(word in named for word in _ONLY_FOR[package])
    }


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
    reader = replace(dataset.reader, sample=None)
    plain = {name: value for name, value in asdict(reader).items() if name != "where" and value is not None}
    if (draw := dataset.reader.sample) is not None:
        plain["sample"] = {name: value for name, value in asdict(draw).items() if value is not None}
    return plain


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
    return shortened(text or "nothing", SHOWN)
