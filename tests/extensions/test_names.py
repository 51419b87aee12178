"""The files that name everything, extensions included, are up to date."""

from __future__ import annotations

import re

import pytest

import ais_prompt
from tools.reference import FOLDER, ROOT, pages
from tools.stub import STUB


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Path → content of all that `tools.reference` writes."""
    return {path.as_posix(): content for path, content in pages().items()}


@pytest.mark.thorough
def test_the_committed_files_are_those_of_the_program(made: dict[str, str]) -> None:
    """The reference, the files for agents, the stub and the names of extensions."""
    there = {path: (ROOT / path).read_text("utf-8") if (ROOT / path).exists() else None for path in made}
    assert [path for path in made if there[path] != made[path]] == [], "run: python -m tools.reference"
    kept = {file.relative_to(ROOT).as_posix() for file in (ROOT / FOLDER).rglob("*.*")}
    assert kept - made.keys() == set(), "delete these: nothing writes them any more"


@pytest.mark.thorough
def test_type_checkers_see_the_same_names(made: dict[str, str]) -> None:
    lines = made[STUB.relative_to(ROOT).as_posix()]
    typed = set(re.findall(r"^(?:from .* as |    \w+ as )?(\w+)(?::|,|$)", lines, re.MULTILINE))
    assert typed >= set(ais_prompt.__all__)
