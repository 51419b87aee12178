"""Translate a loaded config of OpenCompass or AISBench into one of this program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.config.schema import DATASET, EVAL, INFER, READER
from ais_prompt.peers.notes import Note
from ais_prompt.peers.parts import Translation, is_part
from ais_prompt.peers.table import peer_path

INFER_PARTS: Final = {
    "ice_template": "templates",
    "prompt_template": "templates",
    "retriever": "retrievers",
    "inferencer": "inferencers",
}
EVAL_PARTS: Final = {
    "evaluator": "evaluators",
    "pred_postprocessor": "postprocessors",
    "dataset_postprocessor": "postprocessors",
}


def translate(values: Mapping[str, Any], *, peer_scores: bool = False) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config in terms of this program, and notes on what is dropped or means something else.

    A config that names no part of a peer is returned as it is. Faults are left in place: the parser and `check` report
    them with their place.

    Args:
        values: the loaded config; it is not changed.
        peer_scores: use postprocessors and evaluators that give the peer's numbers.
    """
    translation = Translation(peer_scores=peer_scores)
    translated = dict(values)
    for key, one in (("models", translate_model), ("datasets", translate_dataset)):
        if isinstance(items := values.get(key), list | tuple):
            translated[key] = [one(item, f"{key}[{index}]", translation) for index, item in enumerate(items)]
    return translated, tuple(translation.notes)


def translate_model(values: Any, where: str, translation: Translation) -> Any:
    """Return a model in terms of this program."""
    if not is_part(values) or peer_path("models", values["type"]) is None:
        return values
    return translation.part("models", values, where)


def translate_dataset(values: Any, where: str, translation: Translation) -> Any:
    """Return a dataset in terms of this program."""
    if not isinstance(values, Mapping) or not is_peer_dataset(values):
        return values
    translated = {key: value for key, value in values.items() if key in DATASET.names and key != "type"}
    source = {key: value for key, value in values.items() if key not in DATASET.names or key == "type"}
    translated |= translation.part("readers", source, where) if "type" in source else source
    for key, table, parts in (("infer_cfg", INFER, INFER_PARTS), ("eval_cfg", EVAL, EVAL_PARTS)):
        if isinstance(section := values.get(key), Mapping):
            known = _known(section, table.names, f"{where}.{key}", translation)
            translated[key] = {
                name: translation.part(parts[name], item, f"{where}.{key}.{name}") if name in parts else item
                for name, item in known.items()
            }
    if isinstance(reader := values.get("reader_cfg"), Mapping):
        translated["reader_cfg"] = _known(reader, READER.names, f"{where}.reader_cfg", translation)
    return translated


def is_peer_dataset(values: Mapping[str, Any]) -> bool:
    """Return whether a dataset names any part of a peer."""
    infer, scoring = (values.get(key) for key in ("infer_cfg", "eval_cfg"))
    named: list[tuple[str, Any]] = [("readers", values)]
    named += [(kind, infer.get(key)) for key, kind in INFER_PARTS.items() if isinstance(infer, Mapping)]
    named += [(kind, scoring.get(key)) for key, kind in EVAL_PARTS.items() if isinstance(scoring, Mapping)]
    return any(is_part(part) and peer_path(kind, part["type"]) for kind, part in named)


def _known(section: Mapping[str, Any], names: tuple[str, ...], where: str, translation: Translation) -> dict[str, Any]:
    """Return a section without the keys that mean nothing here, with a note on each."""
    for key in section:
        if key not in names:
            translation.notes.note(f"{key!r} is not used", f"{where}.{key}")
    return {key: value for key, value in section.items() if key in names}
