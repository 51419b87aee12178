"""Replace the internals of mmengine 0.10.7 that fail to read some configs.

- It looks for absolutely imported configs with ``pkg_resources``, which setuptools no longer has, in one folder only.
- It knows the standard library by the folder of the running Python, which is wrong in a virtual environment: there
  ``from copy import deepcopy`` in a config would give a placeholder that cannot be called.
- It makes a placeholder of everything else that a config imports, and a placeholder becomes the *name* of what it is:
  right for a class, wrong for a constant (``template=PROMPT`` would send the text ``my_consts.PROMPT``).
- It takes a byte order mark for a part of the Python code.
- It refuses variables called ``text`` or ``filename``, because its `Config` has attributes of these names.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

from ais_prompt.mmengine_import import mmengine_config, mmengine_utils
from ais_prompt.steps import first_answer


def is_standard_library(module: str) -> bool:
    """Return whether a config may really import a module: the standard library, and ``read_base`` itself."""
    return module.partition(".")[0] in sys.stdlib_module_names or module.startswith("mmengine.config")


NAMED_ONLY: Final = ("ais_prompt", "configs")
"""Packages whose parts and configs are only named, as those of other programs are: importing them takes long."""
_INSTALLED: Final = ("site-packages", "dist-packages")


def is_own_module(module: str) -> bool:
    """Return whether a module is the user's: beside the config, in the working directory or on ``PYTHONPATH``.

    Installed libraries are not imported while a config is read: that takes seconds, and they may be missing here.
    """
    package = module.partition(".")[0]
    if not package or package in NAMED_ONLY or first_answer("foreign_name", "module", package, ()):
        return False
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location and spec.origin else list(spec.submodule_search_locations or ())
    return bool(places) and not any(part in _INSTALLED for part in Path(places[0]).parts)


class OwnModulesImported(mmengine_utils.ImportTransformer):  # type: ignore[misc]  # mmengine has no types
    """Let a config really import the user's modules, so that it gets their constants and functions."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:  # noqa: N802  # ast calls it so
        """Keep ``from my_consts import PROMPT``; base configs and libraries are mmengine's."""
        module = f"{node.level * '.'}{node.module}"
        if module in self.base_dict or node.level or not is_own_module(module) or is_standard_library(module):
            return super().visit_ImportFrom(node)
        if any(alias.name == "*" for alias in node.names):
            return super().visit_ImportFrom(node)
        self.imported_obj.update(alias.asname or alias.name for alias in node.names)
        return node

    def visit_Import(self, node: ast.Import) -> Any:  # noqa: N802
        """Keep ``import my_consts`` as a call, because mmengine makes a placeholder of every such statement later."""
        if len(node.names) > 1:  # mmengine takes one name a statement
            statements = [ast.copy_location(ast.Import([alias]), node) for alias in node.names]
            return [self.visit_Import(statement) for statement in statements]
        if not is_own_module(node.names[0].name) or is_standard_library(node.names[0].name):
            return super().visit_Import(node)
        [alias] = node.names
        name = alias.asname or alias.name.partition(".")[0]
        module = f"__import__({alias.name!r})"
        if alias.asname:
            module = f"__import__('importlib').import_module({alias.name!r})"
        self.imported_obj.add(name)
        return ast.copy_location(ast.parse(f"{name} = {module}").body[0], node)


def open_text(file: str, mode: str = "r", encoding: str | None = None) -> IO[Any]:
    """Open a file as `open` does, but skip a byte order mark, which editors on Windows write."""
    return open(file, mode, encoding="utf-8-sig" if mode == "r" and encoding == "utf-8" else encoding)  # noqa: PTH123


class PackageName(str):
    """A package in place of its folder: `_PathsOfBases` knows the files of its configs."""


class _PathsOfBases:
    """`os.path` for mmengine, with the files of the bases that are imported by an absolute name.

    Args:
        files: module → file, as `ais_prompt.config.bases.absolute_bases` found them.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(os.path, name)

    def join(self, first: str, *rest: str) -> str:
        """Return the joined path; of a package and the steps to a config, its file without ``.py``."""
        if isinstance(first, PackageName):
            return str(self._files[".".join([first, *rest])].with_suffix(""))
        return os.path.join(first, *rest)  # noqa: PTH118  # mmengine works with texts


OURS: Final[tuple[tuple[ModuleType, str, Any], ...]] = (
    (mmengine_config, "get_installed_path", PackageName),
    (mmengine_config, "_is_builtin_module", is_standard_library),
    (mmengine_utils, "_is_builtin_module", is_standard_library),
    (mmengine_config, "RESERVED_KEYS", ()),
    (mmengine_config, "ImportTransformer", OwnModulesImported),
    (mmengine_config, "open", open_text),
)
"""Module of mmengine, name in it, and its replacement while a config is read."""


@contextmanager
def patched_mmengine(files: Mapping[str, Path] | None = None) -> Iterator[None]:
    """Temporarily replace the mmengine internals that need a fix.

    Args:
        files: the files of the bases that are imported by an absolute name.
    """
    replaced = (*OURS, (mmengine_config, "osp", _PathsOfBases(files or {})))
    theirs = [getattr(module, name, None) for module, name, _ in replaced]
    for module, name, ours in replaced:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, _), before in zip(replaced, theirs, strict=True):
            if before is None:  # a builtin that we have hidden
                delattr(module, name)
            else:
                setattr(module, name, before)
