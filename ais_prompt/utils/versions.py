"""The versions of the software that made a result."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

PACKAGES: Final = (
    "ais-prompt",
    "mmengine-lite",
    "datasets",
    "pyarrow",
    "transformers",
    "tokenizers",
    "torch",
    "aiohttp",
    "openai",
    "opencompass",
    "ais_bench_benchmark",
)
"""The packages that can change a prompt or an answer."""


def versions() -> dict[str, str]:
    """Return the versions of Python and of installed packages of `PACKAGES`, without importing them."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
