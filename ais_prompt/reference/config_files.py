"""Entries of the shipped configs, benchmarks and suites: what a file has, what its card says, and how it asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.config import (
    KINDS,
    NOT_VERIFIED,
    Card,
    NamedConfig,
    how_to_get,
    list_shipped,
    load_config,
    match_shipped,
    read_cards,
    redacted,
)
from ais_prompt.reference.entry import Entry
from ais_prompt.utils import counted, listed, place

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


def config_file_entries(wanted: str) -> Iterator[Entry]:
    """Yield an entry for each config of a name, of this program and of others.

    The configs of benchmarks are left out: their entries tell how they ask.

    Args:
        wanted: a name as ``--models``, ``--datasets`` or ``--summarizer`` takes it, or the path of a file.

    Raises:
        ConfigError: a config cannot be read.
    """
    benchmarks = {card.folder for card in read_cards().values()}
    if wanted.endswith(".py") and Path(wanted).is_file():
        yield _entry(Path(wanted), wanted, "config")
        return
    for kind in KINDS:
        for file in match_shipped(kind, wanted):
            if file.parent not in benchmarks:
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
        text = template.replace("\n", "⏎")
        yield label + (text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}")
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


class HowAsked(Struct, frozen=True):
    """How a config asks a benchmark.

    Attributes:
        config: its name.
        summary: the first line of its docstring.
        prompt: the template of a question.
        inferencer, extraction, metric: names of its parts; empty if there is none.
        max_out_len: most tokens of an answer; None without an answer in words.
    """

    config: str
    summary: str
    prompt: str
    inferencer: str
    extraction: str
    metric: str
    max_out_len: int | None


def benchmark_entries(wanted: str = "") -> Iterator[Entry]:
    """Yield an entry for each benchmark; the configs of the wanted one are read, too.

    Args:
        wanted: name of a benchmark, or of a config of one.

    Raises:
        ConfigError: a card, or a config of the wanted one, cannot be read.
    """
    shipped = list_shipped("datasets")
    for name, card in read_cards().items():
        configs = configs_of(card, shipped)
        names = [config.name for config in configs]
        asked = [how_asked(config) for config in configs] if wanted in (name, *names) else []
        yield Entry(
            name,
            "benchmarks",
            "benchmark",
            f"{card.title}: {card.tests}. {card.size:,} questions, {card.language}.",
            "",
            facts=(*_facts(card), *((one.config, _how(one)) for one in asked)),
            usage=f"aisprompt run --datasets {' | '.join(names)}",
            also=tuple(names),
        )


def suite_entries(wanted: str = "") -> Iterator[Entry]:
    """Yield an entry for each suite; the wanted one is read for the benchmarks whose data it needs.

    Raises:
        ConfigError: the wanted one cannot be read.
    """
    for suite in suites():
        facts = (("data", f"aisprompt data get {' '.join(benchmarks_of(suite))}"),) if suite.name == wanted else ()
        usage = f"aisprompt run --datasets {suite.name}"
        yield Entry(suite.name, "benchmarks", "suite", suite.summary, facts=facts, usage=usage)


def suites() -> list[NamedConfig]:
    """Return the shipped configs of several benchmarks."""
    return [config for config in list_shipped("datasets") if config.path.parent.name == "suites"]


def benchmarks_of(suite: NamedConfig) -> list[str]:
    """Return the names of the benchmarks of a suite, in order.

    Raises:
        ConfigError: it cannot be read.
    """
    return list(dict.fromkeys(dataset["benchmark"] for dataset in load_config(suite.path).values["datasets"]))


def configs_of(card: Card, shipped: Iterable[NamedConfig]) -> list[NamedConfig]:
    """Return the configs beside a card, of all those that are shipped."""
    return [config for config in shipped if config.path.parent == card.folder]


def how_asked(config: NamedConfig) -> HowAsked:
    """Read how a config asks, from its first dataset.

    Raises:
        ConfigError: it cannot be read.
    """
    dataset: Mapping[str, Any] = load_config(config.path).values["datasets"][0]
    infer, scoring = dataset["infer_cfg"], dataset["eval_cfg"]
    inferencer = infer["inferencer"]
    return HowAsked(
        config.name,
        config.summary,
        _question(infer.get("prompt_template") or infer["ice_template"]),
        _name(inferencer),
        _name(scoring.get("pred_postprocessor")),
        _name(scoring.get("evaluator")),
        inferencer.get("max_out_len"),
    )


def _facts(card: Card) -> Iterator[tuple[str, str]]:
    yield "licence", card.licence
    yield "source", card.source
    yield "version", card.version
    yield "data", _data(card)
    if card.hub:
        config = "" if card.hub.config == "default" else f", configuration {card.hub.config}"
        yield "on the hub", card.hub.repo + config
    for form in card.files:
        yield "also as files", f"{', '.join(dict.fromkeys(form.splits.values()))} ({form.about})"
    yield "columns", ", ".join(card.columns)
    if card.form != NOT_VERIFIED:
        yield "repository and columns as in", card.form
    yield "checked against", card.checked
    if card.note:
        yield "note", card.note


def _data(card: Card) -> str:
    if card.made:
        return "made when they are read"
    return f"here, {card.data}" if card.is_here else f"not here: {how_to_get(card)}"


def _how(asked: HowAsked) -> str:
    steps = [asked.inferencer, asked.extraction, asked.metric]
    longest = f"at most {asked.max_out_len:,} tokens" if asked.max_out_len else ""
    shown = asked.prompt.replace("\n", "⏎")
    return f"{asked.summary} Prompt: {shown} · {' → '.join(filter(None, steps))}" + (f" · {longest}" if longest else "")


def _question(part: Mapping[str, Any]) -> str:
    """Return the text of a question: of a dialogue the user's, of a table of labels the first one's."""
    if "messages" in part:
        return "\n".join(str(one.get("content", f"{{{one.get('expand_column')}}}")) for one in part["messages"])
    template = part["template"]
    while not isinstance(template, str):
        turns = template.get("round", ())
        template = next((_text(turn) for turn in turns if turn["role"] == "HUMAN"), next(iter(template.values())))
    return template


def _text(turn: Mapping[str, Any]) -> str:
    """Return the text of a turn; of one with media, their kinds in brackets and the text."""
    if "prompt_mm" not in turn:
        return str(turn["prompt"])
    kinds = [f"[{kind}] " for kind in turn["prompt_mm"] if kind != "text"]
    return "".join(kinds) + str(turn["prompt_mm"].get("text", {}).get("text", ""))


def _name(part: Mapping[str, Any] | None) -> str:
    return str(part["type"]).rpartition(".")[2] if part else ""
