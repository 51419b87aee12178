"""The table of ids of data is that of OpenCompass."""

from __future__ import annotations

import ast
import posixpath

import pytest

from ais_prompt.extensions.peers.data_path import LOCAL_PATHS
from ais_prompt.extensions.peers.peer_packages import peer_package

pytestmark = pytest.mark.skipif(
    peer_package("opencompass") is None, reason="OpenCompass is not there; see AISPROMPT_PEER_PATH"
)


def test_every_id_of_opencompass_has_its_path() -> None:
    folder = peer_package("opencompass")
    assert folder is not None
    tree = ast.parse((folder / "utils" / "datasets_info.py").read_text("utf-8"))
    [table] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATASETS_MAPPING"
    ]
    assert isinstance(table, ast.Dict)
    theirs = {}
    for key, entry in zip(table.keys, table.values, strict=True):
        assert isinstance(key, ast.Constant)
        assert isinstance(entry, ast.Dict)
        values = {ast.literal_eval(one): value for one, value in zip(entry.keys, entry.values, strict=True) if one}
        theirs[key.value] = posixpath.normpath(ast.literal_eval(values["local"]))
    assert theirs == LOCAL_PATHS
