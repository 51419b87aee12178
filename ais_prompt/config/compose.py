"""``--models NAME… --datasets NAME…``: compose a config of named ones, or of a model that has no config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ais_prompt.config.load import LoadedConfig, load_config
from ais_prompt.config.locate import Kind, find_shipped, match_shipped
from ais_prompt.config.overrides import apply_overrides
from ais_prompt.config.paths import expand, replace_paths, resolve_data_path
from ais_prompt.config.redact import register_secrets
from ais_prompt.errors import ConfigError
from ais_prompt.utils.places import place


def compose(
    models: Sequence[str],
    datasets: Sequence[str],
    overrides: Sequence[str] = (),
    *,
    model: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Compose a config of the models and datasets with these names; ``demo_*`` matches all such names.

    Args:
        models, datasets: names or patterns.
        overrides: as in `apply_overrides`.
        model: the config of a further model, which comes first.

    Raises:
        ConfigError: a name is unknown or ambiguous, or its config cannot be read or has no models or datasets.
    """
    origins: dict[str, tuple[Path, str]] = {}
    imports: list[str] = []
    own = [] if model is None else [dict(model)]
    values: dict[str, Any] = {
        "models": own + _collect("models", models, origins, imports, first=len(own)),
        "datasets": _collect("datasets", datasets, origins, imports),
    }
    if imports:
        values["custom_imports"] = {"imports": imports}
    names = [str(one.get("model") or one["path"]).rstrip("/").rpartition("/")[2] for one in own]
    name = "__".join(part for part in (_short([*names, *models]), _short(datasets)) if part)
    values = apply_overrides(values, overrides)
    register_secrets(values)
    return LoadedConfig(values, name, origins=origins)


def _collect(
    kind: Kind, names: Sequence[str], origins: dict[str, tuple[Path, str]], imports: list[str], *, first: int = 0
) -> list[Any]:
    """Return all items of one kind in these configs; also fill ``origins``, from number ``first``, and ``imports``."""
    items: list[Any] = []
    files = [file for name in names for file in _files(kind, name)]
    for file in dict.fromkeys(files):
        values = load_config(file).values
        imports += _custom_imports(values)
        for variable, found in _lists(kind, values, file).items():
            for index, item in enumerate(found):
                origins[f"{kind}[{first + len(items)}]"] = file, f"{variable}[{index}]"
                items.append(_with_anchored_paths(item, file.resolve().parent))
    return items


def _files(kind: Kind, name: str) -> list[Path]:
    matched = match_shipped(kind, name) if any(sign in name for sign in "*?[") else []
    return matched or [find_shipped(kind, name)]


def _lists(kind: Kind, values: Mapping[str, Any], file: Path) -> dict[str, list[Any]]:
    """Return the list called ``models`` or ``datasets``, else all lists whose names end so (``gsm8k_datasets``)."""
    lists = {name: value for name, value in values.items() if name.endswith(kind) and isinstance(value, list)}
    if not lists:
        fix = f"write {kind} = [dict(...)], or my_{kind} = [...]"
        raise ConfigError(f"this config has no list of {kind}", where=place(file), fix=fix)
    return {kind: lists[kind]} if kind in lists else lists


def _custom_imports(values: Mapping[str, Any]) -> list[str]:
    names = (values.get("custom_imports") or {}).get("imports", [])
    return [names] if isinstance(names, str) else list(names)


def _with_anchored_paths(item: Any, folder: Path) -> Any:
    """Return the item with absolute paths to files beside its config, since the composed config is no file."""

    def beside(path: str) -> Path | None:
        found = resolve_data_path(path, folder)
        return found if found == (folder / expand(path)).absolute() else None

    return replace_paths(item, beside) if isinstance(item, Mapping) else item


def _short(names: Sequence[str]) -> str:
    """Return a name for a run folder: the first name, and how many more there are."""
    if not names:
        return ""
    first = Path(names[0]).name.removesuffix(".py").translate(dict.fromkeys(map(ord, "*?[]")))
    first = first or "all"
    return first if len(names) == 1 else f"{first}+{len(names) - 1}"
