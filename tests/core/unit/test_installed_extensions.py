"""Installed packages bring extensions; what one raises at a step is a warning."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.steps import steps, tell
from tests.support.cli import run_cli

MANIFEST = """
from ais_prompt.extension import Extension, VerbEntry

EXTENSION = Extension(
    parts={"postprocessors": {"last_word_of_two": "parts"}},
    verbs={"greet": VerbEntry("Others", "command:greet", "Say hello."), "run": VerbEntry("Ask", "command:greet", "")},
    steps={"finished": "command:finished"},
)
"""
PARTS = "from ais_prompt import POSTPROCESSORS\n\n@POSTPROCESSORS.register_module()\ndef last_word_of_two(text):\n"
COMMAND = """
import click

TOLD = []

@click.command()
def greet():
    click.echo("hello")

def finished(folder, rows):
    TOLD.append((folder, rows))
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with two installed packages, of which the first cannot be used at the step."""
    for name, command in (("a_broken_one", "raise OSError('no network')"), ("a_tracker", COMMAND)):
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(MANIFEST.replace("of_two", f"of_{name}"))
        (package / "parts.py").write_text(PARTS.replace("of_two", f"of_{name}") + "    return text.split()[-1]\n")
        (package / "command.py").write_text(command)
        facts = tmp_path / f"{name}-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(f"[ais_prompt.extensions]\n{name} = {name}:EXTENSION\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("a_broken_one", "a_tracker")]:
        del sys.modules[name]
    POSTPROCESSORS.module_dict.pop("last_word_of_a_tracker", None)


def test_all_are_told_and_what_one_raises_is_a_warning(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    tell("finished", site, [])
    assert [(site, [])] == sys.modules["a_tracker.command"].TOLD
    [warning] = [record.getMessage() for record in caplog.records]
    assert warning.startswith("a_broken_one.command:finished, which an extension calls at the step 'finished', raises")
    assert warning.endswith("OSError: no network")


def test_a_step_that_has_to_be_taken_raises(site: Path) -> None:
    with pytest.raises(OSError, match="no network"):
        steps("finished")


def test_a_part_is_imported_when_it_is_named(site: Path) -> None:
    assert "last_word_of_a_tracker" in POSTPROCESSORS.names()
    assert "a_tracker.parts" not in sys.modules
    assert POSTPROCESSORS.get("last_word_of_a_tracker")("one two") == "two"


def test_a_verb_is_in_the_help_and_takes_the_place_of_no_other(site: Path) -> None:
    shown = run_cli("--help").stdout
    assert "greet        Say hello." in shown
    assert "a_broken_one.command" not in sys.modules
    assert "Ask the models, score the answers, report." in shown
    assert "Usage: aisprompt run" in run_cli("run", "--help").stdout
