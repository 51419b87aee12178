"""Translate the partitioner of a peer's run, ``infer=dict(partitioner=...)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.catalog import PARTS
from ais_prompt.peers.notes import NoteList

_OWN_FILES: Final = ("out_dir", "keep_keys", "force_rebuild", "dataset_size_path")
"""Options about files of the peers: here sizes are read from the data, and recorded in the run folder."""


def translate_partitioner(section: Mapping[str, Any], notes: NoteList) -> dict[str, Any] | None:
    """Return the partitioner that does the same here; None for one without effect, with a note.

    Args:
        section: ``infer`` of the config.
        notes: takes what is dropped.
    """
    partitioner = section.get("partitioner")
    if not isinstance(partitioner, Mapping):
        return None
    name = str(partitioner.get("type")).rpartition(".")[2]
    if name not in PARTS["partitioners"]:
        notes.note(f"{name} is not used: each shard asks a part of every dataset", "infer.partitioner")
        return None
    notes.note("the partitioner is used in runs with shards only: see docs/scale.md", "infer.partitioner")
    return {"type": name, **{key: value for key, value in partitioner.items() if key not in ("type", *_OWN_FILES)}}
