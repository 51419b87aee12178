"""ais_prompt: evaluate language models from Python configs; see every prompt, trust every score.

Everything that a program outside of this package needs can be imported from here: the functions of the API, every part
that a config may name, the protocols and values of parts of your own, the registries and the errors (docs/python.md).
The module that defines a name is imported when the name is first used, so ``import ais_prompt`` costs nothing.
`__init__.pyi` gives type checkers the same names; ``python -m tools.reference`` writes it.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from ais_prompt import moved as _moved
from ais_prompt.catalog import PARTS, public_names
from ais_prompt.extension import all_of as _all_of
from ais_prompt.names import HOMES, MODULES

__version__ = "0.1.0"

# Since Python 3.12, to parse a text prints a warning with parts of the text for each unknown escape, such as `\d`.
# What is parsed without a file name are configs, which may hold secrets, and data and answers with any characters.
warnings.filterwarnings("ignore", category=SyntaxWarning, module="<unknown>")

# From now on old names of modules work.
_moved.MOVED.update(_all_of("moved"))

_KINDS = {name: kind for kind in PARTS for name in public_names(kind)}

__all__ = ["__version__", *sorted([*MODULES, *HOMES, *_KINDS])]


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(importlib.import_module(HOMES[name]), name)
    if name in _KINDS:
        return getattr(importlib.import_module("ais_prompt.registry"), _KINDS[name].upper()).get(name)
    if name in MODULES:
        return importlib.import_module(f"ais_prompt.{name}")
    from ais_prompt.extension import REINSTALL, missing_extension

    owner = missing_extension(name)
    missing = f": the extension {owner!r} has it, and is not here; {REINSTALL}" if owner else ""
    raise AttributeError(f"module 'ais_prompt' has no attribute {name!r}{missing}")


def __dir__() -> list[str]:
    return __all__
