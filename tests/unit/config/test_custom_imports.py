"""What a worker process gets of the process that starts it."""

from __future__ import annotations

import pickle

import pytest

from ais_prompt.config import Surroundings
from ais_prompt.utils import CONFIG_FOLDERS, PEER_FOLDERS


def test_a_worker_looks_in_the_folders_that_options_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PEER_FOLDERS.variable, "of the environment")
    monkeypatch.setattr(PEER_FOLDERS, "given", ["peer"])
    monkeypatch.setattr(CONFIG_FOLDERS, "given", ["one", "two"])
    sent = pickle.dumps(Surroundings.here({}))
    PEER_FOLDERS.given = CONFIG_FOLDERS.given = ()
    assert [path.name for path in PEER_FOLDERS.paths()] == ["of the environment"]
    pickle.loads(sent).enter()
    assert [path.name for path in PEER_FOLDERS.paths()] == ["peer"]
    assert [path.name for path in CONFIG_FOLDERS.paths()] == ["one", "two"]
