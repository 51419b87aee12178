"""Odd values in logs of others: a result or three lines, in little memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.logs.writers import WRITERS
from tests.support.odd_files import assert_no_fault, change_file

pytestmark = [pytest.mark.process, pytest.mark.thorough]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@given(random=st.randoms(use_true_random=False))
def test_an_odd_log_is_read_or_refused(write: Callable[[Path], Path], random: Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "log").mkdir()
        write(folder / "log")
        files = sorted(path for path in (folder / "log").rglob("*") if path.suffix in (".json", ".jsonl", ".eval"))
        change_file(random.choice(files), random)
        if assert_no_fault("import", "log", folder=folder) == 0:
            assert_no_fault("explain", "log", "log", folder=folder)
