"""Optional packages: imported where they are used, and missed with the command that installs them."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from ais_prompt.errors import MissingExtra


def require(package: str, *, extra: str, why: str) -> ModuleType:
    """Import an optional package.

    Args:
        package: name as in ``import package``.
        extra: the extra of ais-prompt that brings it.
        why: who needs it, for the message: "HuggingFaceBaseModel".

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:
            raise
        raise _missing(package, extra, why) from error


def installed(path: str) -> bool:
    """Return whether the package of a dotted path is installed, without importing it."""
    return importlib.util.find_spec(path.partition(".")[0]) is not None


def require_installed(package: str, *, extra: str, why: str) -> None:
    """See whether an optional package is there, without importing it.

    Raises:
        MissingExtra: as `require`.
    """
    if not installed(package):
        raise _missing(package, extra, why)


def _missing(package: str, extra: str, why: str) -> MissingExtra:
    return MissingExtra(
        f"{why} needs the package {package!r}, which is not installed",
        fix=f"pip install 'ais-prompt[{extra}]'",
    )
