"""Digests of tokenizer files. Nothing is loaded, and nothing downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.models.huggingface.files import local_folder
from ais_prompt.utils.digest import digest, file_digest

_CONFIG: Final = "tokenizer_config.json"
_TEMPLATE: Final = "chat_template"
_DIGITS: Final = 16
_PATTERNS: Final = (
    "tokenizer*",
    "tokenization_*.py",
    "vocab.*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template*",
    "additional_chat_templates/*",
    "*.tiktoken",
    "spiece.model",
    "sentencepiece*.model",
)
"""The files that transformers makes a tokenizer from."""


def tokenizer_digests(path: str) -> dict[str, str]:
    """Return file name → digest of each file of the tokenizer.

    ``tokenizer_config.json`` can hold the chat template; that has an entry of its own, ``chat_template``, to
    show which of the two changed.

    Args:
        path: a folder, or a hub id, which is searched in the download cache.

    Returns:
        An empty dict for a hub id that was not downloaded yet.

    Raises:
        ModelError: the folder does not exist, or a file cannot be read.
    """
    folder = local_folder(path) or _cached_folder(path)
    if folder is None:
        return {}
    files = sorted({file for pattern in _PATTERNS for file in folder.glob(pattern) if file.is_file()})
    digests: dict[str, str] = {}
    try:
        for file in files:
            if file.name == _CONFIG:
                digests |= _config_digests(file)
            else:
                digests[file.relative_to(folder).as_posix()] = file_digest(file)[:_DIGITS]
    except (OSError, ValueError) as error:
        what = f"the tokenizer's files cannot be read: {error}"
        raise ModelError(what, where=path, fix="check that they are whole and that you may read them") from error
    return digests


def _config_digests(file: Path) -> dict[str, str]:
    config: dict[str, Any] = json.loads(file.read_text("utf-8"))
    template = config.pop(_TEMPLATE, None)
    digests = {_CONFIG: digest(config, _DIGITS)}
    return digests if template is None else {**digests, _TEMPLATE: digest(template, _DIGITS)}


def _cached_folder(hub_id: str) -> Path | None:
    """Return the folder into which the files of a hub id were downloaded; None if they were not."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(hub_id, _CONFIG)
    except HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None
