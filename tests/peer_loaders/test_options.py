"""Each option of the command lines of OpenCompass and AISBench is one of ours, or the error says what to do instead."""

from __future__ import annotations

import ast

import pytest

from ais_prompt.cli.peer_options import answer_to
from ais_prompt.cli.run import run
from ais_prompt.utils.peer_packages import peer_package

COMMANDS = {"opencompass": "cli/main.py", "ais_bench": "benchmark/cli/argument_parser.py"}

pytestmark = pytest.mark.skipif(
    not all(map(peer_package, COMMANDS)), reason="OpenCompass and AISBench are not there; see AISPROMPT_PEER_PATH"
)


@pytest.mark.parametrize("package", COMMANDS)
def test_each_option_is_answered(package: str) -> None:
    folder = peer_package(package)
    assert folder is not None
    calls = [
        node
        for node in ast.walk(ast.parse((folder / COMMANDS[package]).read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    added = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"]
    options = [name.value for call in added for name in call.args if isinstance(name, ast.Constant)]
    theirs = {str(option) for option in options if str(option).startswith("--")}
    ours = {option for parameter in run.params for option in parameter.opts}
    assert len(theirs) > 15
    assert [option for option in sorted(theirs - ours) if answer_to(option) is None] == []
