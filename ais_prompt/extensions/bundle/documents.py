"""What ``bundle`` prints with ``--json``."""

from __future__ import annotations

from typing import Literal

from ais_prompt.types import Document


class BundleDocument(Document, kw_only=True):
    """What ``bundle`` prints.

    Attributes:
        folder: of the site; its first page is ``index.html``.
        runs: how many runs are in it.
        bytes: of all its files.
    """

    kind: Literal["bundle"]
    folder: str = ""
    runs: int = 0
    bytes: int = 0
