"""What the pages list is what the program has: keys, imports, links."""

from __future__ import annotations

import itertools
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import click
import pytest

from ais_prompt.catalog import PARTS
from ais_prompt.cli import main
from ais_prompt.cli.habits import as_written_here
from ais_prompt.config import DATASET, META_ROLE, META_TEMPLATE, load_config, parse_run
from ais_prompt.errors import ConfigFaults
from ais_prompt.extension import missing_extension, shipped
from ais_prompt.types import RunSpec
from tests.support.markdown import anchor, headings, links
from tools.stub import NAMES

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
LINKING = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
BY_HAND = [page for page in LINKING if page != DOCS / "reference.md" and page.parent.name != "reference"]
OTHER_TYPES = {"LLM", "adaptive", "bfloat16", "blank", "image_url", "openai.AsyncAzureOpenAI", "text"}
"""Values of a key ``type`` that name no part: roles, controls, pieces of messages, classes of other packages."""
ENTRY_POINTS = {"ais_prompt.extensions", "ais_prompt.parts"}
"""Groups of entry points, which look like modules."""
MISSPELT = {"GenInferencr", "SameLength"}
"""Parts that a page names wrongly or before they are there, to show the error."""
CELL = re.compile(r"(?<!\\)\|")


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same or a higher level."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    found = re.search(rf"^(#+) `?{re.escape(heading)}`?$\n(.*?)(?=^#{{1,6}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page}.md has no heading {heading!r}"
    return found[2]


def listed(text: str) -> dict[str, str]:
    """Name in backticks → the second cell, of the first table in a text."""
    lines = itertools.dropwhile(lambda line: not line.startswith("|"), text.splitlines())
    rows = [CELL.split(line)[1:-1] for line in itertools.takewhile(lambda line: line.startswith("|"), lines)]
    return {name: cells[1].strip() for cells in rows[2:] for name in re.findall(r"`([^`]+)`", cells[0])}


def parse(tmp_path: Path, **changes: Any) -> RunSpec:
    """The spec of a config with one dataset, some of whose keys are changed."""
    dataset: dict[str, Any] = {
        "abbr": "sums",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {"inferencer": {"type": "GenInferencer"}},
    }
    dataset |= {
        key: dataset.get(key, {}) | value if isinstance(value, dict) else value for key, value in changes.items()
    }
    (tmp_path / "eval.py").write_text(f"models = [{{'type': 'ScriptedModel'}}]\ndatasets = [{dataset!r}]\n")
    return parse_run(load_config(tmp_path / "eval.py"))


@pytest.mark.parametrize("heading", ["reader_cfg", "infer_cfg", "eval_cfg"])
def test_each_key_of_a_section_is_listed(heading: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigFaults) as caught:
        parse(tmp_path, **{heading: {"zzz": 1}})
    [known] = re.findall(r"known: (.*)", "\n".join(caught.value.lines()))
    assert set(known.split(", ")) == set(listed(section("reference/config", heading)))


def test_each_key_of_a_dataset_is_listed() -> None:
    assert set(listed(section("reference/config", "A dataset"))) == set(DATASET.names)


def test_each_key_of_a_meta_template_is_listed() -> None:
    assert set(listed(section("reference/config", "A meta template"))) == set(META_TEMPLATE.names)
    assert set(listed(section("reference/config", "A role of a meta template"))) == set(META_ROLE.names)


def test_import_lines_work() -> None:
    lines = re.findall(r"`(from ais_prompt[^`]*)`", (DOCS / "coming-from.md").read_text("utf-8"))
    assert lines
    for line in lines:
        exec(line, {})


@pytest.mark.thorough
def test_modules_and_names_that_pages_mention_are_there() -> None:
    """Dotted names in code, and paths of files below the package."""
    for page in BY_HAND:
        text = page.read_text("utf-8")
        for dotted in re.findall(r"`(ais_prompt(?:\.\w+)+)`", text):
            assert dotted in ENTRY_POINTS or find_dotted(dotted), f"{page.name}: {dotted}"
        for path in re.findall(r"`(?:ais_prompt/)?(\w+/[\w/]+\.py)`", text):
            folder = ROOT / "ais_prompt" / path.split("/")[0]
            assert not folder.is_dir() or (ROOT / "ais_prompt" / path).is_file(), f"{page.name}: {path}"


def find_dotted(name: str) -> object:
    """Return the module of a dotted name, or what the name in it means; None if there is none."""
    try:
        return pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return None


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in headings(page.read_text("utf-8"))}


