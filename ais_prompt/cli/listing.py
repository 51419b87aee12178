"""``aisprompt list``: what can be named in a config or on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from ais_prompt.catalog import PARTS, PROVIDERS
from ais_prompt.cli.verb import CONFIG_DIR, Verb, brought, echo, hanging, json_option, offer, wants_json

if TYPE_CHECKING:
    from ais_prompt.extension import Benchmark

Rows: TypeAlias = list[tuple[str, str]]
"""Name and description of each entry."""
MOST_SHOWN: Final = 3
"""Names of each kind that stand beside its count."""

CONFIG_KINDS: Final = ("models", "datasets")
KINDS: Final = tuple(dict.fromkeys((*CONFIG_KINDS, "providers", *PARTS)))


@click.command("list", cls=Verb)
@json_option
@brought("names")
@CONFIG_DIR
@click.argument("words", nargs=-1, metavar="[KIND] [PATTERN]…")
def list_parts(words: tuple[str, ...]) -> None:
    """Count what can be named; list the shipped configs and parts of one KIND; or find configs by PATTERN.

    A KIND is models, datasets, providers, retrievers, or another kind of part.

    A PATTERN is a part of the name or path of a config, with * and ?. It finds models, datasets and summarizers of this
    program, of ./configs and of others, each with its path: list mmlu llama; list models qwen.
    """
    kind, patterns = (words[0], words[1:]) if words and words[0] in KINDS else (None, words)
    if patterns:
        _find(kind, patterns)
        return
    configs = {name: _configs(name) for name in CONFIG_KINDS if kind in (None, name)}
    parts = {name: [*found.items(), *_of_plugins(name)] for name, found in PARTS.items() if kind in (None, name)}
    with_providers = kind in (None, "providers")
    if wants_json():
        _offer(configs, parts, with_providers=with_providers)
        return
    if kind is None:
        _section("what can be named: aisprompt list KIND", [*_counts(configs, parts)])
        return
    for title, rows in _benchmark_sections() if kind == "datasets" else ():
        _section(title, rows)
    for name, rows in configs.items():
        _section(f"{name.removesuffix('s')} configs: --{name} NAME…", _without_benchmarks(rows))
    if with_providers:
        _section("providers of models: provider=… or --url …", _providers())
    for name, rows in parts.items():
        _section(f"{name}: type=…", rows)


def _counts(configs: Mapping[str, Rows], parts: Mapping[str, Rows]) -> Iterator[tuple[str, str]]:
    """Yield each kind with the number of its entries and the first of them; models are configs and parts."""
    for kind in KINDS:
        found = [*configs.get(kind, ()), *parts.get(kind, ()), *(_providers() if kind == "providers" else ())]
        if kind == "datasets":
            found = [row for _, rows in _benchmark_sections() for row in rows] + _without_benchmarks(found)
        names = sorted(name.split()[0] for name, _ in found)
        yield kind, f"{len(found):>4,}  {', '.join(names[:MOST_SHOWN])}{', …' * (len(names) > MOST_SHOWN)}"


def _without_benchmarks(rows: Rows) -> Rows:
    """Return the configs without those that the name of a benchmark means: ``gsm8k`` is ``gsm8k_gen``."""
    meant = {f"{one.name}_gen" for _, found in _benchmarks() for one in found}
    return [row for row in rows if row[0] not in meant]


def _providers() -> Rows:
    return [(name, f"{known.base_url} ({known.key})") for name, known in PROVIDERS.items()]


def _benchmark_sections() -> list[tuple[str, Rows]]:
    return [(title, _benchmark_rows(found)) for title, found in _benchmarks()]


def _find(kind: str | None, patterns: Sequence[str]) -> None:
    """Show the configs whose name or path contains a pattern.

    Raises:
        click.UsageError: there is none.
    """
    from ais_prompt.config import locate
    from ais_prompt.parts import place
    from ais_prompt.verbs import FoundConfig

    names = [name for name in locate.KINDS if kind in (None, name)]
    found = {name: files for name in names if (files := locate.search_configs(name, patterns))}
    if not found:
        raise click.UsageError(_nothing_found(kind, patterns))
    offer(
        found={
            name: [FoundConfig(one.name, one.summary, str(one.path)) for one in files] for name, files in found.items()
        }
    )
    for name, files in found.items():
        title = f"{name.removesuffix('s')} configs: --{name} NAME…".replace("--summarizers NAME…", "--summarizer NAME")
        _section(title, [(one.name, place(one.path)) for one in files])


def _nothing_found(kind: str | None, patterns: Sequence[str]) -> str:
    """Return what to say if no config matches; a single word may be a kind that is misspelt."""
    from ais_prompt.utils import nearest

    if kind is None and len(patterns) == 1 and (near := nearest(patterns[0], KINDS)):
        return f"There is no kind {patterns[0]!r}: did you mean {near!r}?"
    what = f"No config of {kind or 'models, datasets and summarizers'} matches {' or '.join(map(repr, patterns))}"
    from ais_prompt.steps import first_answer

    found = [first_answer("foreign_name", kind, patterns[0], KINDS) for kind in ("pattern", "config")]
    fixes = "; ".join(one.fix for one in found if one)
    return f"{what}: {fixes}" if fixes else what


def _offer(configs: dict[str, Rows], parts: dict[str, Rows], *, with_providers: bool) -> None:
    from ais_prompt.verbs import BenchmarkEntry, Named, ProviderEntry

    benchmarks = [
        BenchmarkEntry(one.name, one.tests, one.size, one.language, one.licence, one.is_here)
        for _, found in (_benchmarks() if "datasets" in configs else ())
        for one in found
    ]
    providers = [ProviderEntry(name, one.base_url, one.key, one.api) for name, one in PROVIDERS.items()]
    offer(
        configs={name: [Named(*row) for row in sorted(rows)] for name, rows in configs.items()},
        parts={name: [Named(*row) for row in sorted(rows)] for name, rows in parts.items()},
        providers=providers if with_providers else [],
        benchmarks=benchmarks,
    )


def _of_plugins(kind: str) -> Rows:
    """Return name and module of each part that an installed package brings; only these are imported."""
    from ais_prompt.steps import EXTENSIONS, find_plugins, load_plugins

    if not (find_plugins() or find_plugins(EXTENSIONS)):
        return []
    load_plugins()
    from ais_prompt import registry

    parts: registry.PartRegistry = getattr(registry, kind.upper())
    return [(name, parts.get(name).__module__) for name in parts.names() if name not in parts.shipped]


def _configs(kind: str) -> Rows:
    from ais_prompt.config import list_shipped

    return [(config.name, config.summary) for config in list_shipped(kind)]  # type: ignore[arg-type]


def _benchmarks() -> list[tuple[str, Sequence[Benchmark]]]:
    from ais_prompt.steps import steps

    return [step() for step in steps("benchmarks")]


def _benchmark_rows(benchmarks: Sequence[Benchmark]) -> Rows:
    """Return each benchmark, as name, whether its data are here, questions and licence; and what it tests."""
    names, licences = (
        max(map(len, texts), default=0)
        for texts in ([one.name for one in benchmarks], [one.licence for one in benchmarks])
    )
    return [
        (
            f"{one.name:<{names}}  {'here' if one.is_here else '-':<4}  {one.size:>6,}  {one.licence:<{licences}}",
            one.tests,
        )
        for one in benchmarks
    ]


def _section(title: str, rows: Rows) -> None:
    echo(hanging("", title), bold=True)
    width = max((len(name) for name, _ in rows), default=0)
    for name, description in sorted(rows):
        echo(hanging(f"  {name:<{width}}  ", description))
    echo()
