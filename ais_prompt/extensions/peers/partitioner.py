"""Translate the partitioner of a peer's run, ``infer=dict(partitioner=...)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.catalog import PARTS
from ais_prompt.extensions.peers.parts import Translation

_FILES: Final = "sizes are read from the data, and shards are recorded in the run folder"
_OWN_FILES: Final = dict.fromkeys(("out_dir", "keep_keys", "force_rebuild", "dataset_size_path"), _FILES)
"""Options about files of the peers → why they mean nothing here."""


def translate_partitioner(section: Mapping[str, Any], translation: Translation) -> dict[str, Any] | None:
    """Return the partitioner that does the same here; None for one without effect, with a note.

    Args:
        section: ``infer`` of the config.
        translation: takes the notes.
    """
    where = "infer.partitioner"
    partitioner = section.get("partitioner")
    if not isinstance(partitioner, Mapping):
        return None
    name = str(partitioner.get("type")).rpartition(".")[2]
    if name not in PARTS["partitioners"]:
        translation.notes.note(f"{name} is not used: each shard asks a part of every dataset", where)
        return None
    translation.notes.note("the partitioner is used in runs with shards only: see docs/runners.md", where)
    kept = [key for key in partitioner if key not in _OWN_FILES]
    return {**translation.known(partitioner, kept, _OWN_FILES, where), "type": name}
