"""The documentation as a site: it is built without a warning, and searched in a browser without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.servers import ROOT
from tools.chromium import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr  # mkdocs.yml: a link that leads nowhere is an error
    return folder


@pytest.mark.parametrize("word", ["perplexity", "检索", "提示词", "推理器", "少样本", "温度"])
def test_a_page_that_is_opened_as_a_file_is_searched(site: Path, chromium: Page, word: str) -> None:
    chromium.resize(1400, 900)
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.open((site / "tutorial.html").as_uri())
    chromium.click("[data-md-component=search-query]")
    chromium.type(word)
    chromium.wait_for("document.querySelectorAll('.md-search-result__item').length > 0")
    assert word in " ".join(chromium.texts(".md-search-result")).lower()
    assert not chromium.complaints
    assert not [url for url in chromium.requests if url.startswith("http")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_shown_in_light_and_dark(site: Path, chromium: Page, scheme: str) -> None:
    chromium.resize(1400, 900, scheme)
    chromium.open((site / "zh" / "retrievers.html").as_uri())
    chromium.wait_for("document.body.dataset.mdColorScheme")
    assert chromium.value("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
    assert chromium.texts("article h1")


def test_files_outside_the_pages_are_part_of_the_site(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert (site / "project" / "CHANGELOG.html").is_file()
    searched = (site / "search" / "search_index.json").read_text("utf-8")
    assert "tutorial.html" in searched
    assert "CHANGELOG.html" not in searched
    shown = (site / "project" / "configs" / "examples" / "images.py.html").read_text("utf-8")
    assert "ScriptedModel" in shown
