"""What programs get that use this program: SKILL.md and llms.txt."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ais_prompt.cli import main
from ais_prompt.extensions.describe.command import command_entries
from ais_prompt.extensions.describe.programs import llms_txt, skill
from tests.support.cli import run_cli


def options_of(command: click.Command) -> set[str]:
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}


def test_the_skill_names_every_command_and_no_other() -> None:
    verbs = main.verbs()
    text = skill(command_entries())
    assert text.startswith("---\nname: aisprompt\ndescription: >-\n")
    commands = re.findall(r"`aisprompt ([a-z-]+)([^`]*)`", text)
    assert {name for name, _ in commands} == set(verbs)
    for name, words in commands:
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", words):
            assert option in options_of(verbs[name]), (name, option)
    known = set.union(*map(options_of, verbs.values()))
    assert set(re.findall(r"`(--?[a-z][a-z-]*)", text)) <= known


def test_llms_txt_names_every_command_and_the_pages_of_a_site() -> None:
    text = llms_txt(command_entries(), [("ci.html", "In CI")])
    assert text.startswith("# ais_prompt\n\n> ")
    assert "- [In CI](ci.html)" in text
    assert set(re.findall(r"^- `aisprompt ([a-z-]+)`", text, re.MULTILINE)) == set(main.verbs())


@pytest.mark.parametrize("name", ["SKILL.md", "llms.txt"])
def test_describe_prints_the_files(name: str, tmp_path: Path) -> None:
    done = run_cli("describe", name, folder=tmp_path)
    assert done.returncode == 0
    assert "aisprompt compare" in done.stdout
