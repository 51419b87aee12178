"""What mmengine 0.10.7 does not manage in reading a config, and ours in its place.

- It looks for absolutely imported configs with ``pkg_resources``, which setuptools no longer has.
- It knows the standard library by the folder of the running Python, which is wrong in a virtual environment: there
  ``from copy import deepcopy`` in a config would give a placeholder that cannot be called.
- It refuses variables called ``text`` or ``filename``, because its `Config` has attributes of these names.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import mmengine.config.config as mmengine_config
import mmengine.config.utils as mmengine_utils

from ais_prompt.config.locate import shipped_root
from ais_prompt.errors import ConfigError


def installed_path(package: str) -> str:
    """The folder below which the configs of a package are looked up.

    ``configs`` is the folder of that name in the working directory, or else the shipped one;
    ``ais_prompt.configs`` is always the shipped one.

    Raises:
        ConfigError: no such package.
    """
    if package == "ais_prompt":
        return str(shipped_root().parent)
    if package == "configs":
        own = Path.cwd() / "configs"
        return str(own if own.is_dir() else shipped_root())
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"there is no package {package!r} to read a base config from",
            fix="name the file relative to this one: `from .name import ...` or `from ..folder.name import ...`",
        )
    return str(next(iter(spec.submodule_search_locations)))


def is_standard_library(module: str) -> bool:
    """True for a module that a config may really import: the standard library, and ``read_base`` itself."""
    return module.partition(".")[0] in sys.stdlib_module_names or module.startswith("mmengine.config")


OURS: Final[tuple[tuple[ModuleType, str, Any], ...]] = (
    (mmengine_config, "get_installed_path", installed_path),
    (mmengine_config, "_is_builtin_module", is_standard_library),
    (mmengine_utils, "_is_builtin_module", is_standard_library),
    (mmengine_config, "RESERVED_KEYS", ()),
)
"""Module of mmengine, name in it, and what stands there while a config is read."""


@contextmanager
def filled() -> Iterator[None]:
    """Let mmengine use what stands in this file while a config is read."""
    theirs = [getattr(module, name) for module, name, _ in OURS]
    for module, name, ours in OURS:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, _), before in zip(OURS, theirs, strict=True):
            setattr(module, name, before)
