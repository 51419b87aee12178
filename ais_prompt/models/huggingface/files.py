"""The files of a Hugging Face model: a local folder or a hub id, and digests of the folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from ais_prompt.errors import ModelError
from ais_prompt.utils.digest import file_digest

_TEXT_SUFFIXES: Final = {".json", ".jinja", ".model", ".py"}
_WEIGHT_SUFFIXES: Final = {".safetensors", ".bin", ".gguf"}
_SAMPLED_BLOCKS: Final = 16
_BLOCK_BYTES: Final = 4096


def local_folder(path: str, what: str = "model") -> Path | None:
    """Return the folder that ``path`` names; None if it can only be a hub id.

    Args:
        path: a folder, or a hub id.
        what: whose folder it is, for the message.

    Raises:
        ModelError: the path is a file, or looks like a local path and does not exist.
    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists():
        raise ModelError(f"the {what} path is a file, not a folder", where=path, fix="give the folder that holds it")
    if path.startswith((".", "/", "~")) or path.count("/") > 1:
        raise ModelError(
            f"the {what} folder does not exist", where=path, fix="check the path, or give a hub id such as owner/name"
        )
    return None


def fingerprint(folder: Path) -> dict[str, str]:
    """Return file name → digest of every file of a model folder that decides its answers.

    Config, tokenizer and code files are read whole. Weights can be many gigabytes, so only their size and blocks spread
    evenly over them are read. Training changes nearly every byte, so these blocks differ in a retrained model of the
    same shape. Times do not count: a copy is the same model.

    Raises:
        ModelError: a file cannot be read.
    """
    digests = {}
    try:
        for file in sorted(folder.iterdir()):
            if file.suffix in _TEXT_SUFFIXES:
                digests[file.name] = file_digest(file)
            elif file.suffix in _WEIGHT_SUFFIXES:
                digests[file.name] = _sampled_digest(file)
    except OSError as error:
        what = f"the model folder cannot be read: {error}"
        raise ModelError(what, where=str(folder), fix="check that you may read all of its files") from error
    return digests


def _sampled_digest(file: Path) -> str:
    """Return the SHA-256 of a file's size and of blocks spread over it, first and last block included."""
    size = file.stat().st_size
    sha = hashlib.sha256(str(size).encode())
    last = max(0, size - _BLOCK_BYTES)
    with file.open("rb") as stream:
        for block in range(_SAMPLED_BLOCKS):
            stream.seek(last * block // (_SAMPLED_BLOCKS - 1))
            sha.update(stream.read(_BLOCK_BYTES))
    return sha.hexdigest()
