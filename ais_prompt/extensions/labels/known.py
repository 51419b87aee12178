"""Labels as golds of a dataset that has none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ais_prompt.extensions.labels.label_files import drawn_labels, people_of
from ais_prompt.store import RunFolder

METRIC: Final = "label"


def known_values(root: Path, model: str, dataset: str) -> tuple[str, Mapping[str, float]] | None:
    """Return sample → 1 if people call its answer right, else 0; None without labels.

    These are the labels of answers that were drawn at random, on which all people agree who labelled them.

    Raises:
        StoreError: a file of labels cannot be read.
    """
    labels = drawn_labels(people_of(RunFolder(root), model, dataset))
    return (METRIC, {sample: float(label) for sample, label in labels.items()}) if labels else None
