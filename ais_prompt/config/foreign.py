"""Tell a config in terms of this program from a config that is translated first, and keep notes on the translation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from ais_prompt.catalog import PARTS
from ais_prompt.config.schema import CONFIG
from ais_prompt.utils import part_types

_OWN: Final = {name for parts in PARTS.values() for name in parts}
_FOREIGN_KEYS: Final = {"chatml_datasets", "eval", "infer", "judge_models"}
"""Keys at the top of a config that only OpenCompass and AISBench give a meaning."""


def is_native(values: Mapping[str, Any]) -> bool:
    """Return whether every part of a config is one of ours by its name, so that there is nothing to translate.

    Args:
        values: a loaded config. Parts of the user's own count as foreign: whether OpenCompass or AISBench has a part of
            their name is known only to the extension that translates.
    """
    if _FOREIGN_KEYS & values.keys():
        return False
    models, datasets = values.get("models"), values.get("datasets")
    if not isinstance(models, list | tuple) or not isinstance(datasets, list | tuple):
        return False
    if any(not isinstance(item, Mapping) or "type" not in item for item in (*models, *datasets)):
        return False
    described = [value for key, value in values.items() if key in CONFIG.names]
    return all(isinstance(name, str) and name in _OWN for name in part_types(described))


class Note(Struct, frozen=True):
    """One thing that differs from what OpenCompass or AISBench would do.

    Attributes:
        what: one sentence.
        where: config path.
        fix: what the user can do about it; may be empty.
    """

    what: str
    where: str
    fix: str = ""


class NoteList(list[Note]):
    """The notes of a config, in its order."""

    def note(self, what: str, where: str, fix: str = "") -> None:
        """Add a note."""
        self.append(Note(what, where, fix))
