"""Extensions that are in this installation or not, and an installed package with one, as pip leaves it behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.extension import shipped

MANIFEST = "from ais_prompt.extension import Extension, VerbEntry\n\nEXTENSION = Extension({fields})\n"


def install_extension(site: Path, name: str, fields: str, **modules: str) -> None:
    """Write a package and its entry point into a folder of `sys.path`.

    Args:
        site: the folder.
        name: of the package; another one in each test, since a process reads each manifest once.
        fields: of the `Extension`, as Python.
        modules: name → source.
    """
    package = site / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MANIFEST.format(fields=fields))
    for module, source in modules.items():
        (package / f"{module}.py").write_text(source)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ais_prompt.extensions]\n{name} = {name}:EXTENSION\n")


def needs_extension(name: str) -> pytest.MarkDecorator:
    """Skip a test without a shipped extension; of the others, each has tests that need it alone."""
    return pytest.mark.skipif(name not in shipped(), reason=f"the extension {name!r} is not here")
