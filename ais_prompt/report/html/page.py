"""A page that holds all it needs: style, script and data stand in it, and nothing else may run or be loaded."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from ais_prompt.utils.text import printable

END = "</body>\n</html>\n"
"""What ends the page that `page_start` begins."""


def page_start(title: str, body: str, scripts: Sequence[str], data: Any) -> str:
    """The page up to the place where further data may follow; then comes `END`.

    Args:
        title: any text.
        body: the file in ``assets`` with the page's frame.
        scripts: files in ``assets``, in order of running.
        data: JSON values; numbers must be finite. The script finds them in the element ``data``.
    """
    style, script = _asset("style.css"), "\n".join(map(_asset, scripts))
    return Template(_asset("page.html")).substitute(
        policy=_policy(style, script),
        title=html.escape(printable(title)),
        style=style,
        body=_asset(body),
        data=_json(data),
        script=script,
    )


def _asset(name: str) -> str:
    return (files("ais_prompt.report.html") / "assets" / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """A Content-Security-Policy that lets these two run and forbids everything else, requests above all."""
    own = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(data: Any) -> str:
    """JSON in ASCII that holds no ``<``, so that no text can end the element it stands in."""
    return json.dumps(data, allow_nan=False, default=str).replace("<", "\\u003c")
