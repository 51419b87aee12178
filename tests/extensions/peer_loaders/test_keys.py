"""The table of keys, which the tests of translated configs walk, has each argument of the classes of the peers."""

from __future__ import annotations

from collections import defaultdict

import pytest

from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.extensions.peers.table import PEERS
from tests.extensions.peer_loaders.signatures import signatures
from tests.support.peer_keys import KEYS

pytestmark = pytest.mark.skipif(
    not all(map(peer_package, PEERS)), reason="OpenCompass and AISBench are not there; see AISPROMPT_PEER_PATH"
)


def test_the_table_has_every_argument_of_their_classes() -> None:
    """After a new release: ``python -m tests.extensions.peer_loaders.signatures``, and look at what changed."""
    theirs: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for kind, path, names in signatures():
        if names:
            theirs[kind][path] = set(names)
    assert theirs == {kind: {path: set(keys) for path, keys in parts.items()} for kind, parts in KEYS.items()}
