"""The Python examples of the documents run, and show what they say.

A block ```` ```python ```` runs after those above it on its page, in one namespace and an empty folder. Lines with
``>>>`` are compared with the output below them. A block that begins with a comment ``# name.py`` is a file in that
folder. Commands behind ``$`` in a block ```` ```console ```` run there, and print what is below them; ``[…]`` is any
number of lines.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")
ANY_LINES = "[…]"
PAGES = sorted(page.name for page in DOCS.glob("*.md") if BLOCK.search(page.read_text("utf-8")))
"""Those in Chinese have the same blocks (test_translations.py)."""


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Line (from 0), language and code of each block."""
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start(2)), found[1], found[2]


def run_console(session: str, line: int, page: str) -> None:
    """Run each command of a session and compare what it prints, on a terminal of 80 columns."""
    for command, expected in re.findall(r"^\$ aisprompt (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        result = CliRunner().invoke(main, shlex.split(command), prog_name="aisprompt", env={"COLUMNS": "80"})
        printed = [text.rstrip() for text in result.output.rstrip().splitlines()]
        pattern = "".join(
            r"(.*\n)*?" if text == ANY_LINES else re.escape(text) + r"\n" for text in expected.rstrip().splitlines()
        )
        assert re.fullmatch(pattern, "".join(f"{text}\n" for text in printed)), (
            f"{page}, line {line + 1}: aisprompt {command}\n{result.output}"
        )


def run_block(code: str, line: int, page: str, namespace: dict[str, Any]) -> None:
    if name := FILE.match(code):
        Path(name[1]).write_text(code, encoding="utf-8")
        return
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
    for line, language, code in blocks((DOCS / page).read_text("utf-8")):
        if language == "console":
            run_console(code, line, page)
        else:
            run_block(code, line, page, namespace)


@pytest.mark.parametrize("page", ["prompt-templates.md", "meta-templates.md"])
def test_the_pages_on_templates_are_examples_throughout(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    sections = text.split("\n## ")[1:]
    assert not [section.splitlines()[0] for section in sections if not BLOCK.search(section)]


def test_a_wrong_example_is_found() -> None:
    with pytest.raises(AssertionError, match="line 7"):
        run_block(">>> 1 + 1\n3\n", 6, "page.md", {})


def test_a_wrong_output_of_a_command_is_found() -> None:
    run_console("$ aisprompt --version\n[…]\n", 0, "page.md")
    with pytest.raises(AssertionError, match=r"page\.md, line 7"):
        run_console("$ aisprompt --version\nno such version\n", 6, "page.md")


def test_the_changelog_is_grouped_and_says_nothing_twice() -> None:
    text = (DOCS.parent / "CHANGELOG.md").read_text("utf-8")
    items = re.findall(r"^- ((?:.+\n)(?:  .+\n)*)", text, re.MULTILINE)
    assert len(items) == len(set(items))
    loose = [item for item in items if item.count("\n") > 4]
    assert not loose, "one thing a line: split these, and put each under its topic"
    assert re.findall(r"^## .*\n\n(?!### )", text, re.MULTILINE) == []
