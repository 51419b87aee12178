"""The markers by which AISBench writes text, images, sound and film into one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

END: Final = "<AIS_CONTENT_TAG>"
"""Stands behind each piece; the last one may lack it."""

STARTS: Final = {
    "text": "<AIS_TEXT_START>",
    "image": "<AIS_IMAGE_START>",
    "video": "<AIS_VIDEO_START>",
    "audio": "<AIS_AUDIO_START>",
}
"""Modality → the marker with which a piece of it begins."""


def has_marker(value: object) -> bool:
    """True for a text in which some piece could begin."""
    return isinstance(value, str) and any(start in value for start in STARTS.values())


def split_content(content: str) -> Iterator[tuple[str | None, str]]:
    """Modality and value of each piece, in order; the modality is None for a text that no marker introduces.

    A piece is what stands between two `END` markers. It must begin with the marker of its modality: one that comes
    later in it introduces nothing.
    """
    for piece in content.split(END):
        modality = next((name for name, start in STARTS.items() if piece.startswith(start)), None)
        if modality is not None:
            yield modality, piece.replace(STARTS[modality], "")
        elif piece:
            yield None, piece


def tagged_columns(fields: Mapping[str, object]) -> list[str]:
    """The columns whose text has a marker in it."""
    return [name for name, value in fields.items() if has_marker(value)]
