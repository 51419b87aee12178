"""What programs get that use this program: a JSON document of each command, SKILL.md and llms.txt."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ais_prompt.cli import main
from ais_prompt.cli.describe import command_entries
from ais_prompt.reference import llms_txt, skill
from ais_prompt.verbs import all_documents
from tests.support.cli import run_cli

WITHOUT_DOCUMENT = {
    "answers": "puts files into a run; its exit code says whether all are in it",
    "completion": "prints a script",
    "data": "writes files; its exit code says whether they are as published",
    "export": "writes files",
    "init": "asks a person",
    "migrate": "writes a config",
    "requests": "writes a file",
    "serve": "runs until it is stopped",
    "view": "opens a browser",
}
OWN_JSON = {"lock", "diff", "view-prompt"}
"""They print their result alone."""


def options_of(command: click.Command) -> set[str]:
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}


def test_each_command_has_a_document_or_a_reason() -> None:
    verbs = main.verbs()
    with_json = {name for name, command in verbs.items() if "--json" in options_of(command)}
    assert with_json == set(all_documents()) | OWN_JSON
    assert set(verbs) == with_json | WITHOUT_DOCUMENT.keys() & set(verbs)
    assert not with_json & WITHOUT_DOCUMENT.keys()


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
