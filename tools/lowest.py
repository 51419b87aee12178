"""Print a constraints file with the lowest version of every dependency that pyproject.toml allows.

    python -m tools.lowest > lowest.txt
    pip install --constraint constraints.txt --constraint lowest.txt --editable '.[dev]'

`make test-lowest` does so and runs a part of the suite: a lower bound that is not tested is a guess.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

USED_BY_PROGRAM = ("gguf", "hub", "local", "metrics", "retrievers", "sheets")
"""The extras whose bounds are tested; those of the development tools are not promised to anyone."""
ROOT = Path(__file__).parents[1]


def lowest_versions(project: Mapping[str, Any], pinned: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield ``name==version`` for each dependency with a lower bound.

    Args:
        project: the table ``[project]`` of pyproject.toml.
        pinned: names that another constraints file decides.
    """
    extras = project.get("optional-dependencies", {})
    lines = [*project["dependencies"], *(line for name in USED_BY_PROGRAM for line in extras.get(name, ()))]
    for requirement in map(Requirement, lines):
        bounds = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        if bounds and requirement.name not in pinned:
            yield f"{requirement.name}=={bounds[0]}"


def main() -> None:
    """Print the constraints for this project; what constraints.txt pins is left to it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = frozenset(Requirement(line).name for line in pins if line and not line.startswith("#"))
    print("\n".join(lowest_versions(project, pinned)))


if __name__ == "__main__":
    main()
