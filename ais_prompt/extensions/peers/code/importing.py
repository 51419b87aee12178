"""Import single modules of OpenCompass and AISBench, without running any ``__init__`` of theirs.

For worker processes only. Their packages import hundreds of modules and need dozens of libraries; a single loader or
evaluator needs few. Here each package is an empty module. A name that is asked of it is looked up by reading its files,
and only the module that defines the name is run.

Two functions of theirs are replaced: those that find and load the files of datasets. Nothing is downloaded. If a file
is absent, the error names all places that were searched, and the address from which the peer downloads it. The loaders
of LiveCodeBench pass ``version_tag`` to a script that lies next to the data. `datasets` runs no scripts any more, so
`ais_prompt` reads the files. Source of the rules: the dataset card of livecodebench/code_generation_lite.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest.mock import MagicMock

from msgspec import Struct

from ais_prompt.data import reading
from ais_prompt.extensions.peers.data_path import CACHES, data_folders
from ais_prompt.extensions.peers.peer_packages import DISTRIBUTIONS, peer_package
from ais_prompt.utils import open_regular, read_objects

REGISTRY_MODULES: Final = {"opencompass.registry": "opencompass", "ais_bench.benchmark.registry": "ais_bench"}
"""Module with the registries of a peer → package of the peer."""
DATA_MODULES: Final = {
    "opencompass.utils.datasets": "opencompass",
    "ais_bench.benchmark.datasets.utils.datasets": "ais_bench",
}
"""Module whose ``get_data_path`` says where data is → package of the peer."""

NUMPY_NAMES: Final = {"NAN": "nan", "NaN": "nan", "Inf": "inf", "float_": "float64"}
"""Name that NumPy 2 has no longer → the one that it has for it."""
LOG_MODULE: Final = "opencompass.utils.logging"


class NoSuchName(Exception):
    """The peer has no such module or name; the message is the dotted name."""


def install_finders(peers: Mapping[str, str]) -> None:
    """Make packages importable.

    Args:
        peers: package → its folder.
    """
    for package, folder in peers.items():
        sys.meta_path.insert(0, PeerFinder(package, Path(folder)))


def resolve(path: str) -> Any:
    """Return the class or function with a dotted name.

    Raises:
        NoSuchName: there is none.
        Exception: whatever the module that defines it raises.
    """
    module, _, name = path.rpartition(".")
    try:
        owner = importlib.import_module(module)
        if (numpy := sys.modules.get("numpy")) is not None:
            # Some of their code uses, when it is called, names that NumPy had before version 2.
            for old, new in NUMPY_NAMES.items():
                if old not in vars(numpy):
                    setattr(numpy, old, getattr(numpy, new))
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise NoSuchName(error.name) from None
        raise
    try:
        return getattr(owner, name)
    except AttributeError:
        if (part := _registered_in(owner, name)) is not None:
            return part
        raise NoSuchName(path) from None


def _registered_in(module: ModuleType, name: str) -> Any:
    """Return what a module registers under a name; None if it has no such registry or name."""
    from mmengine.registry import Registry

    registries = [value for value in vars(module).values() if isinstance(value, Registry)]
    return next((part for one in registries if (part := one.module_dict.get(name)) is not None), None)


class StubFinder(MetaPathFinder, Loader):
    """Import libraries that are not there as modules in which every name is a mock.

    Attributes:
        modules: their names.
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  # the signature of finders
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return a spec for a module of one of these libraries."""
        is_stub = fullname.partition(".")[0] in self.modules
        return ModuleSpec(fullname, self, is_package=True) if is_stub else None

    def exec_module(self, module: ModuleType) -> None:
        """Let a module have every name."""
        vars(module)["__getattr__"] = _mock


def _mock(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return MagicMock(name=name)


def with_parts(value: Any) -> Any:
    """Return a config value with the parts of peers that it names by ``type`` in place of their names."""
    if isinstance(value, Mapping):
        found = {key: with_parts(inner) for key, inner in value.items()}
        kind = found.get("type")
        if isinstance(kind, str) and kind.partition(".")[0] in DISTRIBUTIONS:
            found["type"] = resolve(kind)
        return found
    return [with_parts(inner) for inner in value] if isinstance(value, list | tuple) else value


class PeerFinder(MetaPathFinder):
    """Find the modules of one peer.

    Args:
        package: name of its package.
        folder: its files.
    """

    def __init__(self, package: str, folder: Path) -> None:
        self._package = package
        self._folder = folder

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the files are known
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return how a module is loaded; None for those of others."""
        top, _, rest = fullname.partition(".")
        if top != self._package:
            return None
        place = self._folder.joinpath(*rest.split(".")) if rest else self._folder
        if place.is_dir():
            spec = ModuleSpec(fullname, EmptyPackage(place), origin=str(place), is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_name(f"{place.name}.py")
        return (
            spec_from_file_location(fullname, file, loader=PeerModule(fullname, str(file))) if file.is_file() else None
        )


class EmptyPackage(Loader):
    """Load a package as an empty module whose names are looked up in its files.

    Args:
        folder: its files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing; answer when a name is asked."""
        module.__dict__["__getattr__"] = partial(_attribute, module, self._folder)


def _attribute(package: ModuleType, folder: Path, name: str) -> Any:
    """Return a name of an empty package.

    Raises:
        AttributeError: no file below the package defines it.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    if found := find_definition(package.__name__, folder, name):
        module = importlib.import_module(found.module)
        value = getattr(module, found.name) if found.name else module
    elif registering := find_registering(package.__name__, folder, name):
        value = _registered_in(importlib.import_module(registering), name)
    else:
        value = None
    if value is None:
        raise AttributeError(f"no file of {package.__name__} defines {name!r}")
    setattr(package, name, value)
    return value


class PeerModule(SourceFileLoader):
    """Load a module of a peer, and replace what would need the whole package."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module."""
        super().exec_module(module)
        if package := REGISTRY_MODULES.get(module.__name__):
            # Registries find parts of modules that were not run yet.
            from mmengine.registry import Registry

            folder = peer_package(package)
            for registry in list(vars(module).values()):
                if isinstance(registry, Registry) and folder is not None:
                    registry.get = partial(_registered, registry.module_dict, package, folder)
        if package := DATA_MODULES.get(module.__name__):
            module.__dict__["get_data_path"] = partial(find_data, package)
        if module.__name__ in RELEASE_MODULES:
            module.__dict__["load_dataset"] = load_release
        if module.__name__ == LOG_MODULE:
            from mmengine.logging import logger

            # Else mmengine imports torch, only to ask for the rank of this process.
            logger._get_rank = logger._get_device_id = lambda: 0
            module.get_logger()  # some modules give their name as its level, which only a logger that exists forgives


def _registered(parts: Mapping[str, Any], package: str, folder: Path, key: Any) -> Any:
    """Return a part by its registered name, or its dotted name; a part itself is returned as it is."""
    if not isinstance(key, str):
        return key
    if key.partition(".")[0] == package:
        return resolve(key)
    if key not in parts and (registering := find_registering(package, folder, key)):
        importlib.import_module(registering)
    return parts.get(key)


SKIPPED: Final = frozenset({"configs", "__pycache__"})
"""Folders without modules that a part needs."""


class Definition(Struct, frozen=True):
    """Where a name comes from.

    Attributes:
        module: dotted name of the module that defines it.
        name: what it is called there; empty if the module itself is meant.
    """

    module: str
    name: str


def find_definition(package: str, folder: Path, name: str) -> Definition | None:
    """Return where a name that is asked of a package comes from.

    What the package's ``__init__.py`` says decides, its last line first. Names that it does not mention are looked for
    in all files below the package: first where they are defined, then where they are imported.

    Args:
        package: its dotted name.
        folder: its files.
        name: the name that is asked for.
    """
    return (
        _by_init(package, folder, name)
        or _submodule(package, folder, name)
        or _below(package, folder, name, _defined)
        or _below(package, folder, name, _imported)
    )


def find_registering(package: str, folder: Path, name: str) -> str | None:
    """Return the module that registers a part under a name, which may be put together when the module runs.

    Args:
        package, folder: as for `find_definition`.
        name: the registered name.
    """
    for file in _files(folder):
        if "register_module(" in _text(file) and any(_registers(node, name) for node in ast.walk(_tree(file))):
            return _module(package, folder, file)
    return None


def _by_init(package: str, folder: Path, name: str) -> Definition | None:
    init = folder / "__init__.py"
    if not init.is_file():
        return None
    for node in reversed(_tree(init).body):
        if isinstance(node, ast.ImportFrom) and (found := _by_import(node, package, folder, name)):
            return found
        if name in _defined(node):
            # The file is loaded under a name of its own, so that the package itself stays empty.
            return Definition(f"{package}.__init__", name)
    return None


def _by_import(node: ast.ImportFrom, package: str, folder: Path, name: str) -> Definition | None:
    source = _absolute(node, package)
    for alias in node.names:
        if name == (alias.asname or alias.name):
            return _submodule(package, folder, alias.name) if source == package else Definition(source, alias.name)
        if alias.name == "*" and source.startswith(f"{package}.") and not name.startswith("_"):
            place = folder.joinpath(*source[len(package) + 1 :].split("."))
            if place.is_dir() and (found := _by_init(source, place, name)):
                return found
            if (file := place.with_suffix(".py")).is_file() and _has(file, name, _defined):
                return Definition(source, name)
    return None


def _submodule(package: str, folder: Path, name: str) -> Definition | None:
    there = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
    return Definition(f"{package}.{name}", "") if there else None


def _below(package: str, folder: Path, name: str, names_of: Callable[[ast.stmt], Iterator[str]]) -> Definition | None:
    """Search all files below a folder; those nearest to it come first."""
    found = (file for file in _files(folder) if _has(file, name, names_of))
    file = next(found, None)
    return None if file is None else Definition(_module(package, folder, file), name)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def _files(folder: Path) -> tuple[Path, ...]:
    files = (file for file in folder.rglob("*.py") if not SKIPPED & set(file.relative_to(folder).parts))
    return tuple(sorted(files, key=lambda file: (len(file.parts), str(file))))


def _module(package: str, folder: Path, file: Path) -> str:
    return ".".join([package, *file.relative_to(folder).with_suffix("").parts])


def _has(file: Path, name: str, names_of: Callable[[ast.stmt], Iterator[str]]) -> bool:
    # A text search first: parsing all files of a package takes seconds.
    return re.search(rf"\b{re.escape(name)}\b", _text(file)) is not None and any(
        name in names_of(node) for node in _tree(file).body
    )


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines itself; imports are not definitions."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
    elif isinstance(node, ast.If | ast.Try | ast.With):
        bodies = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
        bodies += [handler.body for handler in getattr(node, "handlers", [])]
        for body in bodies:
            for inner in body:
                yield from _defined(inner)


def _imported(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement imports from a module."""
    if isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)


def _registers(node: ast.AST, name: str) -> bool:
    """Return whether a node registers a name.

    It is a call ``REGISTRY.register_module('name')``, one with ``'beginning_of_' + …``, or a class or function of that
    name with the decorator ``@REGISTRY.register_module()``.
    """
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        calls = (one.func for one in node.decorator_list if isinstance(one, ast.Call))
        return node.name == name and any(getattr(call, "attr", "") == "register_module" for call in calls)
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "register_module":
        return False
    for given in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "name")]:
        texts = [one.value for one in ast.walk(given) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name in texts or (isinstance(given, ast.BinOp) and texts and name.startswith(f"{texts[0].rstrip('_')}_")):
            return True
    return False


@cache
def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


@cache
def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError):  # a file that the peer itself cannot import
        return ast.Module([], [])


class DataAbsent(FileNotFoundError):
    """Files of a dataset are not on this machine.

    Attributes:
        what: one sentence.
        fix: where to put them, and from where the peer downloads them.
    """

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


def find_data(package: str, dataset_id: str, local_mode: bool = False) -> str:  # noqa: ARG001  # the peers' signature
    """Return the file or folder of a dataset, in place of the peers' ``get_data_path``.

    Args:
        package: package of the peer.
        dataset_id: an id of the peer's table of datasets, or a path.
        local_mode: not used: nothing is downloaded in either mode.

    Raises:
        DataAbsent: it is nowhere.
    """
    if Path(dataset_id).is_absolute():
        return dataset_id
    known = _data_table(package, "DATASETS_MAPPING").get(dataset_id, {})
    if source := os.environ.get("DATASET_SOURCE"):
        hub_id = known.get({"ModelScope": "ms_id", "HF": "hf_id"}.get(source, ""))
        if hub_id:
            return str(hub_id)
    path = known.get("local") or dataset_id
    places = [Path.cwd() / folder / path for folder in data_folders(Path(path))]
    for place in places:
        if place.exists():
            return f"{place}/" if path.endswith("/") else str(place)  # some loaders add the name of a file to it
    raise absent(package, dataset_id, path, places)


def absent(package: str, dataset_id: str, path: str, places: list[Path]) -> DataAbsent:
    """Return the error for a dataset that is in none of the places."""
    searched = ", ".join(str(place) for place in dict.fromkeys(places))
    fix = f"put it there, or set {CACHES[package]} to the folder that holds {path}"
    urls = _data_table(package, "DATASETS_URL")
    url = next((urls[name].get("url") for name in sorted(urls, key=len, reverse=True) if name in path), None)
    ids = _data_table(package, "DATASETS_MAPPING").get(dataset_id, {})
    hub = ids.get("hf_id") or ids.get("ms_id")
    if url or hub:
        fix += f"; OpenCompass takes it from {url or hub}"
    return DataAbsent(f"no data for {dataset_id!r} (searched: {searched})", fix)


def _data_table(package: str, name: str) -> dict[str, Any]:
    """Return a table of the peer; AISBench has none."""
    if package != "opencompass":
        return {}
    found: dict[str, Any] = getattr(importlib.import_module("opencompass.utils.datasets_info"), name, {})
    return found


RELEASE_MODULES: Final = (
    "opencompass.datasets.livecodebench.livecodebench",
    "ais_bench.benchmark.datasets.livecodebench.livecodebench",
)
"""Modules whose ``load_dataset`` this replaces."""
LATEST: Final = "release_latest"
_TAG: Final = re.compile(r"release_v(?P<until>\d+)|v(?P<first>\d+)(_v(?P<last>\d+))?")


def load_release(path: str, *, version_tag: str | None = None, **options: Any) -> Any:
    """Load a dataset, in place of ``datasets.load_dataset``.

    Args:
        path: its folder, or its name on the Hugging Face Hub.
        version_tag: ``release_v3`` for the first three files, ``v3`` for the third alone, ``v2_v4`` for the second to
            the fourth, ``release_latest`` for all; None loads as `datasets` does.
        options: other arguments of ``load_dataset``.

    Raises:
        DataAbsent: there is no such release, or one of its files is absent.
    """
    import datasets

    if version_tag is None:
        return datasets.load_dataset(path, **options)
    files = _release_files(_folder(path), version_tag)
    # The JSON reader of `datasets` would parse dates. The times of the files make its cache see a change.
    return datasets.Dataset.from_generator(
        _release_rows, gen_kwargs={"files": [(str(file), file.stat().st_mtime_ns) for file in files]}
    )


def _release_rows(files: Sequence[tuple[str, int]]) -> Iterator[Any]:
    for file, _ in files:
        with reading(Path(file)), open_regular(Path(file)) as lines:
            for _, row in read_objects(lines, file):
                yield row


def _folder(path: str) -> Path:
    if (folder := Path(path)).is_dir():
        return folder
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(path, repo_type="dataset", allow_patterns="test*.jsonl"))


def _release_files(folder: Path, tag: str) -> list[Path]:
    """Return the files of a release: test.jsonl is the first, test2.jsonl the second, and so on."""
    present = [int(file.stem[len("test") :] or 1) for file in folder.glob("test*.jsonl")]
    found = _TAG.fullmatch(f"release_v{max(present, default=1)}" if tag == LATEST else tag)
    if found is None:
        raise DataAbsent(f"{folder} has no release {tag!r}", "known ones: release_v1, v1, v1_v2, …, release_latest")
    first = 1 if found["until"] else int(found["first"])
    last = int(found["until"] or found["last"] or first)
    files = [folder / f"test{number if number > 1 else ''}.jsonl" for number in range(first, last + 1)]
    if missing := [file.name for file in files if not file.is_file()]:
        raise DataAbsent(f"release {tag!r} needs {', '.join(missing)} in {folder}", "put the files there")
    return files
