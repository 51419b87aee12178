"""How long `aisprompt compare` takes for two runs of many samples.

    python -m bench.compare                # 10,000 samples each

The predictions are those of `bench.score`; the second run answers a tenth of them in another way. Measured is the
whole command in a process of its own, start-up included: its processor time, which other work on the machine does not
change, and its wall time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.types import Prediction
from bench.score import CONFIG, LETTERS, prediction


def changed(number: int) -> Prediction:
    """The prediction of the second run."""
    before = prediction(number)
    if number % 10:
        return before
    answer = LETTERS[number // 10 % 4] + " it is."
    return replace(before, prediction=answer, completions=(replace(before.completions[0], text=answer),))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=10_000)
    number = parser.parse_args().number
    with tempfile.TemporaryDirectory() as root:
        runs = [Path(root) / name for name in ("before", "after")]
        for run, make in zip(runs, (prediction, changed), strict=True):
            folder = RunFolder(run)
            run.mkdir()
            folder.config_file.write_text(CONFIG)
            write_predictions(folder.predictions("model", "questions"), map(make, range(number)))
            _aisprompt("score", str(run))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        _aisprompt("compare", *map(str, runs))
        wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"two runs of {number:,} samples: {used:.1f} s of processor time, {wall:.1f} s in all")


def _aisprompt(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "ais_prompt", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    main()
