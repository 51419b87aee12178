"""Translate one part, ``dict(type=..., **arguments)``, by its row in the table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from ais_prompt.errors import AisPromptError
from ais_prompt.peers.notes import NoteList
from ais_prompt.peers.table import find_row, peer_path
from ais_prompt.peers.table.row import Row
from ais_prompt.registry import (
    EVALUATORS,
    INFERENCERS,
    MODELS,
    POSTPROCESSORS,
    READERS,
    RETRIEVERS,
    TEMPLATES,
    PartRegistry,
)

ADAPTERS: Final = {
    "readers": ("PeerDataset", "cls"),
    "evaluators": ("PeerEvaluator", "cls"),
    "postprocessors": ("PeerPostprocessor", "function"),
}
"""Kind of part → the part that runs the peer's own code, and its argument for the dotted name."""

REGISTRIES: Final[Mapping[str, PartRegistry]] = {
    registry.kind: registry
    for registry in (MODELS, READERS, RETRIEVERS, TEMPLATES, INFERENCERS, POSTPROCESSORS, EVALUATORS)
}


class Translation:
    """The translation of one config.

    Attributes:
        notes: what was dropped or differs so far.
        peer_scores: whether evaluators and postprocessors give the peer's numbers.
    """

    def __init__(self, *, peer_scores: bool = False) -> None:
        self.notes = NoteList()
        self.peer_scores = peer_scores

    def part(self, kind: str, values: Any, where: str) -> Any:
        """Return a part as this program has it; what is no part of a peer stays as it is.

        Args:
            kind: the kind of part, as in `ais_prompt.catalog`.
            values: its dict.
            where: its config path.
        """
        path = peer_path(kind, values["type"]) if is_part(values) else None
        if path is None:
            return values
        args = {key: value for key, value in values.items() if key != "type"}
        row = find_row(kind, path)
        if self.peer_scores and kind in ("evaluators", "postprocessors"):
            row = self._exact(row)
        if row is not None:
            return {"type": row.ours, **self._ruled(kind, row, args, where)}
        if kind in ADAPTERS:
            name, key = ADAPTERS[kind]
            return {"type": name, key: path, **({"kwargs": args} if args else {})}
        return values

    def _exact(self, row: Row | None) -> Row | None:
        """Return the row whose part gives the peer's results; None for the peer's own code."""
        if row is None or not (row.exact or row.differs):
            return row
        return Row(row.name, row.exact, row.module, row.rename, row.drop, row.values) if row.exact else None

    def _ruled(self, kind: str, row: Row, args: Mapping[str, Any], where: str) -> dict[str, Any]:
        if row.differs:
            self.notes.note(f"{row.name}: {row.differs}", where, "for the peer's numbers: --peer-scores")
        kept = {}
        for name, value in args.items():
            if name not in row.drop:
                ours = row.rename.get(name, name)
                mapped = row.values.get(ours, {})
                kept[ours] = mapped.get(value, value) if isinstance(value, str | int | float | None) else value
            elif why := row.drop[name]:
                self.notes.note(f"{row.name}: {name!r} is not used: {why}", f"{where}.{name}")
        kept = {**row.add, **kept}
        if row.change is not None:
            kept = row.change(kept)
        for name in sorted(kept.keys() - accepted(kind, row.ours, tuple(kept))):
            del kept[name]
            self.notes.note(f"{row.name}: {name!r} is not used: {row.ours} has no such option", f"{where}.{name}")
        return kept


def is_part(values: Any) -> bool:
    """Return whether a value is a dict with a ``type``."""
    return isinstance(values, Mapping) and isinstance(values.get("type"), str)


@lru_cache(512)
def accepted(kind: str, name: str, args: tuple[str, ...]) -> frozenset[str]:
    """Return those of ``args`` that our part of this name takes; all if it cannot be asked, which `check` reports."""
    try:
        parameters = inspect.signature(REGISTRIES[kind].get(name)).parameters.values()
    except (AisPromptError, ValueError):
        return frozenset(args)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return frozenset(args)
    return frozenset(args) & {parameter.name for parameter in parameters}
