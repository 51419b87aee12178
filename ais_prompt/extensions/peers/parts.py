"""Translate one part, ``dict(type=..., **arguments)``, by its row in the table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ais_prompt.config import Faults, Note, shown
from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.peers.table import PEERS, PeerPart, find_row, peer_part
from ais_prompt.extensions.peers.table.row import SAYS_NOTHING, PartRow
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
    "retrievers": ("PeerRetriever", "cls"),
    "evaluators": ("PeerEvaluator", "cls"),
    "postprocessors": ("PeerPostprocessor", "function"),
}
"""Kind of part → the part that runs the peer's own code, and its argument for the dotted name."""

DICTS: Final = (
    *("generation_kwargs", "openai_extra_kwargs", "extra_body", "sample_kwargs", "gen_config"),
    *("model_kwargs", "tokenizer_kwargs", "engine_config", "run_cfg", "peft_kwargs"),
)
"""Arguments of models that are dicts of further options."""

SCORING: Final = ("evaluators", "postprocessors")
"""Kinds of part that ``--peer-scores`` concerns."""

LENGTH: Final = "max_out_len"
"""The column of a row in a load, and the option of a model, that say how long the answer is."""

NO_EFFECT: Final = "it has no effect there either"
"""Why an option is dropped that the peer does not read."""

REGISTRIES: Final[Mapping[str, PartRegistry]] = {
    registry.kind: registry
    for registry in (MODELS, READERS, RETRIEVERS, TEMPLATES, INFERENCERS, POSTPROCESSORS, EVALUATORS)
}


class NoteList(list[Note]):
    """The notes of a config, in its order."""

    def note(self, what: str, where: str, fix: str = "") -> None:
        """Add a note."""
        self.append(Note(what, where, fix))


