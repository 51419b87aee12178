"""Write the config of this program that a config of OpenCompass or AISBench means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ais_prompt.checks import PromptWarning, TranslationNote, translation_notes
from ais_prompt.config import CONFIG, Options, redacted, render_config
from ais_prompt.plan import read_spec
from ais_prompt.secrets import HIDDEN
from ais_prompt.store import replacing


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
    variables = Variables()
    values = {key: variables.named(value, redacted(value, key), key) for key, value in values.items()}
    text = render_config(values, header=f'"""Written by `aisprompt migrate` from {options.config}."""\n\n')
    head, _, body = text.partition("\n\n")
    notes = [*translation_notes(config.notes, config.loaded.place), *variables.notes()]
    with replacing(file) as stream:
        stream.write("\n\n".join([head, *_comments(notes), body]).encode("utf-8", "backslashreplace"))
    return notes


class Variables:
    """Give each secret of a config the name of an environment variable."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # secret → its variable

    def named(self, value: Any, shown: Any, key: str) -> Any:
        """Return a value with the name of a variable in place of each secret.

        Args:
            value: with its secrets.
            shown: the same without them, see `ais_prompt.config.redacted`.
            key: the key that has the value.
        """
        if isinstance(value, Mapping):
            return {name: self.named(one, shown[name], str(name)) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.named(one, other, key) for one, other in zip(value, shown, strict=True))
        if shown != HIDDEN or value == HIDDEN:
            return value
        scheme, _, secret = str(value).rpartition(" ")
        name = self._names.setdefault(secret, f"API_KEY_{len(self._names) + 1}" if self._names else "API_KEY")
        return name if key == "api_key" else f"{scheme} ${name}".strip()

    def notes(self) -> Iterator[TranslationNote]:
        """Yield a note for each variable."""
        for name in self._names.values():
            what = f"a key of the config is not written, but the environment variable {name} is read"
            yield TranslationNote(what, "", f"export {name}=<the key>")


def _comments(notes: Sequence[PromptWarning]) -> list[str]:
    if not notes:
        return []
    lines = ["What this program drops or understands otherwise:"]
    lines += [
        f"{'-' if number == 0 else ' '} {line}" for note in notes for number, line in enumerate(str(note).split("\n"))
    ]
    return ["\n".join(f"# {line}" for line in lines)]
