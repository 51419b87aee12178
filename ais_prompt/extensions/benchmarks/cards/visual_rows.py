"""Rows of benchmarks with images or video: from the publisher's columns to a column with markers, and files.

A function of this module returns ``content`` as pieces, pairs of a kind and a value: ``("image", bytes)``,
``("video", path)``, ``("text", text)``. `marked` writes the images into files, whose names are their SHA-256.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import filetype

from ais_prompt.data import LETTERS, Row
from ais_prompt.extensions.benchmarks.cards.publisher_rows import MakeRow, with_choices
from ais_prompt.prompts import END, STARTS
from ais_prompt.utils import file_digest

Pieces: TypeAlias = Sequence[tuple[str, Any]]

FOLDER: Final = "media"
"""The folder of images beside the rows."""
_IMAGE: Final = re.compile(r"<image (\d+)>")
_VIDEOS: Final = "videomme_videos"
"""The folder of the videos of Video-MME in that of all data; ``data get`` does not bring them."""


def marked(pieces: Pieces, folder: Path, name: str) -> str:
    """Write the images of a row into files, and return its content with the markers of `MMPromptTemplate`.

    Args:
        pieces: kind and value of each piece.
        folder: of the benchmark's rows.
        name: of the benchmark; a file is named from the folder of all data: ``NAME/media/DIGEST.png``.

    Raises:
        ValueError: an image is of no known kind.
    """
    return "".join(
        f"{STARTS[kind]}{_file(value, folder, name) if kind == 'image' else value}{END}" for kind, value in pieces
    )


def _file(content: bytes, folder: Path, name: str) -> str:
    kind = filetype.guess(content)
    if kind is None:
        raise ValueError("the image is of no known kind")
    file = f"{hashlib.sha256(content).hexdigest()}.{kind.extension}"
    path = folder / FOLDER / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return f"{name}/{FOLDER}/{file}"


def _bytes(image: Any) -> bytes:
    """Return the content of an image: an object of the hub's Parquet files, or base64."""
    return bytes(image["bytes"]) if isinstance(image, Mapping) else base64.b64decode(image)


def visual_choices(row: Row) -> Row:
    """MMStar and AI2D: the choices in columns, a list, or the question itself; the gold is a letter or a number."""
    texts = row.get("options") or [row[letter] for letter in LETTERS if row.get(letter)]
    gold = str(row["answer"])
    choices = with_choices(texts, int(gold) if gold.isdecimal() else LETTERS.index(gold)) if texts else {"answer": gold}
    options = f"\n{choices['options']}" if texts else ""
    pieces = [("image", _bytes(row["image"])), ("text", f"{row['question']}{options}")]
    return {**row, **choices, "content": pieces}


def visual_answer(row: Row) -> Row:
    """DocVQA, TextVQA, ChartQA, OCRBench and RealWorldQA: a question, and a list of right answers."""
    gold = next(row[name] for name in ("answers", "label", "answer") if row.get(name) is not None)
    if isinstance(gold, str):
        gold = _list(gold)
    pieces = [("image", _bytes(row["image"])), ("text", row["question"] if "question" in row else row["query"])]
    return {**row, "question": pieces[1][1], "answers": list(map(str, gold)), "content": pieces}


def _list(text: str) -> list[Any]:
    """Return a list that is written as Python does, or one text."""
    try:
        value = ast.literal_eval(text) if text.startswith("[") else [text]
    except (SyntaxError, ValueError):
        value = [text]
    return value if isinstance(value, list) else [text]


def mmmu(row: Row) -> Row:
    """MMMU: images inside of questions and choices; up to nine choices, or a list of right answers."""
    texts = [str(text) for text in _list(row["options"])]
    is_choice = row["question_type"] == "multiple-choice"
    choices = (
        with_choices(texts, LETTERS.find(row["answer"]) if row["answer"] in LETTERS else None) if is_choice else {}
    )
    text = "\n".join(filter(None, (row["question"], choices.get("options"))))
    images = {str(number): _bytes(row[f"image_{number}"]) for number in range(1, 8) if row.get(f"image_{number}")}
    return {
        **row,
        **choices,
        "answer": row["answer"] if is_choice else "",
        "answers": [row["answer"]] if is_choice else list(map(str, _list(row["answer"]))),
        "options": choices.get("options", ""),
        "content": list(_split(text, images)),
    }


def _split(text: str, images: Mapping[str, bytes]) -> Iterator[tuple[str, Any]]:
    """Yield texts, and images where the text names them; images before the text if it names none."""
    named = _IMAGE.split(text)
    if len(named) == 1:
        yield from (("image", image) for image in images.values())
    for place, part in enumerate(named):
        if place % 2:
            yield "image", images[part]
        elif part.strip():
            yield "text", part.strip()


def mathvista(row: Row) -> Row:
    """MathVista: choices or a number; the question with its hint is in ``query``, the unit and precision inside it."""
    texts = list(row["choices"] or ())
    choices = with_choices(texts, texts.index(row["answer"])) if texts else {"answer": str(row["answer"])}
    pieces = [("image", _bytes(row["decoded_image"])), ("text", row["query"])]
    return {**row, **choices, "precision": int(row["precision"] or 0), "content": pieces}


def videomme(row: Row) -> Row:
    """Video-MME: four choices, each with its letter."""
    options = "\n".join(row["options"])
    pieces = [("video", f"{_VIDEOS}/{row['videoID']}.mp4"), ("text", f"{row['question']}\n{options}")]
    return {**row, "options": options, "content": pieces}


MEDIA_ROWS: Final[Mapping[str, MakeRow]] = {
    function.__name__: function for function in (mathvista, mmmu, videomme, visual_answer, visual_choices)
}
"""Name in a card → function."""


def changed_media(folder: Path) -> list[str]:
    """Return a sentence for each stored image that is not what its name says; empty if there are none."""
    files = sorted((folder / FOLDER).glob("*"))
    return [f"the image {file.name} changed" for file in files if file_digest(file) != file.stem]
