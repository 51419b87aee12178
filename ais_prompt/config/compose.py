"""``--models NAME… --datasets NAME…``: compose a config of named ones, or of a model that has no config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.load import LoadedConfig, Note, load_config
from ais_prompt.config.locate import Kind, expand, find_shipped, match_shipped, replace_paths, resolve_data_path
from ais_prompt.config.overrides import apply_overrides
from ais_prompt.config.redact import register_secrets
from ais_prompt.errors import ConfigError
from ais_prompt.parts import place


def compose_config(
    models: Sequence[str],
    datasets: Sequence[str],
    overrides: Sequence[str] = (),
    *,
    summarizer: str | None = None,
    model: Mapping[str, Any] | None = None,
    dataset: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Compose a config of the models and datasets with these names; ``demo_*`` matches all such names.

    Args:
        models, datasets: names or patterns; ``name/variable`` takes only the lists of that name from a file.
        overrides: as in `apply_overrides`.
        summarizer: the name of a config with a ``summarizer``; None takes the groups of the dataset configs.
        model, dataset: the config of a further model or dataset, which comes first.

    Raises:
        ConfigError: a name is unknown, or its config cannot be read or has no models or datasets.
    """
    named = _Named()
    own = {"models": model, "datasets": dataset}
    values: dict[str, Any] = {}
    kinds: tuple[tuple[Kind, Sequence[str]], ...] = (("models", models), ("datasets", datasets))
    for kind, names in kinds:
        first = [dict(one)] if (one := own[kind]) else []
        values[kind] = first + named.items(kind, names, first=len(first))
        if kind == "models":
            named.package = _program_of(values[kind])
    if summarizer is not None:
        values["summarizer"] = named.summarizer(summarizer)
    elif named.groups:
        values["summarizer"] = {"summary_groups": list(named.groups.values())}
    if named.imports:
        values["custom_imports"] = {"imports": named.imports}
    parts = _short([*_names_of(model), *models]), _short([*_names_of(dataset), *datasets])
    name = "__".join(part for part in parts if part)
    values = apply_overrides(values, overrides)
    register_secrets(values)
    return LoadedConfig(values, name, origins=named.origins, notes=tuple(map(Note, named.notes)))


def with_summarizer(loaded: LoadedConfig, name: str) -> LoadedConfig:
    """Return a config with the summarizer of this name in place of its own.

    Raises:
        ConfigError: there is none of that name, or it cannot be read.
    """
    named = _Named()
    values = {**loaded.values, "summarizer": named.summarizer(name)}
    return replace(loaded, values=values, notes=(*loaded.notes, *map(Note, named.notes)))


