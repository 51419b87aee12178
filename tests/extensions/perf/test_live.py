"""The counts of a load while it runs."""

from __future__ import annotations

import json
from pathlib import Path

from ais_prompt.extensions.perf.load_files import LoadCounter


def test_counts_are_written_and_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "performances" / "m" / "d_live.json"
    counter = LoadCounter(path, "m/d", 10)
    assert 0 < counter.wait <= 1
    for _ in range(6):
        counter.sent()
    for failed in (False, False, True):
        counter.ended(failed=failed)
    counter.write()
    stored = json.loads(path.read_text())
    assert stored.pop("per_second") > 0
    assert stored == {"task": "m/d", "requests": 10, "sent": 6, "in_flight": 3, "answered": 2, "failed": 1}
    assert str(counter.progress).startswith("6 of 10 sent · 3 in flight · 2 answered · 1 failed · ")
    counter.close()
    assert not path.exists()


def test_a_plan_that_is_exceeded_is_not_shown(tmp_path: Path) -> None:
    counter = LoadCounter(tmp_path / "d_live.json", "m/d", 1)
    counter.sent()
    counter.sent()
    counter.write()
    assert counter.progress.requests is None
    assert str(counter.progress).startswith("2 sent · 2 in flight")
