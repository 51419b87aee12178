"""Import optional packages where they are used; the error of a missing one has the command that installs it."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from ais_prompt.errors import MissingExtra


def require(package: str, *, extra: str, why: str) -> ModuleType:
    """Import an optional package.

    Args:
        package: name as in ``import package``.
        extra: the extra of ais-prompt that installs it.
        why: what needs it, for the message: "HuggingFaceBaseModel".

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
    """Raise an error unless an optional package is installed, without importing it.

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
