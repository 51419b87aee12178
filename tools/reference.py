"""Write the reference in docs/, the files for agents and the stub of the package: ``python -m tools.reference``.

The pages are what `aisprompt describe` shows. They are committed, so that links to them work in a clone.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ais_prompt.extension import import_object, shipped
from ais_prompt.extensions.describe.command import command_entries
from ais_prompt.extensions.describe.file_entries import FILES, schema_of
from ais_prompt.extensions.describe.lookup import entries
from ais_prompt.extensions.describe.programs import LLMS, SKILL, llms_txt, skill
from ais_prompt.types import REQUIRED, Argument, Entry
from tools import differences
from tools.stub import NAMES, STUB, names_of_extensions, stub

ROOT: Final = Path(__file__).parents[1]
INDEX: Final = Path("docs/reference.md")
FOLDER: Final = Path("docs/reference")
SCHEMAS: Final = FOLDER / "schemas"

PAGES: Final = {
    "config": ("Keys of a config", "Every dict that a config may hold, and every key that it may have."),
    "models": ("Models", "`type` of a model, its arguments, and the values that hold its options."),
    "transports": ("Transports", "What sends the requests: `client` of a model behind an API."),
    "readers": ("Readers", "`type` of a dataset, and its arguments."),
    "retrievers": ("Retrievers", "`infer_cfg.retriever`: which in-context examples are shown."),
    "encoders": ("Encoders", "`encoder` of retrievers that compare texts by their meaning."),
    "templates": ("Prompt templates", "`infer_cfg.prompt_template` and `infer_cfg.ice_template`."),
    "inferencers": ("Inferencers", "`infer_cfg.inferencer`: which requests a sample needs."),
    "postprocessors": ("Postprocessors", "`pred_postprocessor` and `dataset_postprocessor` of `eval_cfg`."),
    "evaluators": ("Evaluators", "`eval_cfg.evaluator`: what compares answers with golds."),
    "partitioners": ("Partitioners", "`partitioner`: which shard asks which datasets."),
    "runners": ("Runners", "`--runner`: where the shards of a run are started."),
    "commands": ("Commands", "Every command of `aisprompt`, and its options."),
    "errors": ("Errors", "Every error, and the exit code of the command line."),
    "files": (
        "Files of a run folder",
        "What they hold, with JSON schemas. [The run folder](../run-folder.md) explains them.",
    ),
    "environment": ("Environment variables", "The variables that a run reads, and work without a network."),
    "python": ("Python names", "Functions, results, protocols and values. [Python](../python.md) explains them."),
}
"""Group of entries → title and first line of its page."""

LISTS: Final = {
    "benchmarks": ("Benchmarks", "Data, prompt and metric of each shipped benchmark"),
    "counterparts": ("Counterparts", "Parts of OpenCompass and AISBench that need no installation of theirs"),
    "differences": ("Differences", "Where prompts differ from those of OpenCompass, AISBench and torchtune"),
}
"""Pages that other modules write → title, and what they hold."""

OF_EXTENSIONS: Final = {"benchmarks": {"benchmarks"}, "counterparts": {"benchmarks", "peers"}}
"""Page → the extensions that it is about: module of its name here, which has ``page()``."""

USAGE_SHOWN: Final = ("config", "commands", "files")
"""Groups of which a page shows how an entry is written; the names of others are enough."""

INTRODUCTION: Final = """\
# Reference

`aisprompt describe NAME` shows the same in a terminal, and offers near names. A dot leads to one key:
`aisprompt describe reader_cfg.test_range`. The pages are made from the signatures, docstrings and tables of the
program, which `check` uses, too.

| page | |
|---|---|
"""


def pages() -> dict[Path, str]:
    """Return path → content of everything that is written, relative to the top of the repository."""
    groups: dict[str, list[Entry]] = {group: [] for group in PAGES}
    for entry in (*entries(), *command_entries()):
        groups[entry.group].append(entry)
    made = {FOLDER / f"{group}.md": _page(group, found) for group, found in groups.items()}
    rows = [
        f"| [{title}](reference/{group}.md) | {about.partition('. ')[0].rstrip('.')} |"
        for group, (title, about) in PAGES.items()
    ]
    rows += [f"| [{title}](reference/{page}.md) | {about} |" for page, (title, about) in LISTS.items()]
    made[INDEX] = INTRODUCTION + "\n".join(rows) + "\n"
    for file in FILES:
        if file.shape is not None:
            text = json.dumps(schema_of(file), ensure_ascii=False, indent=2) + "\n"
            made[SCHEMAS / f"{file.name.removesuffix('.json')}.json"] = text
    made[Path("docs") / LLMS] = llms_txt(groups["commands"], _site_pages())
    made[Path("docs") / f"{SKILL}.txt"] = skill(groups["commands"])  # with .md it would become a page
    made[STUB.relative_to(ROOT)] = stub()
    made[NAMES.relative_to(ROOT)] = names_of_extensions()
    for page, needed in OF_EXTENSIONS.items():
        if needed <= shipped().keys():
            made[FOLDER / f"{page}.md"] = import_object(f"tools.{page}:page")()
    made[FOLDER / "differences.md"] = differences.render(differences.load_cases(), differences.load_entries())
    return made


def _site_pages() -> list[tuple[str, str]]:
    """Return address and title of the pages of the site that are written by hand."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    titles = [(page, page.read_text("utf-8").partition("\n")[0]) for page in pages if page != ROOT / INDEX]
    return [(f"{page.stem}.html", title.removeprefix("# ")) for page, title in titles]


def _page(group: str, found: list[Entry]) -> str:
    title, about = PAGES[group]
    return "\n".join([f"# {title}", "", about, "", *(line for entry in found for line in _section(entry))])


def _section(entry: Entry) -> Iterator[str]:
    yield f"## {entry.name}"
    yield ""
    yield _markdown(entry.summary)
    yield ""
    if entry.usage and entry.group in USAGE_SHOWN:
        yield f"`{entry.usage}`"
        yield ""
    for block in filter(None, _markdown(entry.text).replace("::\n", ":\n").split("\n\n")):
        yield textwrap.indent(block, "    ") if block.startswith(">>>") else block
        yield ""
    if entry.arguments:
        yield from _table(entry.arguments)
        yield ""
    for title, text in entry.facts:
        yield f"- {title}: {_markdown(text)}"
    if entry.facts:
        yield ""


def _table(arguments: tuple[Argument, ...]) -> Iterator[str]:
    has_defaults = any(argument.default for argument in arguments)
    yield "| name | type | meaning |" + (" default |" if has_defaults else "")
    yield "|---|---|---|" + ("---|" if has_defaults else "")
    for argument in arguments:
        cells = [f"`{argument.name}`", _cell(argument.kind), _cell(argument.meaning)]
        yield f"| {' | '.join([*cells, *([_default(argument)] if has_defaults else [])])} |"


def _default(argument: Argument) -> str:
    """Return a default as code if it is a value, and as it is if it is a description."""
    is_value = argument.default in ("None", "True", "False") or argument.default[:1] in tuple("'\"([{-0123456789")
    return (
        f"`{argument.default}`" if argument.default and is_value and argument.default != REQUIRED else argument.default
    )


def _cell(text: str) -> str:
    return _markdown(text).replace("|", "\\|").replace("\n", " ")


def _markdown(text: str) -> str:
    """Return a docstring's text as Markdown."""
    return text.replace("``", "`").replace("`~", "`")


def write() -> None:
    """Write everything. Files that are up to date stay untouched."""
    for path, content in pages().items():
        file = ROOT / path
        if not file.exists() or file.read_text("utf-8") != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    write()
