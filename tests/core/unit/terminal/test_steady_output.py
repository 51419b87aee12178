from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from ais_prompt.terminal import SteadyFile, standard_stream


def test_everything_is_written(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as stream:
        steady, file = standard_stream(stream, None)
        print("ä" * 100_000, file=steady, flush=True)
    assert (tmp_path / "out").read_text("utf-8") == "ä" * 100_000 + "\n"
    assert file is not None
    assert file.error is None


def test_what_follows_an_error_is_dropped_for_every_writer(tmp_path: Path) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    file = SteadyFile(descriptor, None)
    assert file.write(b"one") == 3
    assert file.error is not None
    assert file.error.errno == errno.ENOSPC
    assert os.write(descriptor, b"two") == 3  # as a library or a child writes
    os.close(descriptor)


@pytest.mark.parametrize("blocks", [True, False])
def test_a_reader_that_comes_back_gets_what_follows(blocks: bool) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, blocks)
    file = SteadyFile(writer, 0.01)
    for _ in range(40):
        file.write(b"x" * 4096)
    assert file.error is not None
    held = os.read(reader, 2**20)
    assert set(held) == {ord("x")}
    file.write(b"again")
    assert os.read(reader, 2**20) == b"again"
    os.close(reader)
    os.close(writer)


def test_streams_without_a_descriptor_are_left_alone() -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    assert standard_stream(stream, None) == (stream, None)
    closed, _ = standard_stream(None, None)
    print("nothing", file=closed)
