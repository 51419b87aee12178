"""Plain values come back from a pickle, and nothing that a pickle names is called."""

from __future__ import annotations

import os
import pickle
from array import array
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from ais_prompt.scoring import read_values
from ais_prompt.types import SampleScore

VALUES = [
    *([1, "a", None, True, 1.5, b"x"], {"a": (1, [2]), 3: {4}}, Decimal("1.5"), Fraction(1, 3), datetime.now(UTC)),
    *(array("q", [1, -2, 2**40]), array("d", [0.5]), Path("a/b"), SampleScore("id", "scored")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_plain_values_come_back(value: Any) -> None:
    for protocol in (pickle.DEFAULT_PROTOCOL, pickle.HIGHEST_PROTOCOL):
        assert read_values(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("module", ["pathlib", "pathlib._local", "pathlib._any.thing"])
def test_a_class_may_be_of_a_private_module_of_its_package(module: str) -> None:
    pickled = f"c{module}\nPurePosixPath\n(Va/b\ntR."
    assert read_values(pickled.encode()) == PurePosixPath("a/b")


@pytest.mark.parametrize("name", ["pathlib._os\nmkdir", "pathlib._local\nos", "uuid._x\nos.mkdir", "os._x\nmkdir"])
def test_a_private_module_gives_nothing_else(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match="no plain value"):
        read_values(f"c{name}\n(Vx\ntR.".encode())


class Named:
    def __init__(self, function: Any, *args: Any) -> None:
        self._call = function, args

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize(("function", "args"), [(os.mkdir, ("x",)), (eval, ("1",)), (getattr, ("a", "upper"))])
def test_nothing_is_called(
    function: Any, args: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="no plain value"):
        read_values(pickle.dumps(Named(function, *args)))
    assert not list(tmp_path.iterdir())
