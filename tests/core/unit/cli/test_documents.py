"""Each command prints a JSON document, or has a reason for none."""

from __future__ import annotations

import click

from ais_prompt.cli import main
from tools.schemas import all_documents

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
    assert with_json == set(all_documents()) | OWN_JSON & set(verbs)
    assert set(verbs) == with_json | WITHOUT_DOCUMENT.keys() & set(verbs)
    assert not with_json & WITHOUT_DOCUMENT.keys()
