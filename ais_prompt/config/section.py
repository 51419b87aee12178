"""Typed access to a dict of the config while it is parsed; faults are noted instead of raised.

Models and datasets have an ``abbr``: the short name that also names their files in a run folder. The sections that
extensions bring, and their keys of models, are parsed here too.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from msgspec import NODEFAULT, UNSET, Struct, ValidationError, convert

from ais_prompt.config.keys import MODEL_KEYS, SECTIONS, TABLES, ConfigKey, KeyTable, keys_of
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.extension import REINSTALL, import_object, missing_extension
from ais_prompt.parts import key_advice
from ais_prompt.secrets import SECRETS
from ais_prompt.utils import near_miss, split_sheet

MISSING: Final = UNSET
"""In place of a value: the key is not there, or has a fault."""

LONGEST = 200
"""Bytes of UTF-8; file systems take 255 for a name, and the run folder adds an ending."""
_INDEX: Final = re.compile(r"at `\$\[(\d+)\]")
"""The position of a wrong item in an error of msgspec."""
S = TypeVar("S", bound=Struct)


class Faults:
    """The faults of a config, in the order in which they were found.

    Args:
        place: from a config path to the words that tell the user where that is.
    """

    def __init__(self, place: Callable[[str], str]) -> None:
        self._place = place
        self.found: list[ConfigError] = []

    def add(self, what: str, where: str, fix: str = "") -> None:
        """Note a fault; ``where`` is a config path."""
        self.found.append(ConfigError(what, where=self._place(where), fix=fix))

    def raise_any(self) -> None:
        """Raise all faults at once, if there are any."""
        if self.found:
            raise ConfigFaults(self.found)


Parser: TypeAlias = Callable[[Any, str, Faults], Any]
"""(value, its config path, where faults are noted) → the parsed value; `MISSING` after a fault."""
NO_PARSERS: Final[Mapping[str, Parser]] = {}


class ConfigSection:
    """A dict at a config path.

    A method that finds a fault notes it and goes on, so one parse finds all faults.
    """

    def __init__(self, values: Mapping[str, Any], where: str, faults: Faults) -> None:
        self.values = values
        self.where = where
        self.faults = faults

    @classmethod
    def open(cls, value: Any, where: str, faults: Faults, fix: str = "") -> ConfigSection | None:
        """Return the section of a value that should be a dict; None after a fault."""
        if not isinstance(value, Mapping):
            faults.add(f"{where} is {shown(value)}, not a dict", where, fix or _as_dict(value, where))
            return None
        return cls(value, where, faults)

    def at(self, key: str) -> str:
        """Return the config path of a key."""
        return f"{self.where}.{key}" if self.where else key

    def fault(self, key: str, what: str, fix: str = "") -> None:
        """Note a fault at a key."""
        self.faults.add(what, self.at(key), fix)

    def read(
        self, struct: type[S], parsers: Mapping[str, Parser] = NO_PARSERS, *, is_open: bool = False, **given: Any
    ) -> S | None:
        """Parse the keys of a struct, and note every fault.

        Args:
            struct: its fields with a `Key` are parsed; ``where`` is the config path. A field ``args`` takes all further
                keys.
            parsers: field → parser of its values, in place of the generic one.
            is_open: whether further keys are ignored.
            given: fields that are no keys.

        Returns:
            The value. Keys with faults have their defaults; None if one has no default.
        """
        keys, fields = keys_of(struct), struct.__struct_fields__
        needed = [key for key in keys.values() if key.is_needed]
        further: dict[Any, Any] = {}
        plain = []
        for name, value in self.values.items():
            if (key := keys.get(name)) is None:
                further[name] = value
                continue
            if key.field in parsers:
                parsed = parsers[key.field](value, self.at(name), self.faults)
            elif key.struct is not None:
                parsed = self._parse_structs(key, key.struct, value)
            else:
                parsed = value if key.key.read is None else self._read(key, key.key.read, value)
                plain.append(key)
            if parsed is not MISSING:
                given[key.field] = parsed
        for name in further:
            if not isinstance(name, str):
                what = f"{self.where} has the key {shown(name)}, which is not a text"
                self.faults.add(what, self.where, "use names as keys")
                return None
            if "args" not in fields and not is_open:
                self.fault(name, f"{self.where} has an unknown key {name!r}", key_advice(name, keys))
        for key in needed:
            if key.name not in self.values:
                self._missing(key.name, key.kind)
        if "args" in fields:  # they take all further keys
            given["args"] = further
        if "where" in fields:
            given["where"] = self.where
        try:
            return convert(given, struct)
        except ValidationError:
            for key in plain:
                if key.field in given:
                    self._check(key, given)
        is_whole = all(key.default is not NODEFAULT or key.field in given for key in needed)
        return struct(**given) if is_whole else None

    def _read(self, key: ConfigKey, read: Callable[[Any], Any], value: Any) -> Any:
        """Return a value in its long form; `MISSING` after a fault."""
        try:
            return None if value is None and key.default is None else read(value)
        except ValueError as error:
            self.fault(key.name, f"{self.at(key.name)} cannot be {shown(value)}: {error}", _fix(key))
            return MISSING

    def _check(self, key: ConfigKey, given: dict[str, Any]) -> None:
        """Note that a value has the wrong type, and take it out of the fields."""
        try:
            convert(given[key.field], key.type)
        except ValidationError as error:
            del given[key.field]
            value = self.values[key.name]
            place = _INDEX.search(str(error)) if isinstance(value, list | tuple) else None
            self._wrong(key, value, int(place[1]) if place else None)

    def _parse_structs(self, key: ConfigKey, struct: type[Struct], value: Any) -> Any:
        """Return the struct of a dict, or the structs of a list."""
        if value is None and key.default is not NODEFAULT:
            return MISSING
        where, fix = self.at(key.name), key.key.fix
        if not key.is_list:
            return parse_struct(struct, value, where, self.faults, fix)
        if not isinstance(value, list | tuple):
            self._wrong(key, value)
            return MISSING
        items = [
            item
            if key.has_texts and isinstance(item, str)
            else parse_struct(struct, item, f"{where}[{index}]", self.faults, fix)
            for index, item in enumerate(value)
        ]
        return tuple(item for item in items if item is not MISSING)

    def _wrong(self, key: ConfigKey, value: Any, index: int | None = None) -> None:
        """Note that a value, or the item of a list, has the wrong type."""
        where, fix = self.at(key.name), _fix(key)
        if index is None:
            self.faults.add(f"{where} is {shown(value)}, not {key.kind}", where, fix)
        else:
            self.faults.add(f"{where} contains {shown(value[index])}, and must be {key.kind}", f"{where}[{index}]", fix)

    def refuse_misspelt(self, optional: Collection[str], is_used: Callable[[str], bool] = lambda _: False) -> None:
        """Note every key that is nearly one of these while the right one is missing.

        Args:
            optional: the right keys.
            is_used: whether something else uses a key, which is no misspelling then.
        """
        missing = [key for key in optional if key not in self.values]
        for key in self.values if missing else ():
            if key not in optional and (right := near_miss(str(key), missing)) and not is_used(key):
                self.fault(key, f"{key!r} looks like a misspelling of {right!r}", f"rename {key!r} to {right!r}")

    def _missing(self, key: str, expected: str) -> None:
        near = near_miss(key, self.values)
        fix = f"rename {near!r} to {key!r}" if near else f"add {key} = {expected}"
        owner = self.where or "the config"
        self.faults.add(f"{owner} has no {key!r}", self.at(near) if near else self.where, fix)


def parse_struct(struct: type[S], value: Any, where: str, faults: Faults, fix: str = "") -> S | Any:
    """Return the struct of a dict, by the generic parser; `MISSING` after a fault."""
    section = ConfigSection.open(value, where, faults, fix)
    if section is None:
        return MISSING
    parsed = section.read(struct)
    return MISSING if parsed is None else parsed


def _fix(key: ConfigKey) -> str:
    return key.key.fix or f"give {key.kind}"


def _as_dict(value: Any, where: str) -> str:
    """Return how a value that is no dict may be meant."""
    if where.startswith(("models[", "datasets[")) and where.endswith("]"):
        name = where.partition("[")[0]
        if isinstance(value, list | tuple):
            return f"remove the comma behind the list; lists are joined with {name} = [*first, *second]"
        if isinstance(value, str):
            named = f"type='OpenAIChatModel', model={value!r}" if name == "models" else f"path={value!r}, ..."
            return f"write dict({named})"
    if isinstance(value, list) and any(isinstance(one, Mapping) and "content" in one for one in value):
        return "write dict(type='RawPromptTemplate', messages=[...])"
    return f"write dict(type={value!r})" if isinstance(value, str) and value.isidentifier() else "write dict(...)"


def parse_abbr(section: ConfigSection, keys: Sequence[str], last: str = "") -> str:
    """Return the ``abbr`` of a model or dataset; empty after a fault.

    Args:
        section: the model or dataset.
        keys: paths and names from which it is derived.
        last: what it is without any of them.
    """
    abbr = section.values["abbr"] if "abbr" in section.values else _derived_abbr(section.values, keys) or last
    if not isinstance(abbr, str):
        return ""  # `ConfigSection.read` notes the wrong type
    if "abbr" not in section.values and not abbr:
        section.faults.add(f"{section.where} has no 'abbr'", section.where, "add abbr = 'a-short-name'")
    elif fault := name_fault(abbr):
        section.fault("abbr", f"the abbr {shown(abbr)} {fault}", "it names files: use letters, digits, - _ and .")
        return ""
    return str(abbr)


def _derived_abbr(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the last part of the first key with a path or name, without a data file's ending."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and (name := split_sheet(Path(value))[0].name):
            for ending in (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx", ".ods"):
                if name.endswith(ending) and name != ending:
                    return name.removesuffix(ending)
            return name
    return ""


def refuse_duplicates(kind: str, abbrs: Sequence[tuple[str, str]], faults: Faults) -> None:
    """Note every ``abbr`` that occurs twice; ``abbrs`` are pairs of abbr and config path."""
    owners: dict[str, str] = {}
    for abbr, where in abbrs:
        if abbr in owners:
            faults.add(
                f"two {kind} have the abbr {abbr!r}: {owners[abbr]} and {where}", where, "give each its own abbr"
            )
        owners.setdefault(abbr, where)


def name_fault(abbr: str) -> str:
    """Return why a text cannot be the name of a file or folder; empty if it can."""
    if not abbr or abbr in (".", ".."):
        return "is not a name"
    if "/" in abbr or "\\" in abbr:
        return "contains a path separator"
    if not abbr.isprintable():
        return "contains characters that cannot be printed"
    if len(abbr.encode()) > LONGEST:
        return f"is longer than {LONGEST} bytes"
    return ""


def shown(value: Any) -> str:
    """Return a value as errors show it: cut to one line."""
    # Hide secrets first: what is left of one that was cut would not be recognised.
    return f"{reprlib.repr(SECRETS.hide_in_value(value))} ({type(value).__name__})" if value is not None else "None"


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
    value: Any = values
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
