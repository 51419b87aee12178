"""Arguments of the peers' parts, from their source: it writes the table when it is run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from typing import Final, TypeAlias

from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.extensions.peers.table import PEERS, ROWS
from tests.support.peer_keys import TABLE, Outcome, config_with, outcome, value_of

Definition: TypeAlias = ast.ClassDef | ast.FunctionDef

METHODS: Final = {"readers": "load"}
"""Kind of part → the method that takes the arguments of a config, where that is not ``__init__``."""
SUPPLIED: Final = {"model", "model_cfg", "dataset", "ice_template", "prompt_template"}
"""Arguments of inferencers and retrievers that the peers themselves supply."""
EVERY_MODEL: Final = ("batch_size", "max_out_len", "pred_postprocessor", "run_cfg")
"""Keys of every model, which their tasks read."""
FOLDERS: Final = {
    "models": "models",
    "readers": "datasets",
    "inferencers": "openicl/icl_inferencer",
    "retrievers": "openicl/icl_retriever",
    "templates": "openicl",
    "evaluators": "",
    "postprocessors": "",
}
"""Kind of part → where it is defined below a peer's package."""


def signatures() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the kind, dotted name and arguments of each part of the peers that has a row in our table."""
    for kind, folder in FOLDERS.items():
        for package in PEERS:
            known = definitions(package, folder)
            for name in dict.fromkeys(row.name for row in ROWS[kind]):
                for module, definition in known.get(name, {}).items():
                    yield kind, f"{module}.{name}", tuple(arguments(definition, kind, known))


@cache
def definitions(package: str, folder: str) -> dict[str, dict[str, Definition]]:
    """Return name → module → definition of each class and function at the top of a module."""
    root = peer_package(package)
    assert root is not None
    base = root / ("benchmark" if package == "ais_bench" else "") / folder
    found: dict[str, dict[str, Definition]] = {}
    for file in sorted(base.rglob("*.py")):
        if "configs" in file.relative_to(root).parts:
            continue
        try:
            tree = ast.parse(file.read_text("utf-8"))
        except SyntaxError:
            continue
        module = ".".join((package, *file.relative_to(root).with_suffix("").parts))
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.setdefault(node.name, {})[module] = node
    return found


def arguments(definition: Definition, kind: str, known: dict[str, dict[str, Definition]]) -> list[str]:
    """Return the arguments that a config can give a class or function; those of its bases if it hands others on."""
    if isinstance(definition, ast.FunctionDef):
        return _names(definition)[1:]  # the first is the text
    name = METHODS.get(kind, "__init__")
    method = next((one for one in definition.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    found = [] if method is None else _names(method)
    if method is None or (method.args.kwarg is not None and kind != "readers"):
        for base in definition.bases:
            for inherited in known.get(ast.unparse(base).rpartition(".")[2], {}).values():
                if inherited is not definition:
                    found += arguments(inherited, kind, known)
    skipped = {"self", "cls", "type", "abbr", *(SUPPLIED if kind in ("inferencers", "retrievers") else ())}
    extra = EVERY_MODEL if kind == "models" else ()
    return [name for name in dict.fromkeys((*found, *extra)) if name not in skipped]


def _names(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def write() -> None:
    """Write the table with what becomes of each argument now."""
    table: dict[str, dict[str, dict[str, Outcome]]] = {}
    for kind, path, names in signatures():
        values, place = config_with(kind, {"type": path})
        found = {name: outcome(values, place, name, value_of(name), kind) for name in names}
        if found:
            table.setdefault(kind, {})[path] = found
    TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write()
