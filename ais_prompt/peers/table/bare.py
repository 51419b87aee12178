"""Names under which the peers register parts, as configs write them without an import."""

from __future__ import annotations

from typing import Final

BARE: Final[dict[str, dict[str, str]]] = {}
"""Kind of part → bare name → dotted path of the part. A name that is ours too is not here: it means our part."""
