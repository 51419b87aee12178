"""Files of a run folder that do not belong together are named, by every verb that reads them; none ends with 70."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from ais_prompt.catalog import EXPORTERS
from tests.core.e2e.project import Project

LINES = Callable[[list[str]], list[str]]
SPECIAL: Final = {"otel", "ratings"}
"""Forms for runs of agents, and of judges that compare models."""

CHANGES: dict[str, LINES] = {
    "empty": lambda _: [],
    "blank": lambda _: ["\n"],
    "first only": lambda lines: lines[:1],
    "first missing": lambda lines: lines[1:],
    "last missing": lambda lines: lines[:-1],
    "reversed": lambda lines: lines[::-1],
    "twice": lambda lines: lines + lines,
    "other samples": lambda lines: [line.replace('"id":"', '"id":"f') for line in lines],
    "one more": lambda lines: [*lines, lines[0].replace('"id":"', '"id":"f').replace('"index":0', '"index":8')],
}
VERBS = (
    *(
        ("compare", "{changed}", "{whole}"),
        ("compare", "{whole}", "{changed}"),
        ("compare", "{whole}", "{changed}", "--json"),
    ),
    *(("export", "{changed}", "--to", form) for form in ("csv", "parquet", "eee", "inspect", "lm-eval")),
    *(("baseline", "{changed}", "-o", "b.json"), ("diff", "{changed}", "{whole}"), ("status", "{changed}")),
    *(("run", "eval.py", "-m", "viz", "-r", "{changed}"), ("score", "{changed}"), ("merge", "{changed}")),
)


@pytest.mark.thorough
@pytest.mark.grid(len(CHANGES))
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["predictions", "results"])
def test_predictions_and_results_that_differ_are_named(project: Project, kind: str, change: str) -> None:
    for _ in range(2):
        assert project.run("run", "eval.py").returncode == 0
    whole, changed = sorted((project.root / "outputs" / "eval").iterdir())
    name = "sums.jsonl" if kind == "predictions" else "sums.json"
    path = changed / kind / "fake" / name
    before = path.read_text()
    for verb in VERBS:
        path.write_text(changed_text(before, CHANGES[change], is_object=kind == "results"))
        done = project.run(*(word.format(whole=whole, changed=changed) for word in verb))
        assert done.returncode in (0, 1, 2, 3), (verb, done.stderr)
        assert "Traceback" not in done.stderr, verb


def changed_text(text: str, change: LINES, *, is_object: bool) -> str:
    if not is_object:
        return "".join(change(text.splitlines(keepends=True)))
    values = json.loads(text)
    details = [json.dumps(one, separators=(",", ":")) for one in values["details"]]
    values["details"] = [json.loads(line) for line in change(details) if line.strip()]
    return json.dumps(values, separators=(",", ":"))


@pytest.mark.thorough
@pytest.mark.parametrize("change", ["empty", "first only", "other samples"])
def test_compare_names_the_predictions_that_are_not_those_of_the_results(project: Project, change: str) -> None:
    for _ in range(2):
        assert project.run("run", "eval.py").returncode == 0
    whole, changed = sorted((project.root / "outputs" / "eval").iterdir())
    path = changed / "predictions" / "fake" / "sums.jsonl"
    path.write_text(changed_text(path.read_text(), CHANGES[change], is_object=False))
    for runs in ((whole, changed), (changed, whole)):
        done = project.run("compare", *map(str, runs))
        assert (done.returncode, str(path) in done.stdout) == (1, True), done.stdout + done.stderr
        assert f"aisprompt score {changed}" in done.stdout
    assert project.run("score", str(changed)).returncode in (0, 1, 2)


@pytest.mark.thorough
@pytest.mark.parametrize("form", sorted(EXPORTERS.keys() - SPECIAL))
def test_no_export_has_a_sample_twice(project: Project, form: str) -> None:
    assert project.run("run", "eval.py").returncode == 0
    path = project.folder() / "predictions" / "fake" / "sums.jsonl"
    path.write_text(path.read_text() * 2)
    done = project.run("export", "latest", "--to", form, "-o", "out")
    assert (done.returncode, f"{path.relative_to(project.root)}\n" in done.stderr) == (2, True), done.stderr
    assert "two predictions have the id" in done.stderr


def test_no_file_of_a_run_has_a_cell_that_is_a_formula(project: Project) -> None:
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='=HYPERLINK(1)\\r@SUM(A1)\\n-2')")
    assert project.run("run", "eval.py").returncode == 0
    assert project.run("export", "latest", "--to", "csv", "-o", "tables").returncode == 0
    paths = [*Path(project.root / "tables").glob("*.csv"), *project.folder().rglob("*.csv")]
    assert len(paths) >= 3
    for path in paths:
        with path.open(encoding="utf-8", newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert not [cell for cell in cells if cell[:1] in tuple("=+@\t\r\n")]
