"""A static site of several runs: every link of it leads to one of its files, and it asks no server."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from tests.core.e2e.project import Project


@pytest.mark.thorough
def test_a_site_of_two_runs(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    other = "dict(type='ScriptedModel', abbr='other', answers={}, default='6')"
    project.write_config(models=other)
    assert project.run("run", "eval.py", "-w", "elsewhere").returncode == 0
    [second] = (project.root / "elsewhere" / "eval").iterdir()
    (second / "report.html").unlink()  # a run without a report gets one
    runs = [str(project.folder()), str(second)]
    if second.name == project.folder().name:  # both in the same second
        runs[1] = str(second.rename(second.with_name(f"{second.name}_2")))
    done = project.run("bundle", *runs, "-o", "site", "--json")
    assert done.returncode == 0, done.stderr
    site = project.root / "site"
    assert json.loads(done.stdout)["runs"] == 2
    for page in (site / "index.html", site / "matrix.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            assert (site / unescape(link)).is_file(), (page, link)
    index = (site / "index.html").read_text()
    addresses = re.findall(r'"address": "([^"]+)"', index)
    assert len(addresses) == 2
    assert all((site / address).is_file() for address in addresses)
    matrix = (site / "matrix.html").read_text()
    assert "25.0 %" in matrix
    assert ">other<" in matrix

    again = project.run("bundle", runs[0], "-o", "site")
    assert (again.returncode, "the folder is not empty" in again.stderr) == (2, True)
    twice = project.run("bundle", runs[0], runs[0], "-o", "new")
    assert (twice.returncode, "is named twice" in twice.stderr) == (2, True)
    assert not (project.root / "new").exists()
