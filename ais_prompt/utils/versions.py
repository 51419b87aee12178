"""The versions of the software that made a result."""

from __future__ import annotations

import platform
from functools import cache
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
    known = {package: found for package in PACKAGES if (found := _installed(package)) is not None}
    return {"python": platform.python_version(), "platform": platform.platform(), **known}


@cache  # reading the metadata of all these packages takes 30 ms, and a process uses one version of each
def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
