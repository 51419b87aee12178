"""The Python examples of the documents run, and show what they say.

A block ```` ```python ```` runs after those above it on its page, in one namespace and an empty folder. Lines with
``>>>`` are compared with the output below them. A block that begins with a comment ``# name.py`` is a file in that
folder, as is a block ``title="name"``. A block ``title="name, …"`` replaces an argument in that file. Commands behind
``$`` in a block ```` ```console ```` run there, and print what is below them; ``[…]`` is any number of lines, and ``…``
the rest of a line.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main
from tests.support.markdown import commands, is_printed, runnable, write_file

DOCS = Path(__file__).parents[3] / "docs"
FILE = re.compile(r"# (\w+\.py)\n")
PAGES = sorted(page.name for page in DOCS.glob("*.md") if "\n```" in page.read_text("utf-8"))
"""Those in Chinese have the same blocks (test_translations.py)."""
MOST_WORDS = 1500
"""Of a page of the guide; what the reference lists is not repeated."""
WITH_PROCESSES = {"own-parts.md", "tutorial.md"}
"""Pages whose parts of users are run in a worker."""


def run_console(session: str, line: int, page: str) -> None:
    """Run each command of a session and compare what it prints, on a terminal of 80 columns."""
    for command, expected in commands(session):
        result = CliRunner().invoke(main, shlex.split(command), prog_name="aisprompt", env={"COLUMNS": "80"})
        assert is_printed(result.output, expected), f"{page}, line {line + 1}: aisprompt {command}\n{result.output}"


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


@pytest.fixture
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the modules of a page afterwards: those of another page may have the same names."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.thorough
@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.process] * (page in WITH_PROCESSES)) for page in PAGES]
)
def test_examples_show_what_they_say(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for line, language, title, code in runnable((DOCS / page).read_text("utf-8")):
        if title:
            write_file(title, code)
        elif language == "console":
            run_console(code, line, page)
        else:
            run_block(code, line, page, namespace)


@pytest.mark.parametrize("page", ["prompt-templates.md", "meta-templates.md"])
def test_the_pages_on_templates_are_examples_throughout(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    sections = text.split("\n## ")[1:]
    assert not [section.splitlines()[0] for section in sections if not list(runnable(section))]


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


def test_pages_are_about_one_task() -> None:
    words = {
        page.name: len(page.read_text("utf-8").split()) for page in [*DOCS.glob("*.md"), DOCS.parent / "CHANGELOG.md"]
    }
    if long := {name: count for name, count in words.items() if count > MOST_WORDS}:
        warnings.warn(f"pages of more than {MOST_WORDS} words; split them by task: {long}", stacklevel=1)


def test_each_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (DOCS.parent / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert pages - set(listed) == set(), "add them to nav in mkdocs.yml"


@pytest.mark.thorough
def test_the_messages_of_troubleshooting_are_those_of_the_program() -> None:
    """Each piece of a message between two ``…`` is in one text of the source."""
    said = set()
    for file in (DOCS.parent / "ais_prompt").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                said.add("…".join(str(part.value) for part in node.values if isinstance(part, ast.Constant)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.add(node.value)
    text = (DOCS / "troubleshooting.md").read_text("utf-8").partition("## Scores")[0]
    messages = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert len(messages) > 20
    unknown = [one for one in messages if not any(all(part in there for part in one.split("…")) for there in said)]
    assert not unknown
