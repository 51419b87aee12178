"""Conformance cases, as they are written in JSON files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.utils import decode

REQUIRED_KEYS = ("id", "category", "config", "data", "expect")


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        name, title, category, source: who it is; the source is a peer, or ``doc`` for the documents.
        config: templates, model, retriever and so on, by the names that they have in a config.
        data: split → rows, or messages; further keys as the category needs them.
        fake_model: what the model of the case answers.
        target: what should come out, by key; only the keys that are there are compared.
        stripped: blanks at the end of lines and of texts do not count.
        ambiguous: the document contradicts itself; nothing is compared.
        any_error: the peer is wrong here and it is not recorded what is right: a clear error is right, and so is a
            correction that is not documented.
    """

    name: str
    title: str
    category: str
    source: str
    config: Mapping[str, Any]
    data: Mapping[str, Any]
    fake_model: Mapping[str, Any]
    target: Mapping[str, Any]
    stripped: bool
    ambiguous: bool
    any_error: bool

    @property
    def from_document(self) -> bool:
        """True for an example of the documents, which show less than the peers record."""
        return self.source == "doc"


def load_cases(path: Path) -> list[Case]:
    """All cases of a file.

    Raises:
        DataError: the file cannot be read, is not JSON, or holds something that is no case.
    """
    try:
        values = decode(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"the case file cannot be read: {error}", where=str(path)) from None
    if not isinstance(values, list):
        raise DataError("a case file is a list of cases", where=str(path), fix="write [{...}, {...}]")
    return [_case(value, f"{path}[{number}]") for number, value in enumerate(values)]


def _case(value: Any, where: str) -> Case:
    if not isinstance(value, dict):
        raise DataError("a case is an object", where=where)
    for key in REQUIRED_KEYS:
        if key not in value:
            raise DataError(f"the case has no {key!r}", where=where, fix=f"a case needs {', '.join(REQUIRED_KEYS)}")
    source = value.get("source", "")
    return Case(
        name=value["id"],
        title=value.get("title", ""),
        category=value["category"],
        source=source,
        config=value["config"],
        data=value["data"],
        fake_model=value.get("fake_model", {}),
        target=value["expect_fixed"] if "expect_fixed" in value else value["expect"],
        stripped=value.get("match") == "strip",
        ambiguous=bool(value.get("ambiguous")),
        any_error=bool(value.get("peer_bug")) and "expect_fixed" not in value and source != "doc",
    )
