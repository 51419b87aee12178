"""Read the assets of pages, and hash a style or script for the policy of a page."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files


def asset(name: str) -> str:
    """Return the text of a file in ``assets``."""
    return (files("ais_prompt.report.web") / "assets" / name).read_text("utf-8")


def source_hash(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
