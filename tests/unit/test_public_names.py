"""What ``from ais_prompt import …`` gives."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ais_prompt


@pytest.mark.parametrize("name", ais_prompt.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(ais_prompt, name)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'PromptLst'"):
        _ = ais_prompt.PromptLst


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, ais_prompt; print(sorted({m.split('.')[0] for m in sys.modules} & {'mmengine', 'click'}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
