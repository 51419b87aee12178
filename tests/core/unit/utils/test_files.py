"""What is not a regular file is refused at once wherever a user can name a file."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ais_prompt.config import find_config, load_config
from ais_prompt.data import LocalDataset, read_file
from ais_prompt.errors import AisPromptError, ConfigError, DataError, StoreError
from ais_prompt.gates import read_baseline
from ais_prompt.scoring import read_answers
from ais_prompt.store import read_json, read_predictions, read_scores
from ais_prompt.utils import local_file

KINDS = {
    "pipe": "a pipe",
    "socket": "a socket",
    "device": "a device",
    "loop": "symbolic links",
    "dangling": "",
    "folder": "folder",
}


@pytest.fixture(params=KINDS)
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    kind: str = request.param
    path = Path("odd.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            server.bind(str(path))
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to(path if kind == "loop" else "nothing")
        yield path, KINDS[kind]


READ: dict[str, tuple[Callable[[Path], object], type[AisPromptError]]] = {
    "data": (lambda path: read_file(path, "jsonl"), DataError),
    "parquet": (lambda path: read_file(path, "parquet"), DataError),
    "dataset": (lambda path: LocalDataset(str(path), format="jsonl").read("odd"), DataError),
    "config": (load_config, ConfigError),
    "config by path": (find_config, ConfigError),
    "foreign answers": (lambda path: list(read_answers(path)), StoreError),
    "predictions": (lambda path: list(read_predictions(path)), StoreError),
    "results": (read_scores, StoreError),
    "run record": (read_json, StoreError),
    "baseline": (read_baseline, StoreError),
}


@pytest.mark.parametrize("what", READ)
def test_it_is_an_error_that_says_so(odd: tuple[Path, str], what: str) -> None:
    path, kind = odd
    read, error = READ[what]
    with pytest.raises(error) as caught:
        read(path)
    assert "odd.jsonl" in "\n".join(caught.value.lines())
    if what in ("data", "config", "foreign answers", "baseline", "results") and kind != "symbolic links":
        assert kind in str(caught.value)


def test_media(odd: tuple[Path, str]) -> None:
    with pytest.raises(DataError):
        local_file({"type": "image_url", "image_url": {"url": str(odd[0].absolute())}})
