"""Write the config of this program that a config of OpenCompass or AISBench means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ais_prompt.checks import PromptWarning, TranslationNote, translation_notes
from ais_prompt.config import CONFIG, Options, render_config
from ais_prompt.plan import read_spec
from ais_prompt.secrets import HIDDEN
from ais_prompt.store import replacing

_SECRETS: Final = TranslationNote(
    f"a key of the config is not written, but {HIDDEN}",
    "",
    "export it as NAME, and write $NAME in its place: headers=dict(Authorization='Bearer $NAME')",
)


def migrate(options: Options, file: Path) -> Sequence[PromptWarning]:
    """Write the native form of a config, with what it drops or means differently as comments.

    Args:
        options: the config.
        file: what to write; it is replaced.

    Returns:
        what the comments say.

    Raises:
        ConfigError: the config cannot be read.
        StoreError: the file cannot be written.
    """
    config = read_spec(options)
    values = {key: config.loaded.values[key] for key in CONFIG.names if key in config.loaded.values}
    text = render_config(values, header=f'"""Written by `aisprompt migrate` from {options.config}."""\n\n')
    head, _, body = text.partition("\n\n")
    notes = [*translation_notes(config.notes, config.loaded.place), *([_SECRETS] if f"{HIDDEN}'" in body else [])]
    with replacing(file) as stream:
        stream.write("\n\n".join([head, *_comments(notes), body]).encode("utf-8", "backslashreplace"))
    return notes


def _comments(notes: Sequence[PromptWarning]) -> list[str]:
    if not notes:
        return []
    lines = ["What this program drops or understands otherwise:"]
    lines += [
        f"{'-' if number == 0 else ' '} {line}" for note in notes for number, line in enumerate(str(note).split("\n"))
    ]
    return ["\n".join(f"# {line}" for line in lines)]
