"""The list of shared servers, as the process that starts them writes it and shards read it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ais_prompt.models import AnnouncedServer, SharedServers, announced, list_of, read_server
from ais_prompt.types import SILENCE

SERVER = read_server({"command": "serve {port}", "shared": True, "host": "node7"}, "org/model", None)
OTHER = read_server({"command": "serve {port}", "shared": True}, "org/other", None)


def seen(folder: Path) -> list[str]:
    return [one.address for one in announced(list_of(folder, SERVER))]


def test_servers_come_and_go(tmp_path: Path) -> None:
    assert seen(tmp_path) == []
    first = AnnouncedServer(tmp_path, SERVER, "http://node7:1/v1", 0)
    second = AnnouncedServer(tmp_path, SERVER, "http://node7:2/v1", 1)
    AnnouncedServer(tmp_path, OTHER, "http://node7:3/v1", 2)
    assert seen(tmp_path) == ["http://node7:1/v1", "http://node7:2/v1"]
    first.withdraw()
    first.withdraw()
    assert seen(tmp_path) == ["http://node7:2/v1"]
    second.beat()


def test_a_server_without_a_heartbeat_is_not_asked(tmp_path: Path) -> None:
    server = AnnouncedServer(tmp_path, SERVER, "http://node7:1/v1", 0)
    [path] = tmp_path.glob("*/*.json")
    long_ago = time.time() - SILENCE - 1
    os.utime(path, (long_ago, long_ago))
    assert seen(tmp_path) == []
    server.beat()
    assert seen(tmp_path) == ["http://node7:1/v1"]


def test_other_files_in_the_list_are_left_alone(tmp_path: Path) -> None:
    folder = list_of(tmp_path, SERVER)
    folder.mkdir(parents=True)
    for name, content in {"torn.json": b'{"address": "http', "other.json": b"[]", "notes.txt": b"mine"}.items():
        (folder / name).write_bytes(content)
    assert seen(tmp_path) == []
    AnnouncedServer(tmp_path, SERVER, "http://node7:1/v1", 0)
    assert seen(tmp_path) == ["http://node7:1/v1"]
    assert len(list(folder.iterdir())) == 4


def test_the_last_servers_are_kept_while_none_is_announced(tmp_path: Path) -> None:
    """They may be back: what is asked meanwhile waits, as in any outage."""
    server = AnnouncedServer(tmp_path, SERVER, "http://node7:1/v1", 0)
    servers = SharedServers(tmp_path, SERVER, "fake")
    assert servers.look()
    assert not servers.look()
    server.withdraw()
    assert not servers.look()
    assert (servers.addresses, servers.error) == (("http://node7:1/v1",), None)


def test_a_shared_server_listens_for_other_machines() -> None:
    shared = read_server({"preset": "vllm", "shared": True, "host": "node7"}, "m", None)
    assert "0.0.0.0" in shared.words(1)
    assert shared.host == "node7"
    here = read_server({"preset": "vllm", "shared": True, "host": "127.0.0.1"}, "m", None)
    assert "127.0.0.1" in here.words(1)
    assert "127.0.0.1" in read_server("vllm", "m", None).words(1)
