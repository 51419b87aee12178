"""docs/reference.md is what the tables of the checks say."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.config.schema import META_ROLE, META_TEMPLATE, READER, TABLES, TEMPLATE, TURN, Table
from tools.reference import PAGE, page


def test_the_reference_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tools.reference"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.title)
def test_a_table_has_each_key_once_with_its_meaning(table: Table) -> None:
    assert len(set(table.names)) == len(table.names) > 0
    assert all(key.kind and key.meaning and key.default for key in table.keys)


@pytest.mark.parametrize("table", [META_TEMPLATE, META_ROLE, READER, TEMPLATE, TURN], ids=lambda table: table.title)
def test_a_misspelt_key_is_known_again(table: Table) -> None:
    values: dict[Any, Any] = {f"{name}x": 1 for name in table.names}
    assert dict(table.unknown(values)) == {f"{name}x": f"did you mean {name!r}?" for name in table.names}
    assert not list(table.unknown(dict.fromkeys(table.names)))