class Translation:
    """The translation of one config.

    Attributes:
        notes: what was dropped or differs so far.
        faults: what makes the config unusable.
        peer_scores: whether evaluators and postprocessors give the peer's numbers.
        in_process: whether engines are replaced by transformers, where else a server is started.
        has_system_rounds: whether the meta template of a model has SYSTEM in its rounds.
        metrics: ``abbr`` of a dataset → a metric of the peer → its name here, where that differs.
        peer: the package whose registries bare names are looked up in.
        agent: the arguments of `AgentInferencer` that the agents of the config mean; empty without an agent.
        judges: the models that judge where an evaluator names none: ``judge_models`` of the config.
        summarizer: of the config, as it names it.
        repeats: how often the models of the config answer each question.
    """

    def __init__(self, faults: Faults, *, peer_scores: bool = False, in_process: bool = False) -> None:
        self.peer = PEERS[0]
        self.agent: Mapping[str, Any] = {}
        self.judges: Sequence[Any] = ()
        self.repeats = 1
        self.summarizer: Any = None
        self.has_system_rounds = False
        self.metrics: dict[str, Mapping[str, str]] = {}
        self.notes = NoteList()
        self.faults = faults
        self.peer_scores = peer_scores
        self.in_process = in_process

    def part(self, kind: str, values: Any, where: str) -> Any:
        """Return a part as this program has it; what is no part of a peer stays as it is.

        Args:
            kind: the kind of part, as in `ais_prompt.catalog`.
            values: its dict.
            where: its config path.
        """
        found = self.peer_part(kind, values)
        if found is None:
            return values
        args = {**found.args, **{key: value for key, value in values.items() if key != "type"}}
        row = self.row(kind, found.path, args)
        if row is not None:
            return {"type": row.ours, **self._ruled(kind, row, args, where)}
        if kind in ADAPTERS:
            name, key = ADAPTERS[kind]
            return {"type": name, key: found.path, **({"kwargs": args} if args else {})}
        return {"type": found.path, **args}  # the check reports that it has no counterpart

    def peer_part(self, kind: str, values: Any) -> PeerPart | None:
        """Return the part of a peer that a dict names; None if it names none of theirs."""
        return peer_part(kind, values["type"], self.peer) if is_part(values) else None

    def row(self, kind: str, path: str, args: Mapping[str, Any]) -> PartRow | None:
        """Return the row of a part; None if the peer's own code is to run.

        Args:
            kind: the kind of part.
            path: its dotted path.
            args: its arguments.
        """
        row = find_row(kind, path)
        if row is not None and self.in_process and row.in_process is not None:
            return row.in_process
        if row is not None and (other := next((row.instead[name] for name in row.instead if args.get(name)), None)):
            return other
        if row is None or any(args.get(name) in values for name, values in row.unless.items()):
            return None
        if not self.peer_scores or kind not in SCORING or not (row.exact or row.differs):
            return row
        if not row.exact:
            return None
        return PartRow(row.name, row.exact, row.module, rename=row.rename, drop=row.drop, values=row.values)

    def is_native(self, kind: str, values: Any) -> bool:
        """Return whether a part is a peer's that has a counterpart of ours."""
        return self.native_row(kind, values) is not None

    def native_row(self, kind: str, values: Any) -> PartRow | None:
        """Return the row of a peer's part that has a counterpart of ours; None for any other."""
        found = self.peer_part(kind, values)
        return None if found is None else self.row(kind, found.path, {**found.args, **values})

    def known(
        self, section: Mapping[str, Any], names: Sequence[str], dropped: Mapping[str, str], where: str
    ) -> dict[str, Any]:
        """Return a section without the keys that mean nothing here, with a note on each.

        Args:
            section: a dict of a peer's config.
            names: the keys that this program knows.
            dropped: other keys → why they mean nothing here.
            where: config path of the section.
        """
        for key, value in section.items():
            if key not in names:
                self.drop(key, value, dropped.get(key, "it is not known here"), where)
        return {key: value for key, value in section.items() if key in names}

    def drop(self, key: Any, value: Any, why: str, where: str, owner: str = "") -> None:
        """Note that a key is not used, unless its value means nothing to the peer either.

        Args:
            key: the key.
            value: its value.
            why: the reason, as a clause.
            where: config path of the dict that has the key.
            owner: class of the peer that takes it; empty for a section.
        """
        if value is not None and value not in SAYS_NOTHING.get(key, ()):
            self.notes.note(f"{owner and f'{owner}: '}{key!r} is not used: {why}", f"{where}.{key}")

    def differs(self, what: str, where: str) -> None:
        """Note that scores differ from the peer's, and how to get theirs."""
        self.notes.note(what, where, "for the peer's numbers: --peer-scores")

    def _ruled(self, kind: str, row: PartRow, args: Mapping[str, Any], where: str) -> dict[str, Any]:
        if row.differs and kind in ADAPTERS:
            self.differs(f"{row.name}: {row.differs}", where)
        elif row.differs:
            self.notes.note(f"{row.name}: {row.differs}", where)
        kept = {}
        for name, value in args.items():
            if name in row.drop:
                self.drop(name, value, row.drop[name], where, row.name)
                continue
            if name in DICTS and isinstance(value, Mapping):
                for option in value.keys() & row.drop_options.keys():
                    self.drop(option, value[option], row.drop_options[option], f"{where}.{name}", row.name)
                value = {option: one for option, one in value.items() if option not in row.drop_options}
            elif name in DICTS and value is not None:
                self.faults.add(f"{where}.{name} is {shown(value)}, not a dict", f"{where}.{name}", "write dict(...)")
                value = None
            ours = row.rename.get(name, name)
            mapped = row.values.get(ours, {})
            kept[ours] = mapped.get(value, value) if isinstance(value, str | int | float | None) else value
        kept = {**row.add, **kept}
        if row.change is not None:
            kept = row.change(kept)
        for name in sorted(kept.keys() - accepted(kind, row.ours, tuple(kept))):
            del kept[name]
            self.notes.note(f"{row.name}: {name!r} is not used: {row.ours} has no such option", f"{where}.{name}")
        return kept


def inside(values: Any, *keys: str) -> Any:
    """Return what a path of keys leads to in dicts; None if one of them is no dict or has no such key."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def is_part(values: Any) -> bool:
    """Return whether a value is a dict with a ``type``, all of whose keys are texts."""
    return (
        isinstance(values, Mapping) and isinstance(values.get("type"), str) and all(isinstance(k, str) for k in values)
    )


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
