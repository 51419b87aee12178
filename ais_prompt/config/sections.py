"""Sections of a config that extensions bring: their keys, and how they are parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NamedTuple

from ais_prompt.config.key_tables import KeyTable
from ais_prompt.config.keys import MODEL_KEYS, SECTIONS, TABLES
from ais_prompt.config.parse.section import MISSING, ConfigSection, parse_struct
from ais_prompt.extension import REINSTALL, import_object, missing_extension


class SectionForm(NamedTuple):
    """The form of a section.

    Attributes:
        table: its keys.
        parse: (the whole config) → the value, which `RunSpec.sections` has; faults are noted in the config. None: the
            section is parsed into the struct of its keys.
    """

    table: KeyTable
    parse: Callable[[ConfigSection], Any] | None = None


def parse_sections(top: ConfigSection) -> dict[str, Any]:
    """Return the parsed sections of extensions that a config has, by name; no other is imported. Faults are noted.

    Args:
        top: the whole config.
    """
    found = {}
    for name, entry in SECTIONS.items():
        if any(_at(top.values, path) is not None for path in (name, *entry.also)):
            table, parse = _form(entry.home)
            found[name] = parse(top) if parse else parse_struct(table.struct, top.values[name], name, top.faults)
    for name, value in top.values.items():
        if name not in SECTIONS and isinstance(value, Mapping) and (owner := missing_extension(f"{name}=")):
            top.fault(name, f"the extension {owner!r} has {name!r}, and is not here", REINSTALL)
    return found


def parse_model_keys(model: ConfigSection) -> dict[str, Any]:
    """Return the parsed keys of extensions that a model has, by name. Faults are noted."""
    found: dict[str, Any] = {}
    for name, value in model.values.items():
        if (entry := MODEL_KEYS.get(name)) is not None and value is not None:
            parsed = parse_struct(_form(entry.home).table.struct, value, model.at(name), model.faults)
            found |= {} if parsed is MISSING else {name: parsed}
        elif owner := missing_extension(f"models[i].{name}="):
            model.fault(name, f"the extension {owner!r} has {name!r}, and is not here", REINSTALL)
    return found


def all_tables() -> tuple[KeyTable, ...]:
    """Return the kinds of dicts of a config, those of extensions last."""
    return (*TABLES, *(_form(entry.home).table for entry in (*SECTIONS.values(), *MODEL_KEYS.values())))


def _form(home: str) -> SectionForm:
    form: SectionForm = import_object(home)
    return form


def _at(values: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path; None if there is none."""

    def inside(value: Any, key: str) -> Any:
        return value.get(key) if isinstance(value, Mapping) else None

    return reduce(inside, path.split("."), values)
