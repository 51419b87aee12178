"""Entries of benchmarks and suites in the reference: what a card says, and how its configs ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ais_prompt.config import NamedConfig, list_shipped, load_config
from ais_prompt.extensions.benchmarks.card import NOT_VERIFIED, Card, how_to_get, read_cards
from ais_prompt.types import Entry


def entries(wanted: str = "") -> Iterator[Entry]:
    """Yield an entry for each benchmark and each suite; the configs of the wanted one are read, too.

    Args:
        wanted: name of a benchmark, of a config of one, or of a suite.

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
    for suite in suites():
        facts = (("data", f"aisprompt data get {' '.join(benchmarks_of(suite))}"),) if suite.name == wanted else ()
        usage = f"aisprompt run --datasets {suite.name}"
        yield Entry(suite.name, "benchmarks", "suite", suite.summary, facts=facts, usage=usage)


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
