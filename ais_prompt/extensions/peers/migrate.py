"""``aisprompt migrate``: the native config that a config of OpenCompass or AISBench means."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.options import FURTHER, MODEL_AND_DATA, read_options, with_options
from ais_prompt.cli.verb import Verb, echo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ais_prompt.checks import PromptWarning, TranslationNote
    from ais_prompt.config import Options


@click.command(cls=Verb, first={**MODEL_AND_DATA, "Config": ("-o", "--force", "-h")}, further=FURTHER)
@with_options("config")
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write."
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def migrate(output: Path, force: bool, **values: Any) -> None:
    """Write a config of OpenCompass or AISBench as one of this program.

    What it drops or means differently becomes comments. The prompts are the same: compare them with
    `aisprompt lock`.
    """
    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already; --force replaces it.")
    notes = write_native(read_options(values), output)
    found = f"{len(notes)} note{'' if len(notes) == 1 else 's'} at its top" if notes else "without notes"
    echo(f"{output}: written, {found}\n\nNext: aisprompt check {shlex.quote(str(output))}")


def write_native(options: Options, file: Path) -> Sequence[PromptWarning]:
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
    from ais_prompt.checks import translation_notes
    from ais_prompt.config import CONFIG, redacted, render_config
    from ais_prompt.plan import read_spec
    from ais_prompt.store import replacing

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
        from ais_prompt.secrets import HIDDEN

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
        from ais_prompt.checks import TranslationNote

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
