"""Execute docs/python.ipynb and write it with its outputs: ``python -m tools.notebook``.

A test executes it again and compares the outputs. It needs nbclient and ipykernel, which the extra ``dev`` installs.
"""

from __future__ import annotations

import logging
import re
import tempfile
from pathlib import Path
from typing import Any, Final

NOTEBOOK: Final = Path(__file__).parents[1] / "docs" / "python.ipynb"
SECONDS: Final = 300
"""Timeout of a cell."""

_VARIES: Final = (
    (re.compile(r"\d{8}_\d{6}Z"), "20260101_120000Z"),  # names of run folders
    (re.compile(r"\x1b\[[0-9;]*m"), ""),  # colours
)


def executed(path: Path = NOTEBOOK) -> Any:
    """Return the notebook with new outputs, executed in an empty folder. What differs between runs is left out.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails that has no tag ``raises-exception``.
    """
    import nbformat
    from nbclient import NotebookClient

    logging.getLogger("traitlets").setLevel(logging.ERROR)
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": folder}})
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                _steady(output) for output in cell.outputs if output.output_type != "stream" or output.name == "stdout"
            ]
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def _steady(output: Any) -> Any:
    """Return an output without times and colours; of an error only its type and text."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
        return output
    if output.output_type == "stream":
        output.text = _replaced(output.text)
        return output
    output.data = {kind: _replaced(text) for kind, text in output.data.items() if kind in ("text/plain", "text/html")}
    return output


def _replaced(text: str) -> str:
    for pattern, steady in _VARIES:
        text = pattern.sub(steady, text)
    return text


if __name__ == "__main__":
    import nbformat

    nbformat.write(executed(), NOTEBOOK)
