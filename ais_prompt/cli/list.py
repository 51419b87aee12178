"""``aisprompt list``: what can be named in a config or on the command line."""

from __future__ import annotations

import click

from ais_prompt.catalog import PARTS, PROVIDERS
from ais_prompt.cli.verb import Verb

CONFIG_KINDS = ("models", "datasets")


@click.command("list", cls=Verb)
@click.argument("kind", required=False, type=click.Choice([*dict.fromkeys((*CONFIG_KINDS, "providers", *PARTS))]))
def list_parts(kind: str | None) -> None:
    """List shipped configs and registered parts, all or of one KIND."""
    for config_kind in CONFIG_KINDS:
        if kind in (None, config_kind):
            _list_configs(config_kind)
    if kind in (None, "providers"):
        _list_providers()
    for part_kind, parts in PARTS.items():
        if kind in (None, part_kind):
            _section(f"{part_kind}: type=…", [*parts.items(), *_of_plugins(part_kind)])


def _of_plugins(kind: str) -> list[tuple[str, str]]:
    """Return name and module of each part that an installed package brings; only these are imported."""
    from ais_prompt.utils.plugins import load_plugins, plugins

    if not plugins():
        return []
    load_plugins()
    from ais_prompt import registry

    parts: registry.PartRegistry = getattr(registry, kind.upper())
    return [(name, parts.get(name).__module__) for name in parts.names() if name not in parts.shipped]


def _list_configs(kind: str) -> None:
    from ais_prompt.config.locate import list_shipped

    rows = [(config.name, config.summary) for config in list_shipped(kind)]  # type: ignore[arg-type]
    _section(f"{kind.removesuffix('s')} configs: --{kind} NAME…", rows)


def _list_providers() -> None:
    rows = [(name, f"{known.base_url} ({known.key})") for name, known in PROVIDERS.items()]
    _section("providers of models: provider=… or --url …", rows)


def _section(title: str, rows: list[tuple[str, str]]) -> None:
    click.secho(title, bold=True)
    width = max((len(name) for name, _ in rows), default=0)
    for name, description in sorted(rows):
        click.echo(f"  {name:<{width}}  {description}".rstrip())
    click.echo()
