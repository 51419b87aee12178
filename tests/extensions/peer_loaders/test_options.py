"""`tests/support/peer_flags.py` has each option of the command lines of OpenCompass and AISBench."""

from __future__ import annotations

import ast

import pytest

from ais_prompt.extensions.peers.peer_packages import peer_package
from tests.support.peer_flags import FLAGS

PARSERS = {"opencompass": "cli/main.py", "ais_bench": "benchmark/cli/argument_parser.py"}

pytestmark = pytest.mark.skipif(
    not all(map(peer_package, PARSERS)), reason="OpenCompass and AISBench are not there; see AISPROMPT_PEER_PATH"
)


@pytest.mark.parametrize("package", PARSERS)
def test_the_list_has_the_options_of_the_real_parser(package: str) -> None:
    folder = peer_package(package)
    assert folder is not None
    calls = [
        node
        for node in ast.walk(ast.parse((folder / PARSERS[package]).read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
    ]
    names = [tuple(name.value for name in call.args if isinstance(name, ast.Constant)) for call in calls]
    assert len(names) > 15
    assert {*names} - {("config",)} == {*FLAGS[package]}
