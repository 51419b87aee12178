"""Two functions of mmengine 0.10.7 that fail on today's Python installations, and ours in their place.

- It looks for absolutely imported configs with ``pkg_resources``, which setuptools no longer has.
- It knows the standard library by the folder of the running Python, which is wrong in a virtual environment: there
  ``from copy import deepcopy`` in a config would give a placeholder that cannot be called.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
            mend="name the file relative to this one: `from .name import ...` or `from ..folder.name import ...`",
        )
    return str(next(iter(spec.submodule_search_locations)))


def is_standard_library(module: str) -> bool:
    """True for a module that a config may really import: the standard library, and ``read_base`` itself."""
    return module.partition(".")[0] in sys.stdlib_module_names or module.startswith("mmengine.config")


@contextmanager
def filled() -> Iterator[None]:
    """Let mmengine use the functions of this file while a config is read."""
    before = mmengine_config.get_installed_path, mmengine_utils._is_builtin_module
    mmengine_config.get_installed_path = installed_path
    mmengine_utils._is_builtin_module = mmengine_config._is_builtin_module = is_standard_library
    try:
        yield
    finally:
        mmengine_config.get_installed_path = before[0]
        mmengine_utils._is_builtin_module = mmengine_config._is_builtin_module = before[1]
