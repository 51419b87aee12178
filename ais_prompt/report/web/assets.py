"""Pieces of the pages: their assets, also those of extensions, and values packed for the browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ais_prompt.secrets import SECRETS
from ais_prompt.steps import extensions
from ais_prompt.utils import encode_finite, with_leaves


def asset(name: str | Path) -> str:
    """Return the text of a file in ``assets``, of one in another package (``PACKAGE:PATH``), or at a path."""
    if isinstance(name, Path):
        return name.read_text("utf-8")
    package, _, path = name.rpartition(":")
    return ((files(package) if package else files("ais_prompt.report.web") / "assets") / path).read_text("utf-8")


def tab_assets(ending: str) -> list[str]:
    """Return the names of the assets of all tabs with an ending, ``.js`` for the scripts."""
    assets = (name for one in extensions() for entry in one.tabs.values() for name in entry.assets)
    return [name for name in assets if name.endswith(ending)]


def source_hash(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def packed(value: Any) -> str:
    """Pack a JSON value with gzip and base64, without characters of markup; the same value gives the same text."""
    return _packed(SECRETS.hide_in_json(encode_finite(value)))


@lru_cache(8)
def packed_text(text: str) -> str:
    """Pack a text of this program in the same way; kept, since every report has the same libraries."""
    return _packed(text.encode())


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0)).decode("ascii")


def finite_json(value: Any) -> Any:
    """Return a JSON value with None in place of NaN and infinity, which browsers cannot read, at any depth."""
    with suppress(ValueError):  # all finite, as nearly always; this is ten times as fast as the copy below
        json.dumps(value, allow_nan=False, default=str)
        return value
    return with_leaves(value, lambda leaf: None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf)
