"""Names are found in the files of a package, none of which is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.extensions.peers.code.importing import find_registering

REGISTERING = """
from pkg.registry import PARTS

@PARTS.register_module()
class ByItsOwnName: ...

@PARTS.register_module(name='another')
class Renamed: ...

for kind in ('x', 'y'):
    PARTS.register_module(name='made_up_' + kind, module=Renamed)

class NotRegistered: ...
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ByItsOwnName", True),
        ("another", True),
        ("made_up_y", True),
        ("NotRegistered", False),
        ("nowhere", False),
    ],
)
def test_the_module_that_registers_a_name(tmp_path: Path, name: str, found: bool) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "parts.py").write_text(REGISTERING)
    assert find_registering("pkg", tmp_path, name) == ("pkg.deep.parts" if found else None)
