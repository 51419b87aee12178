"""Write ais_prompt/__init__.pyi: the public names with their types, for type checkers and editors; and names.json.

Names are imported when they are first used, which no type checker can follow. ``python -m tools.reference`` writes it.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Final

import ais_prompt
from ais_prompt.catalog import PARTS, public_names
from ais_prompt.config import Options, declared_options
from ais_prompt.extension import Extension, import_object, shipped
from ais_prompt.names import HOMES, MODULES

STUB: Final = Path(ais_prompt.__file__).with_suffix(".pyi")
NAMES: Final = STUB.parent / "extensions/names.json"
HEAD: Final = '''\
"""The public names with their types. `python -m tools.reference` writes this file."""
'''


def names_of_extensions() -> str:
    """Return ``ais_prompt/extensions/names.json``: which extension brings a name, also one whose folder is missing."""
    known = json.loads(NAMES.read_text("utf-8")) if NAMES.exists() else {}
    missing = {name: owner for name, owner in known.items() if owner not in shipped()}
    owners = {name: owner for owner, one in shipped().items() for name in names_of(one)}
    return json.dumps(dict(sorted({**missing, **owners}.items())), indent=1) + "\n"


def names_of(one: Extension) -> list[str]:
    """Return every name that an extension brings, of parts, options, verbs, functions, formats and steps, sorted.

    Modes, options, sections and metrics of gates are as people write them: ``-m NAME``, ``--NAME``, ``NAME=`` and
    ``--gate NAME``.
    """
    parts = (name for homes in one.parts.values() for name in homes)
    brought = (name for homes in one.options.values() for name in homes)
    told = (declared_options(import_object(mode.options)) for mode in one.modes.values())
    # A mode may take an option of the core, which knows its name by itself.
    known = {flag for option in declared_options(Options).values() for flag in option.flags}
    options = (flag for own in told for option in own.values() for flag in option.flags if flag not in known)
    modes = (f"-m {name}" for name in one.modes)
    sections = (f"{name}=" for name in one.sections)
    keys = (f"models[i].{name}=" for name in one.model_keys)
    measured = (name for mode in one.modes.values() for name in import_object(mode.metrics))
    metrics = (f"--gate {name}" for name in (*measured, *one.metrics))
    gates = (f"--gate {name}" for name in one.gates)
    of_run = (*brought, *modes, *options, *sections, *keys, *metrics, *gates)
    functions = (*one.functions, *one.results)
    return sorted({*parts, *one.verbs, *one.meant, *of_run, *functions, *one.logs, *one.exporters, *one.steps})


def stub() -> str:
    """Return the whole file."""
    homes = {**HOMES, **{name: PARTS[kind][name] for kind in PARTS for name in public_names(kind)}}
    imports, others = [], []
    # As ruff sorts imports: constants, classes, functions, each without regard to case.
    order = sorted(homes, key=lambda name: (homes[name], not name.isupper(), name[0].islower(), name.lower()))
    for name, home in ((name, homes[name]) for name in order):
        if hasattr(importlib.import_module(home), name):
            line = f"from {home} import {name} as {name}"
            imports.append(line if len(line) <= 120 else f"from {home} import (\n    {name} as {name},\n)")
        else:
            others.append(f"{name}: Callable[..., Any]")  # a part that is registered under more than one name
    modules = [f"from ais_prompt import {name} as {name}" for name in MODULES]
    typing = ["from collections.abc import Callable", "from typing import Any", ""] if others else []
    ends = ["", "__version__: str", "__all__: list[str]", *sorted(others), "", "def __dir__() -> list[str]: ..."]
    return "\n".join([HEAD, *typing, *modules, *imports, *ends, ""])
