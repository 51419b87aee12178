"""The files that name everything, extensions included, are up to date."""

from __future__ import annotations

import re

import ais_prompt
from tools.stub import NAMES, STUB, names_of_extensions, stub


def test_type_checkers_see_the_same_names() -> None:
    assert STUB.read_text("utf-8") == stub(), "run: python -m tools.reference"
    typed = set(re.findall(r"^(?:from .* as |    \w+ as )?(\w+)(?::|,|$)", stub(), re.MULTILINE))
    assert typed >= set(ais_prompt.__all__)


def test_the_names_of_extensions_are_known_when_one_is_missing() -> None:
    assert NAMES.read_text("utf-8") == names_of_extensions(), "run: python -m tools.reference"
