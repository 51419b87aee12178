"""Imports point down, the layers being those of the architecture (docs/concepts.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.config.parse.meta_template import parse_meta_template
from ais_prompt.prompt_locks.render import template_parts
from ais_prompt.types import MetaTemplateSpec, ModelSpec, PartSpec, RoleSpec, TaskSpec
from ais_prompt.utils.digest import digest
from tests.parts import task_spec

PACKAGE = Path(__file__).parents[2] / "ais_prompt"

LAYERS = (
    {"__main__"},
    {"cli"},
    {"api", "reference"},
    {"workflows"},
    {"report", "runners", "export"},
    {"regression"},
    {"prompt_locks"},
    {"scoring", "summary"},
    {"engine"},
    {"plan"},
    {"peers"},
    {"inferencers", "evaluators", "partitioners"},
    {"readers", "retrievers", "prompts", "chat", "models", "postprocess", "metrics"},
    {"registry", "catalog", "names", "config", "store"},
    {"utils"},
    {"types"},
    {"errors"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ALLOWED_SIBLINGS = {
    ("chat", "prompts"),  # a chat format is given a PromptList
    ("registry", "catalog"),
    ("names", "catalog"),
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """The parts of ais_prompt that a file imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module] if node.module != "ais_prompt" else [f"ais_prompt.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("ais_prompt."):
                yield name.split(".")[1]


def owner(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_down(file: Path) -> None:
    if owner(file) == "__init__":
        return
    for name in set(imported(file)) - {owner(file), "__version__"}:
        down = LEVEL[owner(file)] < LEVEL[name]
        assert down or (owner(file), name) in ALLOWED_SIBLINGS, f"{owner(file)} imports {name}"


def test_every_part_of_the_package_has_its_layer() -> None:
    assert {owner(file) for file in FILES} - {"__init__"} == set(LEVEL)


def test_the_docs_show_the_same_layers() -> None:
    _, _, section = (PACKAGE.parent / "docs" / "concepts.md").read_text("utf-8").partition("## Layers")
    picture = " ".join(line.strip() for line in section.splitlines() if line.startswith("    "))
    shown = [set(layer.replace(" ", "").split(",")) for layer in picture.split("→")]
    assert shown == [layer for layer in LAYERS if layer != {"__main__"}]


def test_imports_are_absolute() -> None:
    relative = [
        str(file)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


BEFORE_PARSING = {"config", "peers", "api", "reference", "workflows"}
"""They read, translate or describe configs as they are written."""
OF_PARTS = {"TEMPLATE", "TURN", "ROLE_TEMPLATE"}
"""Tables of what is an argument of a part, which the part reads itself."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_the_parser_reads_dicts_of_the_config(file: Path) -> None:
    if owner(file) in BEFORE_PARSING:
        return
    tables = {
        alias.name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "ais_prompt.config.schema"
        for alias in node.names
    }
    assert tables <= OF_PARTS


def test_a_meta_template_is_parsed_once_and_keeps_its_digest() -> None:
    written = {"round": [{"role": "HUMAN", "begin": [5]}], "eos_token_id": 3}
    spec = parse_meta_template(written)
    assert spec == MetaTemplateSpec(written, (RoleSpec("HUMAN", begin=[5]),), end_tokens=(3,))
    task = TaskSpec(ModelSpec("m", PartSpec("ScriptedModel"), spec), task_spec(Path("rows.jsonl")).dataset)
    assert template_parts(task)["meta_template"] == digest(written, 16)
