"""A retriever of a peer chooses the examples of each question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.errors import ConfigError, PartError
from ais_prompt.extensions.peers.code import session
from ais_prompt.extensions.peers.code.parts import PeerRetriever
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS
from ais_prompt.types import Sample
from tests.support.peer_package import write_peer

pytestmark = pytest.mark.process

PATH = "opencompass.datasets.LastRows"
TRAIN = [Sample(str(number), number, {"kind": kind}, None) for number, kind in enumerate("abab")]


@pytest.fixture(autouse=True)
def _peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(PEER_FOLDERS.variable, str(write_peer(tmp_path)))
    yield
    session._SESSION.stop()


def test_it_chooses_rows_of_the_train_split() -> None:
    retriever = PeerRetriever(PATH, {"ice_num": 2, "ice_separator": "--"}, ["kind"])
    assert retriever.ice_separator == "--"
    assert list(retriever.retrieve(TRAIN, [TRAIN[1], TRAIN[0]])) == [(1, 3), (0, 2)]
    assert retriever.trial(TRAIN, TRAIN) == (0, 1)


def test_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(PartError, match="row 7 of 4"):
        PeerRetriever("opencompass.datasets.shots.Outside", None, ["kind"]).retrieve(TRAIN, TRAIN)


def test_its_arguments_are_checked() -> None:
    PeerRetriever.check_arguments(PATH, {"ice_num": 2})
    with pytest.raises(ConfigError, match="'number'"):
        PeerRetriever.check_arguments(PATH, {"number": 2})
