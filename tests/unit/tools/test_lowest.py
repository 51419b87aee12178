from __future__ import annotations

import tomllib

from packaging.requirements import Requirement

from tools.lowest import ROOT, USED_BY_PROGRAM, lowest_versions


def test_lower_bounds_become_pins() -> None:
    project = {
        "dependencies": ["a>=1.2,<3", "b[extra]>=2.0 ; python_version >= '3.11'", "c"],
        "optional-dependencies": {"local": ["torch>=2.4", "d>=5"], "dev": ["e>=6"]},
    }
    assert list(lowest_versions(project, frozenset({"torch"}))) == ["a==1.2", "b==2.0", "d==5"]


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in USED_BY_PROGRAM for line in extras[name])]
    assert [line for line in lines if not any(bound.operator == ">=" for bound in Requirement(line).specifier)] == []
