"""``--data FILE`` for one table in formats that people have: each gives the same prompts, as does its saved config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import run_cli
from tests.support.sheets import write_ods, write_xlsx

SERVER = ("--url", "http://127.0.0.1:9/v1", "--model", "m")
SHOW = ("view-prompt", "--all", "--count", "9", "--json")
TABLE = [["question", "answer"], ["Où est né Émile Zola ?", "à Paris"], ["Combien font 2,5 + 2 ?", "4,5"]]


def write_all(folder: Path) -> list[str]:
    """Write the table in each format, and return what ``--data`` names."""
    semicolons = "".join(";".join(row) + "\r\n" for row in TABLE)
    rows = [dict(zip(TABLE[0], row, strict=True)) for row in TABLE[1:]]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    files = {
        "excel.csv": semicolons.encode("cp1252"),
        "named.csv": ("sep=;\r\n" + semicolons).encode("utf-8-sig"),
        "unicode.txt": semicolons.replace(";", "\t").encode("utf-16"),
        "lines": lines.encode(),
        "lines.json": lines.encode(),
        "list.jsonl": json.dumps(rows, indent=1).encode(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    write_xlsx(folder / "sheet.xlsx", {"Other": [["x"]], "My sheet": TABLE})
    write_ods(folder / "sheet.ods", {"First": TABLE})
    return [*files, "sheet.xlsx#My sheet", "sheet.ods"]


@pytest.mark.thorough
def test_each_format_gives_the_same_prompts(tmp_path: Path) -> None:
    prompts = {}
    for name in write_all(tmp_path):
        shown = run_cli(*SHOW, *SERVER, "--data", name, folder=tmp_path)
        assert shown.returncode == 0, (name, shown.stderr)
        saved = run_cli("run", *SERVER, "--data", name, "--save-config", f"{len(prompts)}.py", folder=tmp_path)
        assert saved.returncode == 0, (name, saved.stderr)
        again = run_cli(*SHOW, f"{len(prompts)}.py", folder=tmp_path)
        assert again.stdout == shown.stdout, name
        prompts[name] = [(row["prompt"], row["gold"]) for row in json.loads(shown.stdout)]
    assert len({json.dumps(shown) for shown in prompts.values()}) == 1, prompts


def test_what_cannot_be_read_is_three_lines(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "a.xlsx", {"S": [["question", "answer"], ["1+1", "#N/A"]]})
    (tmp_path / "b.csv").write_bytes("otázka,odpověď\nJaké je hlavní město České republiky?,příliš\n".encode("cp1250"))
    (tmp_path / "c").write_text("What is it?\n")
    for name, what, where, fix in (
        ("a.xlsx", "the cell B2 holds the error", "a.xlsx#S:2", "correct it"),
        ("a.xlsx#T", "no sheet 'T'", "a.xlsx", "S"),
        ("b.csv", "not UTF-8 text", "b.csv", "set encoding"),
        ("c", "neither the ending nor the content", "/c", "set format"),
    ):
        done = run_cli("check", *SERVER, "--data", name, folder=tmp_path)
        assert done.returncode == 2, done.stderr
        first, second, third = done.stderr.strip().splitlines()
        assert what in first
        assert second.endswith(where)
        assert fix in third
