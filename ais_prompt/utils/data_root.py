"""The folder that holds the data of all benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

DATA: Final = "AISPROMPT_DATA"
"""Environment variable of the folder in which `aisprompt data get` keeps benchmarks."""


def data_root() -> Path:
    """Return the folder that holds the data of all benchmarks."""
    return Path(os.environ.get(DATA) or "~/.cache/aisprompt/data").expanduser().absolute()
