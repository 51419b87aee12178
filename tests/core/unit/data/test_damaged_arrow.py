"""A damaged or hostile Arrow file of a saved dataset is an error, and never ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import WATCHDOG_SECONDS

datasets = pytest.importorskip("datasets")
pytestmark = pytest.mark.process

# In a process of its own: a fault would be a segmentation fault.
READING = """
import random, sys
from pathlib import Path
from ais_prompt.errors import DataError
from ais_prompt.data.local import LocalDataset

folder = Path(sys.argv[1])
[file] = folder.rglob("*.arrow")
good, rng, refused = file.read_bytes(), random.Random(0), 0
for _ in range(180):
    content = bytearray(good)
    for _ in range(rng.choice([1, 3, 30])):
        place = rng.randrange(0, len(good) - 8) // 4 * 4
        value = rng.choice([2**31 - 1, -1, 2**30, 0, 1, rng.randrange(2**31)])
        content[place : place + 4] = value.to_bytes(4, "little", signed=True)
    file.write_bytes(content[: rng.choice([len(content), len(content), rng.randrange(len(content))])])
    try:
        for row in LocalDataset(str(folder)).read("test"):
            str(row)
    except DataError:
        refused += 1
print(refused)
"""


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    rows = [{"question": f"q{n} " + "x" * (n % 50), "answer": n, "list": [str(n)] * (n % 3)} for n in range(300)]
    datasets.DatasetDict(test=datasets.Dataset.from_list(rows)).save_to_disk(str(tmp_path / "saved"))
    words = [sys.executable, "-c", READING, str(tmp_path / "saved")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 90
