"""Hooks of MkDocs: the site also has the files outside ``docs/`` that its pages link to.

READMEs become the first pages of their languages, other pages of the repository keep their text, and a file of code
becomes a page that shows it. Links are written anew for the place that a page has in the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT: Final = Path(__file__).parents[1]
FIRST: Final = {"README.md": "index.md", "README.zh.md": "zh/index.md"}
"""READMEs → their places in the site."""
OUTSIDE: Final = "project/"
"""The folder of the site with everything else that lies outside ``docs/``."""
_FETCHED: Final = "https://unpkg.com/iframe-worker/shim"
_SHIPPED: Final = "assets/iframe-worker.js"
"""The one script that the theme would fetch: with it pages can be searched that are opened as files."""
_LINK: Final = re.compile(r"(?<=\]\()(?!https?://|#|mailto:)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the READMEs, and what is linked to outside ``docs/``, from there on as well."""
    waiting = [ROOT / name for name in FIRST]
    waiting += [Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path]
    while waiting:
        source = waiting.pop()
        uri = _uri(source)
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, content=_content(source)))
        waiting += [target for target in _targets(source) if files.get_file_from_path(_uri(target)) is None]
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Write the links of a page anew for its place in the site. The changelog is not searched."""
    uri = page.file.src_uri
    source = _source(uri)
    if source.name == "CHANGELOG.md":
        page.meta["search"] = {"exclude": True}

    def moved(link: re.Match[str]) -> str:
        return posixpath.relpath(_uri(_target(source, link[1])), posixpath.dirname(uri) or ".")

    return _LINK.sub(moved, markdown) if source.suffix == ".md" else markdown


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Load from the site what the theme would fetch."""
    return output.replace(_FETCHED, get_relative_url(_SHIPPED, page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same for the page that says that there is no such page."""
    return output_content.replace(_FETCHED, f"/{_SHIPPED}")


def _targets(source: Path) -> Iterator[Path]:
    """Yield the files to which a page of the repository links."""
    if source.suffix == ".md":
        yield from (_target(source, link) for link in _LINK.findall(source.read_text("utf-8")))


def _target(source: Path, link: str) -> Path:
    return Path(posixpath.normpath((source.parent / link).as_posix()))


def _uri(path: Path) -> str:
    """Return the place in the site of a file of the repository."""
    name = path.relative_to(ROOT).as_posix()
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return FIRST.get(name) or f"{OUTSIDE}{name}" + ("" if path.suffix == ".md" else ".md")


def _source(uri: str) -> Path:
    """Return the file of the repository that a page of the site shows."""
    readmes = {place: name for name, place in FIRST.items()}
    if uri.startswith(OUTSIDE):
        path = ROOT / uri.removeprefix(OUTSIDE)
        return path if path.is_file() else path.with_suffix("")
    return ROOT / (readmes.get(uri) or f"docs/{uri}")


def _content(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text("utf-8")
    language = {".py": "python", ".yml": "yaml"}.get(path.suffix, "text")
    return f"# {path.relative_to(ROOT).as_posix()}\n\n````{language}\n{path.read_text('utf-8')}````\n"
