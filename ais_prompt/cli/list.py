"""``aisprompt list``: what can be named in a config or on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ais_prompt.catalog import PARTS, PROVIDERS
from ais_prompt.cli.output import hanging, json_option, offer, wants_json
from ais_prompt.cli.verb import Verb

if TYPE_CHECKING:
    from ais_prompt.config.cards import Card
    from ais_prompt.report.documents import BenchmarkEntry

Rows: TypeAlias = list[tuple[str, str]]
"""Name and description of each entry."""

CONFIG_KINDS = ("models", "datasets")


class Kind(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """What can be listed; the error for an unknown word names the nearest one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Return the kind.

        Raises:
            click.UsageError: there is no such kind.
        """
        if value in self.choices:
            return value
        from difflib import get_close_matches

        near = get_close_matches(value, self.choices, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"for a single entry write aisprompt describe {value}"
        raise click.UsageError(f"There is no kind {value!r}: {fix}", ctx)


@click.command("list", cls=Verb)
@json_option
@click.argument("kind", required=False, type=Kind([*dict.fromkeys((*CONFIG_KINDS, "providers", *PARTS))]))
def list_parts(kind: str | None) -> None:
    """List shipped configs and registered parts, all or of one KIND."""
    configs = {name: _configs(name) for name in CONFIG_KINDS if kind in (None, name)}
    parts = {name: [*found.items(), *_of_plugins(name)] for name, found in PARTS.items() if kind in (None, name)}
    with_providers = kind in (None, "providers")
    if wants_json():
        _offer(configs, parts, with_providers=with_providers)
        return
    benchmarks = _benchmarks() if kind in (None, "datasets") else []
    if benchmarks:
        _section("benchmarks: aisprompt data get NAME…; aisprompt describe NAME", benchmarks)
    for name, rows in configs.items():
        _section(f"{name.removesuffix('s')} configs: --{name} NAME…", rows)
    if with_providers:
        _section("providers of models: provider=… or --url …", _providers())
    for name, rows in parts.items():
        _section(f"{name}: type=…", rows)


def _offer(configs: dict[str, Rows], parts: dict[str, Rows], *, with_providers: bool) -> None:
    from ais_prompt.config.cards import cards
    from ais_prompt.report.documents import Named, ProviderEntry

    providers = [ProviderEntry(name, one.base_url, one.key, one.api) for name, one in PROVIDERS.items()]
    offer(
        configs={name: [Named(*row) for row in sorted(rows)] for name, rows in configs.items()},
        parts={name: [Named(*row) for row in sorted(rows)] for name, rows in parts.items()},
        providers=providers if with_providers else [],
        benchmarks=[] if "datasets" not in configs else [_benchmark(card) for card in cards().values()],
    )


def _benchmark(card: Card) -> BenchmarkEntry:
    from ais_prompt.report.documents import BenchmarkEntry

    return BenchmarkEntry(card.name, card.tests, card.size, card.language, card.licence, card.is_here)


def _of_plugins(kind: str) -> Rows:
    """Return name and module of each part that an installed package brings; only these are imported."""
    from ais_prompt.utils.plugins import load_plugins, plugins

    if not plugins():
        return []
    load_plugins()
    from ais_prompt import registry

    parts: registry.PartRegistry = getattr(registry, kind.upper())
    return [(name, parts.get(name).__module__) for name in parts.names() if name not in parts.shipped]


def _configs(kind: str) -> Rows:
    from ais_prompt.config.locate import list_shipped

    return [(config.name, config.summary) for config in list_shipped(kind)]  # type: ignore[arg-type]


def _benchmarks() -> Rows:
    """Return each benchmark, as name, whether its data are here, questions and licence; and what it tests."""
    from ais_prompt.config.cards import cards

    known = cards()
    names, licences = (max(map(len, texts), default=0) for texts in (known, [card.licence for card in known.values()]))
    return [
        (
            f"{name:<{names}}  {'here' if card.is_here else '-':<4}  {card.size:>6,}  {card.licence:<{licences}}",
            card.tests,
        )
        for name, card in known.items()
    ]


def _providers() -> Rows:
    return [(name, f"{known.base_url} ({known.key})") for name, known in PROVIDERS.items()]


def _section(title: str, rows: Rows) -> None:
    click.secho(hanging("", title), bold=True)
    width = max((len(name) for name, _ in rows), default=0)
    for name, description in sorted(rows):
        click.echo(hanging(f"  {name:<{width}}  ", description))
    click.echo()
