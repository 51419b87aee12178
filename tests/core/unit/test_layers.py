"""Imports point down, the layers being those of the architecture (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

from ais_prompt.config import keys, parse_meta_template
from ais_prompt.extension import Extension, shipped
from ais_prompt.extensions.evidence.locks.prompt_lock import template_parts
from ais_prompt.moved import MOVED
from ais_prompt.names import HOMES
from ais_prompt.types import MetaTemplateSpec, ModelSpec, PartSpec, RoleSpec, TaskSpec
from ais_prompt.utils import digest
from tests.support.parts import task_spec

pytestmark = pytest.mark.thorough

PACKAGE = Path(__file__).parents[3] / "ais_prompt"

LAYERS = (
    {"__main__"},
    {"extensions", "testing"},
    {"cli"},
    {"verbs"},
    {"gates"},
    {"report"},
    {"comparison"},
    {"preview", "scoring"},
    {"engine"},
    {"checks"},
    {"judges"},
    {"plan"},
    {"inferencers", "evaluators"},
    {"data", "prompts", "models", "postprocess", "metrics"},
    {"store"},
    {"registry", "config"},
    {"names", "steps"},
    {"parts", "processes"},
    {"terminal"},
    {"utils"},
    {"secrets"},
    {"types"},
    {"errors"},
    {"rooms", "mmengine_import"},
    {"catalog"},
    {"extension", "moved"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file for file in FILES
}


@cache
def imports(file: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports of a file, at its top or inside functions. Its tree would take 100 MB for all files."""
    tree = ast.parse(file.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


ROOMS = {
    name
    for name, file in MODULES.items()
    if file.name == "__init__.py" and "offered(__name__" in file.read_text("utf-8")
}


@cache
def homes(room: str) -> dict[str, str]:
    """Return the names that a room offers, and the module of each."""
    return {
        alias.name: node.module
        for node in imports(MODULES[room])
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def imported(file: Path) -> Iterator[str]:
    """Yield the parts of ais_prompt that a file imports."""
    for node in imports(file):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.level == 0 and node.module:
            names = (
                [node.module]
                if node.module != "ais_prompt"
                else [HOMES.get(a.name, f"ais_prompt.{a.name}") for a in node.names]
            )
        for name in names:
            if name.startswith("ais_prompt."):
                yield name.split(".")[1]


def owner(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def shown(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def points_down(folder: str, name: str) -> bool:
    return LEVEL[folder] < LEVEL[name]


def test_imports_point_down() -> None:
    wrong = [
        f"{shown(file)} imports {name}"
        for file in FILES
        if owner(file) != "__init__"
        for name in sorted(set(imported(file)) - {owner(file), "__version__"})
        if not points_down(owner(file), name)
    ]
    assert not wrong


def imported_modules(file: Path) -> set[str]:
    """Return the modules of ais_prompt that a file imports: at its top, inside functions, or for types alone."""
    names: set[str] = set()
    for node in imports(file):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            offers = homes(node.module) if node.module in ROOMS else {}
            inside |= {offers[alias.name] for alias in node.names if alias.name in offers}
            names |= (inside & MODULES.keys()) or {node.module}
    return names & MODULES.keys()


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the names that a name leads back to itself through, one list a circle."""
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        rest = {name: set(after) for name, after in graph.items()}
        rest[circle[1]].discard(circle[0])
        return [circle, *circles(rest)]
    return []


def test_imports_have_no_circle() -> None:
    assert not circles({name: imported_modules(file) - {name} for name, file in MODULES.items()})


def test_rooms_import_from_rooms() -> None:
    """So a file can move without touching what is outside of its room."""
    wrong = {
        f"{shown(file)}: {node.module}"
        for file in FILES
        for node in imports(file)
        if isinstance(node, ast.ImportFrom) and node.module and len(parts := node.module.split(".")) > 2
        if ".".join(parts[:2]) in ROOMS and owner(file) != parts[1]
    }
    assert not wrong


def test_extensions_import_nothing_of_each_other() -> None:
    """So the folder of each can be deleted without the others."""
    folder = PACKAGE / "extensions"
    found = {
        (str(file.relative_to(folder)), other)
        for file in folder.rglob("*.py")
        for name in imported_modules(file)
        if name.startswith("ais_prompt.extensions.")
        if (other := name.split(".")[2]) != file.relative_to(folder).parts[0]
    }
    assert not found


def test_the_core_names_nothing_of_an_extension() -> None:
    """Neither its modules nor its parts nor its commands, in code, texts or docstrings."""
    patterns = {
        owner: re.compile(rf"(?<!\w)(?:{'|'.join(sorted(named_by(owner, brings)))})(?!\w)")
        for owner, brings in shipped().items()
    }
    found = {
        (shown(file), owner)
        for suffix in ("py", "js", "html")
        for file in PACKAGE.rglob(f"*.{suffix}")
        if file.relative_to(PACKAGE).parts[0] != "extensions"
        for text in [file.read_text("utf-8")]
        for owner, pattern in patterns.items()
        if pattern.search(text)
    }
    assert not found


def named_by(owner: str, brings: Extension) -> Iterator[str]:
    """Yield what names an extension, as expressions."""
    yield rf"extensions[./]{owner}"
    yield from (re.escape(name) for homes in brings.parts.values() for name in homes)
    yield from (f"aisprompt {verb}" for verb in brings.verbs)


def test_what_a_room_offers_is_in_it_and_no_file_hides_it() -> None:
    for room in sorted(ROOMS):
        folder = MODULES[room].parent
        assert {home for home in homes(room).values() if not home.startswith(room)} <= {"typing", "ais_prompt.rooms"}
        # Once a file is imported it takes the place of a name that it shares.
        assert not homes(room).keys() & {path.stem for path in folder.iterdir()}


def test_a_room_offers_what_is_used_outside_of_it() -> None:
    root = PACKAGE.parent
    outside = [
        file for folder in ("ais_prompt", "bench", "tests", "tools", "docs") for file in (root / folder).rglob("*.*")
    ]
    texts = {file: file.read_text("utf-8") for file in outside if file.suffix in (".py", ".md", ".ipynb")}
    promised = {new for one in shipped().values() for new in one.moved.values()} | {*MOVED.values()}
    for room in sorted(ROOMS - promised):  # code of users imports from modules that have an old name
        folder = MODULES[room].parent
        text = "\n".join(text for file, text in texts.items() if not file.is_relative_to(folder))
        listed = re.findall(rf"from {room} import (\([^)]*\)|[^\n]*)|{room}[.:](\w+)", text)
        used = set(re.findall(r"\w+", " ".join(chain.from_iterable(listed))))
        assert not homes(room).keys() - used - HOMES.keys() - {"offered", "TYPE_CHECKING"}, room


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(sorted(set(circle)) for circle in circles(graph)) == [["a", "b", "c"], ["d", "e"]]


def test_every_part_of_the_package_has_its_layer() -> None:
    assert {owner(file) for file in FILES} - {"__init__"} == set(LEVEL)


def test_the_docs_show_the_same_layers() -> None:
    _, _, text = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8").partition("Imports point down only")
    picture = " ".join(line.strip() for line in text.split("\n\n")[1].splitlines())
    shown = [set(layer.replace(" ", "").split(",")) for layer in picture.split("→")]
    assert shown == [layer for layer in LAYERS if layer != {"__main__"}]


def test_imports_are_absolute() -> None:
    relative = [
        shown(file) for file in FILES for node in imports(file) if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


def test_one_file_imports_mmengine() -> None:
    importing = {
        file.relative_to(PACKAGE).as_posix()
        for file in FILES
        for node in imports(file)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name.partition(".")[0] == "mmengine"
    }
    assert importing - {"extensions/peers/code/importing.py"} == {"mmengine_import.py"}


BEFORE_PARSING = {"config", "extensions", "verbs"}
"""They read, translate or describe configs as they are written."""
OF_PARTS = {"TEMPLATE", "TURN", "ROLE_TEMPLATE"}
"""Tables of what is an argument of a part, which the part reads itself."""


def test_only_the_parser_reads_dicts_of_the_config() -> None:
    of_config = {name for name, value in vars(keys).items() if isinstance(value, keys.KeyTable)} - OF_PARTS
    tables = {
        f"{shown(file)}: {alias.name}"
        for file in FILES
        if owner(file) not in BEFORE_PARSING
        for node in imports(file)
        if isinstance(node, ast.ImportFrom) and node.module in ("ais_prompt.config", "ais_prompt.config.keys")
        for alias in node.names
        if alias.name in of_config
    }
    assert not tables


def test_a_meta_template_is_parsed_once_and_keeps_its_digest() -> None:
    written = {"round": [{"role": "HUMAN", "begin": [5]}], "eos_token_id": 3}
    spec = parse_meta_template(written)
    assert spec == MetaTemplateSpec(written, (RoleSpec("HUMAN", begin=[5]),), end_tokens=(3,))
    task = TaskSpec(ModelSpec("m", PartSpec("ScriptedModel"), spec), task_spec(Path("rows.jsonl")).dataset)
    assert template_parts(task)["meta_template"] == digest(written, 16)


def test_a_public_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for file in FILES:
        for name in re.findall(r"^class ([A-Za-z]\w*)", file.read_text("utf-8"), re.MULTILINE):
            homes.setdefault(name, []).append(shown(file))
    assert not {name: files for name, files in homes.items() if len(files) > 1}
