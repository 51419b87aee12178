"""The files of labels in a run folder: one for each person and task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from ais_prompt.errors import StoreError
from ais_prompt.store import RunFolder, reading, replacing, safe_name

Selection: TypeAlias = Literal["random", "disagreed"]
"""How an answer was chosen: drawn at random, or because judges disagree."""
FOLDER: Final = "labels"
METRIC: Final = "label"
"""The metric of a dataset whose golds are labels."""


class Label(Struct, frozen=True):
    """A row of a file of labels.

    Attributes:
        id: of the sample.
        label: whether the answer is right.
        comment: of the person.
        selection: how the answer was chosen.
    """

    id: str
    label: bool
    comment: str = ""
    selection: Selection = "random"


def labels_file(folder: RunFolder, model: str, dataset: str, name: str) -> Path:
    """Return where the labels of a person are."""
    return folder.root / FOLDER / safe_name(model) / safe_name(dataset) / f"{safe_name(name)}.jsonl"


def read_label_file(path: Path) -> dict[str, Label]:
    """Return sample → label, in the order of labelling; none if there is no file.

    Raises:
        StoreError: it cannot be read, or is no file of labels.
    """
    if not path.exists():
        return {}
    with reading(path, fix="move it away, and label again"):
        lines = path.read_bytes().splitlines()
    try:
        rows = [msgspec.json.decode(line, type=Label) for line in lines if line.strip()]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"it has no labels: {error}", where=str(path), fix="move it away, and label again") from None
    return {row.id: row for row in rows}


def write_label_file(path: Path, labels: Mapping[str, Label]) -> None:
    """Write all labels of a person, whole or not at all.

    Raises:
        StoreError: it cannot be written; the file is as before.
    """
    with replacing(path, json=True) as stream:
        stream.write(
            "".join(f"{json.dumps(msgspec.to_builtins(one), ensure_ascii=False)}\n" for one in labels.values()).encode()
        )


def people_of(folder: RunFolder, model: str, dataset: str) -> dict[str, dict[str, Label]]:
    """Return person → their labels of a task.

    Raises:
        StoreError: a file cannot be read.
    """
    paths = sorted(labels_file(folder, model, dataset, "x").parent.glob("*.jsonl"))
    return {path.stem: read_label_file(path) for path in paths}


def agreed(people: Mapping[str, Mapping[str, Label]]) -> dict[str, bool]:
    """Return the labels of samples on which all people agree who labelled them."""
    found: dict[str, set[bool]] = {}
    for labels in people.values():
        for sample, one in labels.items():
            found.setdefault(sample, set()).add(one.label)
    return {sample: next(iter(given)) for sample, given in found.items() if len(given) == 1}


def drawn_labels(people: Mapping[str, Mapping[str, Label]]) -> dict[str, bool]:
    """Return those of `agreed` whose answers were drawn at random, for one of the people at least."""
    drawn = {sample for labels in people.values() for sample, one in labels.items() if one.selection == "random"}
    return {sample: label for sample, label in agreed(people).items() if sample in drawn}


def known_values(root: Path, model: str, dataset: str) -> tuple[str, Mapping[str, float]] | None:
    """Return sample → 1 if people call its answer right, else 0: golds of a dataset without any. None without labels.

    These are the `drawn_labels`.

    Raises:
        StoreError: a file of labels cannot be read.
    """
    labels = drawn_labels(people_of(RunFolder(root), model, dataset))
    return (METRIC, {sample: float(label) for sample, label in labels.items()}) if labels else None
