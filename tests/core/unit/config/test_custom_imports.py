"""What a worker process gets of the process that starts it."""

from __future__ import annotations

import pickle

import pytest

from ais_prompt.config import CONFIG_FOLDERS, SearchFolders, Surroundings

FOLDERS = SearchFolders("MY_FOLDERS")


def test_a_worker_looks_in_the_folders_that_options_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDERS.variable, "of the environment")
    monkeypatch.setattr(FOLDERS, "given", ["mine"])
    monkeypatch.setattr(CONFIG_FOLDERS, "given", ["one", "two"])
    sent = pickle.dumps(Surroundings.here({}))
    FOLDERS.given = CONFIG_FOLDERS.given = ()
    assert [path.name for path in FOLDERS.paths()] == ["of the environment"]
    pickle.loads(sent).enter()
    assert [path.name for path in FOLDERS.paths()] == ["mine"]
    assert [path.name for path in CONFIG_FOLDERS.paths()] == ["one", "two"]
