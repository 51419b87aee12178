"""Typed access to a dict of the config while it is parsed; faults are noted instead of raised.

Models and datasets have an ``abbr``: the short name that also names their files in a run folder.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.config.schema import KeyTable
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.secrets import SECRETS
from ais_prompt.types import PartSpec
from ais_prompt.utils import near_miss, split_sheet

REQUIRED: Final = object()
"""As a default: the key must be there."""

LONGEST = 200
"""Bytes of UTF-8; file systems take 255 for a name, and the run folder adds an ending."""


class Faults:
    """The faults of a config, in the order in which they were found.

    Args:
        place: from a config path to the words that tell the user where that is.
    """

    def __init__(self, place: Callable[[str], str]) -> None:
        self._place = place
        self._found: list[ConfigError] = []

    def add(self, what: str, where: str, fix: str = "") -> None:
        """Note a fault; ``where`` is a config path."""
        self._found.append(ConfigError(what, where=self._place(where), fix=fix))

    def raise_any(self) -> None:
        """Raise all faults at once, if there are any."""
        if self._found:
            raise ConfigFaults(self._found)


class ConfigSection:
    """A dict at a config path.

    A method that finds a fault notes it and returns None, so one parse finds all faults.
    """

    def __init__(self, values: Mapping[str, Any], where: str, faults: Faults) -> None:
        self.values = values
        self.where = where
        self.faults = faults

    @classmethod
    def open(cls, value: Any, where: str, faults: Faults) -> ConfigSection | None:
        """Return the section of a value that should be a dict with text keys."""
        if not isinstance(value, Mapping):
            faults.add(f"{where} is {shown(value)}, not a dict", where, _as_dict(value, where))
            return None
        for key in value:
            if not isinstance(key, str):
                faults.add(f"{where} has the key {shown(key)}, which is not a text", where, "use names as keys")
                return None
        return cls(value, where, faults)

    def at(self, key: str) -> str:
        """Return the config path of a key."""
        return f"{self.where}.{key}" if self.where else key

    def fault(self, key: str, what: str, fix: str = "") -> None:
        """Note a fault at a key."""
        self.faults.add(what, self.at(key), fix)

    def get(self, key: str, kinds: tuple[type, ...], expected: str, default: Any = REQUIRED) -> Any:
        """Return the value of a key if it has one of these types; its default if missing; None after a fault."""
        if key not in self.values:
            if default is REQUIRED:
                self._missing(key, expected)
                return None
            return default
        value = self.values[key]
        if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
            return value
        self.fault(key, f"{self.at(key)} is {shown(value)}, not {expected}", f"give {expected}")
        return None

    def section(self, key: str) -> ConfigSection | None:
        """Return the dict at a required key."""
        if key not in self.values:
            self._missing(key, "dict(...)")
            return None
        return ConfigSection.open(self.values[key], self.at(key), self.faults)

    def part(self, key: str) -> PartSpec | None:
        """Parse the part at a key, ``dict(type=..., **arguments)``; None if missing, None or after a fault."""
        if self.values.get(key) is None:
            return None
        section = ConfigSection.open(self.values[key], self.at(key), self.faults)
        return section.as_part() if section else None

    def required_part(self, key: str) -> PartSpec | None:
        """Parse the part at a required key."""
        if key not in self.values:
            self._missing(key, "dict(type=...)")
            return None
        section = ConfigSection.open(self.values[key], self.at(key), self.faults)
        return section.as_part() if section else None

    def as_part(self, leave_out: Collection[str] = (), default_type: Any = REQUIRED) -> PartSpec | None:
        """Parse this section as a part: its ``type``, and all keys but ``leave_out`` as arguments."""
        type_ = self.get("type", (str,), "a class, a registered name or a dotted path", default_type)
        if type_ is None:
            return None
        if not type_:
            self.fault("type", f"{self.at('type')} is empty", "name the part to build")
            return None
        args = {key: value for key, value in self.values.items() if key != "type" and key not in leave_out}
        return PartSpec(type_, args, self.where)

    def refuse_unknown(self, table: KeyTable) -> None:
        """Note every key that is not in a table."""
        for key, fix in table.unknown(self.values):
            self.fault(key, f"{self.where} has an unknown key {key!r}", fix)

    def refuse_misspelt(self, optional: Collection[str], is_used: Callable[[str], bool] = lambda _: False) -> None:
        """Note every key that is nearly one of these while the right one is missing.

        Args:
            optional: the right keys.
            is_used: whether something else uses a key, which is no misspelling then.
        """
        missing = [key for key in optional if key not in self.values]
        for key in self.values if missing else ():
            if key not in optional and (right := near_miss(key, missing)) and not is_used(key):
                self.fault(key, f"{key!r} looks like a misspelling of {right!r}", f"rename {key!r} to {right!r}")

    def _missing(self, key: str, expected: str) -> None:
        near = near_miss(key, self.values)
        fix = f"rename {near!r} to {key!r}" if near else f"add {key} = {expected}"
        owner = self.where or "the config"
        self.faults.add(f"{owner} has no {key!r}", self.at(near) if near else self.where, fix)


def _as_dict(value: Any, where: str) -> str:
    """Return how a value that is no dict may be meant."""
    if where.startswith(("models[", "datasets[")) and where.endswith("]"):
        name = where.partition("[")[0]
        if isinstance(value, list | tuple):
            return f"remove the comma behind the list; lists are joined with {name} = [*first, *second]"
        if isinstance(value, str):
            is_model = name == "models"
            return (
                f"write dict(type='OpenAIChatModel', model={value!r})"
                if is_model
                else f"write dict(path={value!r}, ...)"
            )
    if isinstance(value, list) and any(isinstance(one, Mapping) and "content" in one for one in value):
        return "write dict(type='RawPromptTemplate', messages=[...])"
    return f"write dict(type={value!r})" if isinstance(value, str) and value.isidentifier() else "write dict(...)"


def parse_abbr(section: ConfigSection, derived: str) -> str | None:
    """Return the section's ``abbr``, or the derived one; None after a fault."""
    abbr = section.get("abbr", (str,), "a short name", derived)
    if not isinstance(abbr, str):
        return None
    if "abbr" not in section.values and not abbr:
        section.faults.add(f"{section.where} has no 'abbr'", section.where, "add abbr = 'a-short-name'")
        return None
    if fault := name_fault(abbr):
        section.fault("abbr", f"the abbr {shown(abbr)} {fault}", "it names files: use letters, digits, - _ and .")
        return None
    return abbr


def derived_abbr(values: Mapping[str, Any], keys: Sequence[str]) -> str:
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
