"""docs/reference is what signatures, docstrings and tables say, and says something of everything."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import pytest

from ais_prompt import names
from ais_prompt.catalog import PARTS
from ais_prompt.cli import main
from ais_prompt.config import META_ROLE, META_TEMPLATE, READER, TEMPLATE, TURN, KeyTable, all_tables, keys_of
from ais_prompt.extensions.describe.command import command_entries
from ais_prompt.extensions.describe.docstring import read_docstring
from ais_prompt.extensions.describe.lookup import entries
from ais_prompt.types import Entry


@pytest.fixture(scope="module")
def described() -> list[Entry]:
    """All entries, those of commands included."""
    return [*entries(), *command_entries()]


@pytest.mark.thorough
def test_everything_is_described(described: list[Entry]) -> None:
    assert [entry.name for entry in described if not entry.summary] == []
    arguments = [(f"{entry.group}-{entry.name}", argument) for entry in described for argument in entry.arguments]
    silent = [(where, one.name) for where, one in arguments if not (one.meaning.strip() and one.kind)]
    assert not silent, "describe these in the docstring"
    doubled = [one for one, count in Counter((where, one.name) for where, one in arguments).items() if count > 1]
    assert not doubled


def test_all_parts_errors_names_and_commands_have_entries(described: list[Entry]) -> None:
    known = {(entry.group, name) for entry in described for name in (entry.name, *entry.also)}
    assert {(kind, name) for kind, parts in PARTS.items() for name in parts} <= known
    assert {("errors", name) for name in names.ERRORS} <= known
    assert isinstance(main, click.Group)
    assert {("commands", name) for name in main.verbs()} <= known
    python = {name for group, name in known if group in ("python", "models")}
    assert {*names.API, *names.RESULTS, *names.PROTOCOLS, *names.VALUES} <= python


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.title)
def test_a_table_has_each_key_once_with_its_meaning(table: KeyTable) -> None:
    meanings = read_docstring(table.struct).items
    assert len(set(table.names)) == len(table.names) > 0
    assert {key.field for key in keys_of(table.struct).values()} <= set(meanings)


@pytest.mark.parametrize("table", [META_TEMPLATE, META_ROLE, READER, TEMPLATE, TURN], ids=lambda table: table.title)
def test_a_misspelt_key_is_known_again(table: KeyTable) -> None:
    values: dict[Any, Any] = {f"{name}x": 1 for name in table.names}
    assert dict(table.unknown(values)) == {f"{name}x": f"did you mean {name!r}?" for name in table.names}
    assert not list(table.unknown(dict.fromkeys(table.names)))
