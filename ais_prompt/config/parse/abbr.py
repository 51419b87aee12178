"""``abbr``: the short name of a model or dataset, which also names its files in a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from ais_prompt.config.parse.section import ConfigSection, Faults, shown

LONGEST = 200
"""Bytes of UTF-8; file systems take 255 for a name, and the run folder adds an ending."""


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
        if isinstance(value, str) and (name := PurePath(value).name):
            for ending in (".jsonl", ".json", ".csv", ".tsv", ".parquet"):
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