IS_WHOLE = pytest.mark.skipif(
    set(json.loads(NAMES.read_text("utf-8")).values()) > shipped().keys(), reason="pages are missing"
)


@IS_WHOLE
def test_links_lead_somewhere() -> None:
    for page in LINKING:
        for target in links(page.read_text("utf-8")):
            if "://" in target:
                continue
            path, _, part = target.partition("#")
            file = (page.parent / path) if path else page
            assert file.exists(), f"{page.name} links to {target}, which does not exist"
            assert not part or part in anchors(file), f"{page.name} links to {target}: no such heading"


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_name_parts_that_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    named = set(re.findall(r"""\btype['"]?\s*[=:]\s*['"]([\w.]+)['"]""", text))
    own = set(re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE))
    parts = {name for kind in PARTS.values() for name in kind}
    known = parts | OTHER_TYPES | MISSPELT
    unknown = {name for name in named - known if not name.startswith("my_") and name.split(".")[-1] not in own}
    unknown = {name for name in unknown if not missing_extension(name)}
    assert unknown == set(), "no such parts, and the page defines none"


@pytest.mark.thorough
@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_have_the_options_that_pages_give_them(page: Path) -> None:
    """Each ``--option`` behind ``aisprompt VERB`` in code is one of the verb, or of no verb where none is named."""
    assert isinstance(main, click.Group)
    context = click.Context(main)
    wrong = []
    for line in command_lines(page.read_text("utf-8")):
        words = line.split()[1:]
        named = main.get_command(context, words[0]) if words and re.fullmatch(r"[a-z-]+", words[0]) else None
        command = named or main.get_command(context, "run")
        assert command
        taken = option_names(main) | option_names(command)
        words = as_written_here(words[named is not None :], command)  # options of other programs, such as --max-seq-len
        wrong += [(line, word) for word in words if re.match(r"--[a-z]", word) and word.split("=")[0] not in taken]
    assert wrong == []


def command_lines(text: str) -> list[str]:
    """The command lines of a page, in blocks and in the text, up to a pipe or a comment."""
    text = re.sub(r" *\\\n *", " ", text)
    found = re.findall(r"^(?:    |\$ )?(aisprompt .*)$|`(aisprompt [^`]*)`", text, re.MULTILINE)
    return [re.split(r" [|#&] ?", block or inline)[0] for block, inline in found]


def option_names(command: click.Command) -> set[str]:
    """The options of a verb, with those of its verbs."""
    verbs = command.commands.values() if isinstance(command, click.Group) else ()
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return own.union({"--help"}, *(option_names(verb) for verb in verbs))


@pytest.mark.thorough
def test_pages_that_the_program_names_are_there() -> None:
    files = (ROOT / "ais_prompt").rglob("*.py")
    named = {page for file in files for page in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text("utf-8"))}
    assert len(named) > 5
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []


@IS_WHOLE
def test_descriptions_of_arguments_refer_to_parts_that_are_described() -> None:
    described = {name for kind in PARTS.values() for name in kind}
    for kind in PARTS:
        page = DOCS / "reference" / f"{kind}.md"
        referred = re.findall(r"as in `(\w+)`", page.read_text("utf-8"))
        assert described.issuperset(referred), f"{page.name}: {set(referred) - described}"
