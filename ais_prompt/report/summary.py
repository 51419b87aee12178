"""The summary of a run as files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from ais_prompt.report.formats import to_csv, to_json, to_markdown
from ais_prompt.report.terminal import print_summary
from ais_prompt.store.disk import replacing
from ais_prompt.summary.rows import Row


def write_summary(folder: Path, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
    """Write ``summary.txt``, ``.csv``, ``.md`` and ``.json``, each whole or not at all.

    Args:
        folder: where they are written.
        rows: all there is, for CSV and JSON.
        chosen: those for people, for text and Markdown.

    Raises:
        StoreError: a file cannot be written.
    """
    texts = {"txt": _plain(chosen), "csv": to_csv(rows), "md": to_markdown(chosen), "json": to_json(rows)}
    for ending, text in texts.items():
        with replacing(folder / f"summary.{ending}", json=ending == "json") as stream:
            # A lone surrogate, which UTF-8 has no bytes for, becomes an escape that JSON reads back as it was.
            stream.write(text.encode("utf-8", "backslashreplace"))


def _plain(rows: Sequence[Row]) -> str:
    stream = io.StringIO()
    # What the environment says of colours and terminals does not concern a file.
    print_summary(rows, Console(file=stream, color_system=None, force_terminal=False, _environ={}), full=True)
    return stream.getvalue()
