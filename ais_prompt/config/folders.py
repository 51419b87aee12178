"""Folders in which this process looks for code of other programs and for configs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_GIVEN: Final[dict[str, Sequence[str]]] = {}
"""Environment variable → the folders that the option of the same meaning names in this process."""


class SearchFolders:
    """Folders that an option names, or else an environment variable, written as ``PATH`` is.

    Like `sys.path` they belong to the process; `Surroundings` hands them on to its workers.

    Attributes:
        variable: the environment variable.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable

    @property
    def given(self) -> Sequence[str]:
        """The folders that the option names."""
        return _GIVEN.get(self.variable, ())

    @given.setter
    def given(self, folders: Sequence[str]) -> None:
        _GIVEN[self.variable] = folders

    def paths(self) -> list[Path]:
        """Return the folders."""
        texts = self.given or os.environ.get(self.variable, "").split(os.pathsep)
        return [Path(text).expanduser() for text in texts if text]


def given_folders() -> dict[str, Sequence[str]]:
    """Return what options name in this process, for `give_folders` in another one."""
    return {variable: folders for variable, folders in _GIVEN.items() if folders}


def give_folders(given: Mapping[str, Sequence[str]]) -> None:
    """Set what options name."""
    _GIVEN.clear()
    _GIVEN.update(given)


CONFIG_FOLDERS: Final = SearchFolders("AISPROMPT_CONFIG_DIR")
"""Folders that hold ``datasets``, ``models`` and ``summarizers`` (``--config-dir``)."""
