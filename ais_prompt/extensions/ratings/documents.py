"""What ``ratings`` prints with ``--json``."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from ais_prompt.types import Document


class RatingsDocument(Document, kw_only=True):
    """What ``ratings`` prints.

    Attributes:
        folder: of the run.
        datasets: the ratings on each dataset whose judge compared several models: ``dataset``, ``verdicts``,
            ``questions`` and ``ratings``, with the fields of `ais_prompt.metrics.Ratings`; ratings are log odds.
    """

    kind: Literal["ratings"]
    folder: str = ""
    datasets: list[dict[str, Any]] = field(default_factory=list)
