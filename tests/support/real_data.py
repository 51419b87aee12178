"""Published data with references. Tests that use them are skipped where no folder ``shared/data`` lies above them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
REAL_DATA: Final = next(
    (data for above in (ROOT, *ROOT.parents) if (data := above / "shared/data").is_dir()), ROOT / "shared/data"
)
GSM8K: Final = REAL_DATA / "gsm8k"
BBH: Final = REAL_DATA / "bbh"
IFBENCH: Final = REAL_DATA / "ifbench"
HUMANEVAL: Final = REAL_DATA / "humaneval/HumanEval.jsonl.gz"


def needs(*paths: Path) -> pytest.MarkDecorator:
    """Return the marker of tests that are skipped without these files or folders."""
    missing = [str(path.relative_to(REAL_DATA.parent)) for path in paths if not path.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not at hand")
