"""Prompts that a user writes for a file (``--prompt``): their texts, and the columns in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.prompts import mark_of
from ais_prompt.utils import late, listed

_MARK: Final = late(r"\{\{\s*(?P<double>[^{}\n]+?)\s*\}\}|\{\s*(?P<single>[^{}\n]+?)\s*\}")
_NAME: Final = late(r"[^\W\d]\w*")


class WrittenPrompts(Struct, frozen=True):
    """Prompts of a user, as templates have them.

    Attributes:
        texts: each is a variant of the question.
        columns: those in any of the texts: all variants have the same inputs, and so the same ids.
    """

    texts: Sequence[str]
    columns: Sequence[str]


def named_prompts(prompts: Sequence[str]) -> str | Mapping[str, str] | None:
    """Return the prompts of a command line: none, one text, or name → text of several.

    Args:
        prompts: each is a text, or ``@FILE`` for the text in a file, which gives it its name.

    Raises:
        ConfigError: a file cannot be read, or two prompts have the same name.
    """
    if len(prompts) < 2 and not any(prompt.startswith("@") for prompt in prompts):
        return next(iter(prompts), None)
    from ais_prompt.config import name_of_prompt  # most runs have one prompt

    found: dict[str, str] = {}
    for prompt in prompts:
        name, text = _read_prompt(Path(prompt[1:])) if prompt.startswith("@") else (name_of_prompt(prompt), prompt)
        if name in found:
            raise ConfigError(f"two prompts are called {name!r}", where="--prompt", fix="give each prompt once")
        found[name] = text
    return found if len(found) > 1 else next(iter(found.values()), None)


def _read_prompt(path: Path) -> tuple[str, str]:
    try:
        return path.stem, path.read_text("utf-8-sig").rstrip("\n")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the prompt cannot be read: {error}", where=f"--prompt @{path}", fix="name a text file"
        ) from error


def written_prompts(prompts: Sequence[str], path: str, columns: Sequence[str]) -> WrittenPrompts:
    """Return the prompts of the user as templates have them.

    Args:
        prompts: with ``{column}`` or ``{{column}}``.
        path: of the file, for errors.
        columns: of the file.

    Raises:
        ConfigError: a prompt names a column that is not there, or none.
    """
    written = [_written(text, path, columns) for text in prompts]
    return WrittenPrompts([text for text, _ in written], list(dict.fromkeys(chain(*(used for _, used in written)))))


def _written(text: str, path: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    used: dict[str, None] = {}
    unknown: list[str] = []

    def write(found: re.Match[str]) -> str:
        name = found["single"] or found["double"]
        if name in columns:
            used[name] = None
            return mark_of(name)
        if found["single"] and _NAME.fullmatch(name):
            unknown.append(name)
        return mark_of(name) if found["double"] else found[0]

    written = _MARK.sub(write, text if "\n" in text else text.replace("\\n", "\n"))
    if unknown:
        raise ConfigError(
            f"{path} has no column {unknown[0]!r}",
            where="--prompt",
            fix=f"columns: {listed(columns)}; braces that are to be sent are written {{{{{unknown[0]}}}}}",
        )
    if not used:
        fix = f'write "…{mark_of(columns[0])}…"; columns: {listed(columns)}'
        raise ConfigError("the prompt names no column, so every question would be the same", where="--prompt", fix=fix)
    return written, list(used)
