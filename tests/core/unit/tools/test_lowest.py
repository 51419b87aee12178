from __future__ import annotations

import tomllib
from itertools import chain

from packaging.requirements import Requirement
from packaging.version import Version

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
    found = [one for one in map(Requirement, lines) if one.name != project["name"]]
    assert [one for one in found if not any(bound.operator == ">=" for bound in one.specifier)] == []


FIRST_SAFE = {
    "aiohttp": "3.14.4",  # CVE-2026-34518, -22815, -47265, -111064
    "filelock": "3.20.3",  # CVE-2025-68146, CVE-2026-22701
    "jinja2": "3.1.6",  # CVE-2025-27516
    "markdown-it-py": "2.2",  # CVE-2023-26302
    "nltk": "3.10",  # CVE-2025-14009, CVE-2026-54293
    "opencv-python-headless": "4.12.0.88",  # CVE-2025-53644
    "orjson": "3.11.6",  # CVE-2025-67221
    "pillow": "13",  # CVE-2026-25990, -96639
    "pyarrow": "14.0.1",  # CVE-2023-47248
    "pydantic": "2.4",  # CVE-2024-3772
    "ray": "2.52",  # CVE-2025-62593
    "requests": "2.32.4",  # CVE-2024-47081
    "scikit-learn": "1.5",  # CVE-2024-5206
    "torch": "2.10",  # CVE-2025-32434, CVE-2026-24747
    "tqdm": "4.66.3",  # CVE-2024-34062
    "transformers": "5.3",  # CVE-2026-5241
}
"""Package → its first version without the known holes in what is used."""


def test_no_bound_allows_a_version_with_a_known_hole() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    found = [one for one in map(Requirement, lines) if one.name in FIRST_SAFE and one.specifier]
    assert {one.name for one in found} == set(FIRST_SAFE)
    for requirement in found:
        [low] = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        assert Version(low) >= Version(FIRST_SAFE[requirement.name]), requirement
