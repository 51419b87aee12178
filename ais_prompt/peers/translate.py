"""Translate a loaded config of OpenCompass or AISBench into one of this program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ais_prompt.config.parse.section import Faults
from ais_prompt.peers.dataset import translate_dataset
from ais_prompt.peers.model import translate_model
from ais_prompt.peers.notes import Note
from ais_prompt.peers.parts import Translation


def translate(
    values: Mapping[str, Any], *, peer_scores: bool = False, place: Callable[[str], str] = str
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config in terms of this program, and notes on what is dropped or means something else.

    A config that names no part of a peer is returned as it is. What is wrong in other ways is left in place: the
    parser and `check` report it.

    Args:
        values: the loaded config; it is not changed.
        peer_scores: use postprocessors and evaluators that give the peer's numbers.
        place: from a config path to the words that tell the user where that is.

    Raises:
        ConfigFaults: what is missing to translate it, such as the name of a judge.
    """
    translation = Translation(Faults(place), peer_scores=peer_scores)
    translated = dict(values)
    for key, translate_item in (("models", translate_model), ("datasets", translate_dataset)):
        if isinstance(items := values.get(key), list | tuple):
            translated[key] = [translate_item(item, f"{key}[{i}]", translation) for i, item in enumerate(items)]
    translation.faults.raise_any()
    return translated, tuple(translation.notes)
