"""The Python examples of the documents run, and show what they say.

A block ```` ```python ```` runs after those above it on its page, in one namespace and an empty folder. Lines with
``>>>`` are compared with the output below them.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(page.name for page in DOCS.glob("*.md") if BLOCK.search(page.read_text("utf-8")))


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Line (from 0) and code of each Python block."""
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start(1)), found[1]


def run_block(code: str, line: int, page: str, namespace: dict[str, Any]) -> None:
    if ">>>" not in code:
        exec(compile("\n" * line + code, page, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(code, namespace, page, page, line)
    reported: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=reported.append, clear_globs=False)
    assert result.attempted
    assert not result.failed, "".join(reported)
    namespace |= test.globs


@pytest.mark.parametrize("page", PAGES)
def test_examples_show_what_they_say(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for line, code in blocks((DOCS / page).read_text("utf-8")):
        run_block(code, line, page, namespace)


@pytest.mark.parametrize("page", ["prompt-templates.md", "meta-templates.md"])
def test_the_pages_on_templates_are_examples_throughout(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    sections = text.split("\n## ")[1:]
    assert not [section.splitlines()[0] for section in sections if not BLOCK.search(section)]


def test_a_wrong_example_is_found() -> None:
    with pytest.raises(AssertionError, match="line 7"):
        run_block(">>> 1 + 1\n3\n", 6, "page.md", {})
