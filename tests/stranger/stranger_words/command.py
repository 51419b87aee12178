"""A verb."""

from pathlib import Path

import click


@click.command("count-words")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def count_words(file: Path) -> None:
    """Count the words of FILE."""
    click.echo(len(file.read_text("utf-8").split()))
