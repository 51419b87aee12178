"""Each difference that `tools.real` excuses is one number of one run, and `docs/peer-results.md` says why."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.real.cases import CASES

ROOT: Final = Path(__file__).parents[3]
COLUMNS: Final = {"prompts", "requests", "predictions", "golds", "values", "scores", "tables", "import", "migrated"}


def test_every_excuse_names_one_number_and_its_line() -> None:
    lines = (ROOT / "tools/real/known.tsv").read_text(encoding="utf-8").splitlines()
    page = " ".join((ROOT / "docs/peer-results.md").read_text(encoding="utf-8").split())
    seen = set()
    for line in lines:
        case, column, where, reason = line.split("\t")
        assert case in CASES or case.startswith("drawn, "), line
        assert column in COLUMNS, line
        assert where, line
        assert len(reason) > 20, line
        assert reason in page, line
        assert (case, column, where) not in seen, line
        seen.add((case, column, where))
