from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import Spill
from ais_prompt.utils import temporary as spill


@given(pieces=st.lists(st.binary(max_size=30)), in_memory=st.integers(1, 200))
def test_what_went_in_comes_out_in_any_order(pieces: list[bytes], in_memory: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "IN_MEMORY", in_memory)
        kept = Spill()
    for number, piece in enumerate(pieces):
        kept.append(piece)
        assert kept[number // 2] == pieces[number // 2]
    assert list(kept) == pieces
    assert [kept[number] for number in reversed(range(len(kept)))] == pieces[::-1]


@pytest.mark.parametrize("number", [-1, 1])
def test_there_are_no_other_numbers(number: int) -> None:
    kept = Spill()
    kept.append(b"only")
    with pytest.raises(IndexError):
        kept[number]


@pytest.mark.process
def test_a_disk_that_takes_no_more_is_said(tmp_path: Path) -> None:
    program = """
        import resource
        from ais_prompt.errors import StoreError
        from ais_prompt.utils.temporary import IN_MEMORY, Spill
        resource.setrlimit(resource.RLIMIT_FSIZE, (IN_MEMORY + 1000,) * 2)
        kept = Spill()
        try:
            for _ in range(3):
                kept.append(bytes(IN_MEMORY // 2))
        except StoreError as error:
            print(error)
    """
    command = [sys.executable, "-B", "-c", textwrap.dedent(program)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=True)
    assert "File too large" in done.stdout
    assert str(tmp_path) in done.stdout
    assert "TMPDIR" in done.stdout
