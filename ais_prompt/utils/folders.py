"""Folders in which this process looks for code of other programs and for configs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final


class SearchFolders:
    """Folders that an option names, or else an environment variable, written as ``PATH`` is.

    Like `sys.path` they belong to the process; `Surroundings` hands them on to its workers.

    Attributes:
        variable: the environment variable.
        given: the folders that the option names.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self.given: Sequence[str] = ()

    def paths(self) -> list[Path]:
        """Return the folders."""
        texts = self.given or os.environ.get(self.variable, "").split(os.pathsep)
        return [Path(text).expanduser() for text in texts if text]


PEER_FOLDERS: Final = SearchFolders("AISPROMPT_PEER_PATH")
"""Checkouts or unpacked wheels of OpenCompass and AISBench (``--peer-path``)."""
CONFIG_FOLDERS: Final = SearchFolders("AISPROMPT_CONFIG_DIR")
"""Folders that hold ``datasets``, ``models`` and ``summarizers`` (``--config-dir``)."""