class _Named:
    """What is read from configs that were named.

    Attributes:
        origins: config path of an item → its file, and its config path there.
        imports: modules of the user that the configs import.
        groups: name → group, of the summarizers in dataset configs, such as the average of a suite.
        notes: what was chosen among several files of one name.
        package: the one whose files come first; empty for the usual order.
    """

    def __init__(self) -> None:
        self.origins: dict[str, tuple[Path, str]] = {}
        self.imports: list[str] = []
        self.groups: dict[str, Any] = {}
        self.notes: list[str] = []
        self.package = ""

    def items(self, kind: Kind, names: Sequence[str], *, first: int = 0) -> list[Any]:
        """Return all items of one kind in these configs, which are numbered from ``first``."""
        items: list[Any] = []
        files = [found for name in names for found in self._files(kind, name)]
        for file, variable in dict.fromkeys(files):
            values = load_config(file).values
            imports = (values.get("custom_imports") or {}).get("imports", [])
            self.imports += [imports] if isinstance(imports, str) else imports
            if kind == "datasets":
                self.groups |= {str(group.get("name")): group for group in _groups(values)}
            for name, found in _lists(kind, values, file, variable).items():
                for index, item in enumerate(found):
                    self.origins[f"{kind}[{first + len(items)}]"] = file, f"{name}[{index}]"
                    items.append(_with_anchored_paths(item, file.resolve().parent))
        return items

    def summarizer(self, name: str) -> Any:
        """Return the summarizer of a config; of a config with groups only, one that shows everything."""
        [(file, variable)] = self._files("summarizers", name)
        values = load_config(file).values
        if (found := values.get(variable or "summarizer")) is not None:
            return found
        groups = [group for key, value in values.items() if key.endswith("summary_groups") for group in value]
        if variable or not groups:
            known = ", ".join(key for key in values if key.endswith("summarizer")) or "none"
            what = f"this config has no {variable or 'summarizer'}"
            raise ConfigError(what, where=place(file), fix=f"summarizers in it: {known}")
        return {"summary_groups": groups}

    def _files(self, kind: Kind, name: str) -> list[tuple[Path, str]]:
        """Return the files that a name means, and the end of the variables to take from each; empty for all."""
        if any(sign in name for sign in "*?[") and (
            matched := match_shipped(kind, name, self.notes, first=self.package)
        ):
            return [(file, "") for file in matched]
        stem, slash, variable = name.rpartition("/")
        if slash and not name.endswith(".py") and not match_shipped(kind, name) and match_shipped(kind, stem):
            return [(find_shipped(kind, stem, self.notes, first=self.package), variable)]
        return [(find_shipped(kind, name, self.notes, first=self.package), "")]


def _program_of(models: Sequence[Any]) -> str:
    """Return the package of all models, if it is the same; empty if it is not, or unknown."""
    types = [str(model.get("type")) if isinstance(model, Mapping) else "" for model in models]
    packages = {name.partition(".")[0] if "." in name else "" for name in types}
    return packages.pop() if len(packages) == 1 else ""


def _lists(kind: Kind, values: Mapping[str, Any], file: Path, variable: str) -> dict[str, list[Any]]:
    """Return the list called ``models`` or ``datasets``, else all lists whose names end so (``gsm8k_datasets``).

    Only those whose names end with ``variable`` are taken, if it is given.
    """
    ending = variable or kind
    lists = {name: value for name, value in values.items() if name.endswith(ending) and isinstance(value, list)}
    if not lists and variable:
        known = ", ".join(name for name in values if name.endswith(kind))
        raise ConfigError(f"this config has no list {variable!r}", where=place(file), fix=f"lists in it: {known}")
    if not lists:
        fix = f"write {kind} = [dict(...)], or my_{kind} = [...]"
        raise ConfigError(f"this config has no list of {kind}", where=place(file), fix=fix)
    return {kind: lists[kind]} if kind in lists else lists


def _groups(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups in the summarizer of a config; empty if it has none."""
    summarizer = values.get("summarizer")
    groups = summarizer.get("summary_groups", ()) if isinstance(summarizer, Mapping) else ()
    return [group for group in groups if isinstance(group, Mapping)]


def _with_anchored_paths(item: Any, folder: Path) -> Any:
    """Return the item with absolute paths to files beside its config, since the composed config is no file."""

    def beside(path: str) -> Path | None:
        found = resolve_data_path(path, folder)
        return found if found == (folder / expand(path)).absolute() else None

    return replace_paths(item, beside) if isinstance(item, Mapping) else item


def _names_of(described: Mapping[str, Any] | None) -> list[str]:
    """Return the name of a model or dataset that the command line describes; empty if there is none."""
    if not described:
        return []
    name = next(described[key] for key in ("abbr", "model", "path") if described.get(key))
    return [str(name).rstrip("/").rpartition("/")[2]]


def _short(names: Sequence[str]) -> str:
    """Return a name for a run folder: the first name, and how many more there are."""
    if not names:
        return ""
    first = Path(names[0]).name.removesuffix(".py").translate(dict.fromkeys(map(ord, "*?[]")))
    first = first or "all"
    return first if len(names) == 1 else f"{first}+{len(names) - 1}"
