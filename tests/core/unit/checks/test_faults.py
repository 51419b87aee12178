"""Arguments that a part checks itself."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.checks import FaultList
from ais_prompt.errors import ConfigError
from ais_prompt.registry import READERS
from ais_prompt.types import PartSpec

asked: list[dict[str, Any]] = []


class Slow:
    def __init__(self, cls: str, path: str, rows: int = 1) -> None: ...

    @staticmethod
    def check_arguments(cls: str, path: str, rows: int = 1) -> None:
        asked.append({"cls": cls, "path": path, "rows": rows})
        if cls == "their.wrong":
            raise ConfigError("there is no their.wrong", fix="check the spelling")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked.clear()
    monkeypatch.setitem(READERS.module_dict, "Slow", Slow)


def test_arguments_that_differ_only_in_texts_and_numbers_are_checked_once() -> None:
    faults = FaultList(str)
    for number in range(50):
        faults.check_part(READERS, PartSpec("Slow", {"cls": "their.right", "path": f"./data/{number}"}, "x"))
    faults.check_part(READERS, PartSpec("Slow", {"cls": "their.other", "path": "x"}, "x"))
    faults.check_part(READERS, PartSpec("Slow", {"cls": "their.right", "path": "x", "rows": 2}, "x"))
    assert [one["cls"] for one in asked] == ["their.right", "their.other", "their.right"]
    assert not faults


def test_a_fault_has_each_of_its_places() -> None:
    faults = FaultList(str)
    for number in range(3):
        spec = PartSpec("Slow", {"cls": "their.wrong", "path": str(number)}, f"datasets[{number}]")
        assert not faults.check_part(READERS, spec)
    assert len(asked) == 1
    assert [fault.where for fault in faults] == ["datasets[0]", "datasets[1]", "datasets[2]"]
