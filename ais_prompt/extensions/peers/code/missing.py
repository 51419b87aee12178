"""Libraries that code of the peers imports, and the names under which pip knows them."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ais_prompt.utils.packages import install_command

PIP_NAMES: Final = {
    "Levenshtein": "levenshtein",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "rdkit": "rdkit",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "bfcl_eval": "bfcl-eval",
}
"""Module → package, where the names differ by more than case and dashes."""


def missing_package(error: BaseException) -> str | None:
    """Return the pip name of the library whose import failed; None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    module = error.name.partition(".")[0]
    if module in sys.stdlib_module_names or module in sys.modules:
        return None
    return PIP_NAMES.get(module) or canonicalize_name(module)


def advice(package: str) -> str:
    """Return the command that installs a library."""
    in_extra = package in _extra()
    return install_command("peers") if in_extra else f"pip install {package}"


def _extra() -> set[str]:
    """Return the libraries of the extra ``peers``."""
    try:
        listed = [Requirement(text) for text in requires("ais-prompt") or ()]
    except PackageNotFoundError:
        return set()
    return {canonicalize_name(one.name) for one in listed if one.marker and one.marker.evaluate({"extra": "peers"})}
