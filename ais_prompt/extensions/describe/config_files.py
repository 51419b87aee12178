"""Entries of configs: what a file has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.config import KINDS, load_config, match_shipped, redacted
from ais_prompt.parts import place
from ais_prompt.types import Entry
from ais_prompt.utils import counted, listed, without_middle

_SECTIONS: Final = ("reader_cfg", "infer_cfg", "eval_cfg")
_STEPS: Final = {
    "examples": ("infer_cfg", "ice_template"),
    "prompt": ("infer_cfg", "prompt_template"),
    "retriever": ("infer_cfg", "retriever"),
    "inferencer": ("infer_cfg", "inferencer"),
    "postprocessor": ("eval_cfg", "pred_postprocessor"),
    "evaluator": ("eval_cfg", "evaluator"),
}
"""Title of a fact → the keys of the part of a dataset."""
_TURNS: Final = ("begin", "round", "end")
_LONGEST: Final = 160
"""Most characters of a text of a template that are shown."""


def config_file_entries(wanted: str, told: Collection[str] = ()) -> Iterator[Entry]:
    """Yield an entry for each config of a name, of this program and of others.

    Args:
        wanted: a name as ``--models``, ``--datasets`` or ``--summarizer`` takes it, or the path of a file.
        told: the names of configs that other entries tell of.

    Raises:
        ConfigError: a config cannot be read.
    """
    if wanted.endswith(".py") and Path(wanted).is_file():
        yield _entry(Path(wanted), wanted, "config")
        return
    for kind in KINDS:
        for file in match_shipped(kind, wanted):
            if file.stem not in told:
                yield _entry(file, wanted, f"config of {kind}")


def _entry(file: Path, name: str, kind: str) -> Entry:
    values = load_config(file).values
    lists = {key: value for key, value in values.items() if isinstance(value, list) and value}
    models = _items(lists, "models")
    datasets = _items(lists, "datasets")
    facts = [("file", place(file))]
    for items, describe in ((models, _model), (datasets, _dataset)):
        if items:
            facts += describe(items)
    if isinstance(summarizer := values.get("summarizer"), Mapping):
        facts += _summary(summarizer)
    summary = " and ".join(
        counted(len(items), noun) for items, noun in ((models, "model"), (datasets, "dataset")) if items
    )
    return Entry(name, "configs", kind, f"{summary or 'Groups or settings for other configs'}.", facts=tuple(facts))


def _items(lists: Mapping[str, Sequence[Any]], kind: str) -> list[Mapping[str, Any]]:
    """Return the items of the list of a kind, else of all lists whose names end so."""
    chosen = [lists[kind]] if kind in lists else [items for name, items in lists.items() if name.endswith(kind)]
    return [one for items in chosen for one in items if isinstance(one, Mapping)]


def _model(models: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for model in models:
        yield str(model.get("abbr", "model")), _part({key: value for key, value in model.items() if key != "abbr"})


def _dataset(datasets: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what all datasets are called, and how the first one asks."""
    first = datasets[0]
    yield "abbr", listed(one.get("abbr", one.get("path", "?")) for one in datasets)
    if len(datasets) > 1:
        yield "the first one", str(first.get("abbr", first.get("path", "?")))
    yield "data", _part({key: value for key, value in first.items() if key not in ("abbr", *_SECTIONS)})
    if isinstance(reader := first.get("reader_cfg"), Mapping):
        yield "columns", _arguments(reader)
    for title, (section, key) in _STEPS.items():
        part = first[section].get(key) if isinstance(first.get(section), Mapping) else None
        if isinstance(part, Mapping):
            yield title, _template(part) if "template" in key else _part(part)


def _summary(summarizer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    groups = [one.get("name", "?") for one in summarizer.get("summary_groups") or () if isinstance(one, Mapping)]
    rows = summarizer.get("dataset_abbrs") or ()
    for title, names in (("rows", rows), ("groups", groups)):
        if names:
            yield title, listed(names)


def _template(part: Mapping[str, Any]) -> str:
    """Return a template on one line: its texts by role or label, each cut in the middle."""
    name = str(part.get("type", "")).rpartition(".")[2]
    texts = " ".join(_texts(part.get("template", part.get("messages")), ""))
    more = _arguments({key: value for key, value in part.items() if key not in ("type", "template", "messages")})
    return " · ".join(filter(None, (name, texts, more)))


def _texts(template: Any, label: str) -> Iterator[str]:
    """Yield the texts of a template, each with its role or label before it."""
    if isinstance(template, str):
        yield label + without_middle(template.replace("\n", "⏎"), _LONGEST)
    elif isinstance(template, Mapping) and "role" in template:
        yield from _texts(template.get("prompt", template.get("content", "")), f"[{template['role']}] ")
    elif isinstance(template, Mapping):
        for key, value in template.items():
            yield from _texts(value, label if key in _TURNS else f"{label}{key!r}: ")
    elif isinstance(template, list | tuple):
        for one in template:
            yield from _texts(one, label)


def _part(values: Mapping[str, Any]) -> str:
    """Return a part on one line: the last name of its type, and its arguments."""
    name = str(values.get("type", "")).rpartition(".")[2]
    arguments = _arguments({key: value for key, value in values.items() if key != "type"})
    return " ".join(filter(None, (name, arguments)))


def _arguments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={redacted(value, key)!r}" for key, value in values.items())
