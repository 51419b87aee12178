"""Loaders of OpenCompass and AISBench, run by `PeerDataset` on small files.

They run where the packages are: installed, or in folders that ``AISPROMPT_PEER_PATH`` names.
"""

from __future__ import annotations

import ast
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.extensions.peers.code import session
from ais_prompt.extensions.peers.code.parts import PeerDataset
from ais_prompt.extensions.peers.peer_packages import peer_package
from tests.extensions.benchmarks.layouts.samples import CASES
from tests.extensions.peer_loaders.samples import AISBENCH, OPENCOMPASS, SAMPLES
from tools.peer_configs import CONFIGS

LIBRARIES = Path(__file__).parents[2] / "data" / "peer_libraries"
EXPECTED = json.loads((Path(__file__).parents[2] / "data/benchmarks/peer_rows.json").read_text("utf-8"))
MOST = 40
"""Loaders of each peer that must be run: those that most config files name."""
PACKAGES = {"opencompass": OPENCOMPASS, "ais_bench": AISBENCH}

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not all(map(peer_package, PACKAGES)), reason="OpenCompass and AISBench are not there; see AISPROMPT_PEER_PATH"
    ),
]


@pytest.fixture(autouse=True, scope="module")
def _worker() -> Iterator[None]:
    """Run all loaders in one worker, which has a tokenizer that needs no download."""
    session._SESSION.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(LIBRARIES), os.environ.get("PYTHONPATH", "")]))
        yield
        session._SESSION.stop()


@cache
def uses(package: str) -> Counter[str]:
    """Return how many config files of a package name each loader."""
    folder = peer_package(package)
    found: Counter[str] = Counter()
    for file in (folder / CONFIGS[package] / "datasets").rglob("*.py") if folder else ():
        with suppress(SyntaxError), catch_warnings(action="ignore"):  # some files are broken
            found.update(set(named_loaders(ast.parse(file.read_text("utf-8")))))
    return found


def named_loaders(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each class that a dict with ``reader_cfg`` has as its ``type``."""
    for node in ast.walk(tree):
        keys: dict[Any, ast.expr] = {}
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
            keys = {one.arg: one.value for one in node.keywords}
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            keys = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
        if {"type", "reader_cfg"} <= keys.keys():
            yield ast.unparse(keys["type"]).strip("'").rpartition(".")[2]


def loaded(loader: str, arguments: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    reader = PeerDataset(loader, arguments)
    try:
        return {split: list(reader.read(split)) for split in reader.splits()}
    except MissingExtra as error:
        pytest.skip(str(error))


def in_order(rows: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    return [list(row.items()) for row in json.loads(json.dumps(rows))]


@pytest.mark.parametrize("loader", SAMPLES)
def test_a_loader_reads_its_layout(loader: str, tmp_path: Path) -> None:
    one = SAMPLES[loader]
    found = loaded(loader, one.write(tmp_path))
    test = found.get("test", next(iter(found.values())))
    assert len(test) == one.rows
    assert set(one.columns) <= set(test[0])


def counterparts() -> Iterator[tuple[str, str]]:
    """Yield the package and the case of each loader with a counterpart of ours; many are the same in both packages."""
    of_aisbench = {name.partition(" ")[0] for name, case in CASES.items() if case.peer == "ais_bench"}
    for name, case in CASES.items():
        yield case.peer, name
        if (loader := name.partition(" ")[0]) not in of_aisbench and uses("ais_bench")[loader]:
            yield "ais_bench", name


@pytest.mark.parametrize(("package", "name"), [*counterparts()])
def test_the_rows_of_loaders_with_a_counterpart_are_the_same(package: str, name: str, tmp_path: Path) -> None:
    found = loaded(f"{PACKAGES[package]}.{name.partition(' ')[0]}", CASES[name].call(tmp_path))
    assert {split: in_order(rows) for split, rows in found.items()} == {
        split: in_order(rows) for split, rows in EXPECTED[name].items()
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_the_most_used_loaders_are_all_run(package: str) -> None:
    own = {loader.rpartition(".")[2] for loader in SAMPLES if loader.startswith(f"{package}.")}
    run = own | {name.partition(" ")[0] for peer, name in counterparts() if peer == package}
    most_used = sorted(uses(package), key=lambda name: (-uses(package)[name], name))[:MOST]
    assert len(most_used) == MOST
    assert [name for name in most_used if name not in run] == []
