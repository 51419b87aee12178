"""What this program uses of mmengine, which is imported here and nowhere else.

mmengine imports yapf, only to write a config as pretty text. That costs every command 50 ms, and a race: yapf 0.43
keeps its grammar in the user's cache, in a file that it renames before it is whole. Of two programs that start at once
one may read half of it and fail; one that is killed then leaves the half to all others. So yapf waits until asked for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from types import ModuleType
from typing import Any


def _format_code(*args: Any, **kwargs: Any) -> Any:
    return importlib.import_module("yapf.yapflib.yapf_api").FormatCode(*args, **kwargs)


@contextmanager
def _without_yapf() -> Iterator[None]:
    """Stand in for yapf while mmengine is imported, unless somebody else has imported it already."""
    if "yapf" in sys.modules:
        yield
        return
    waiting = {name: ModuleType(name) for name in ("yapf", "yapf.yapflib", "yapf.yapflib.yapf_api")}
    vars(waiting["yapf"])["__version__"] = version("yapf")
    vars(waiting["yapf.yapflib.yapf_api"])["FormatCode"] = _format_code
    sys.modules.update(waiting)
    try:
        yield
    finally:
        for name in waiting:
            del sys.modules[name]


with _without_yapf():
    import mmengine.config.config as mmengine_config
    import mmengine.config.utils as mmengine_utils
    from mmengine.config import Config as Config
    from mmengine.registry import Registry as Registry

__all__ = ["Config", "Registry", "mmengine_config", "mmengine_utils"]
