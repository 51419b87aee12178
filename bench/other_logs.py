"""How long does `aisprompt explain` take for two large logs of other tools, and how much memory?

    python -m bench.other_logs --samples 200000

Both logs are in the form of lm-evaluation-harness; every tenth answer differs. Printed are seconds on the clock and of
the processor, and the largest resident memory of the whole command. A busy machine needs more seconds on the clock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.extensions.logs.writers import Asked, write_lm_eval


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200_000, help="of each log")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in "ab":
            (Path(folder) / name).mkdir()
            write_lm_eval(Path(folder) / name, [_asked(number, name) for number in range(options.samples)])
            for samples in (Path(folder) / name).glob("samples*"):  # one filter is enough
                lines = samples.read_text("utf-8").splitlines(keepends=True)
                samples.write_text("".join(line for line in lines if '"filter": "strict"' in line), "utf-8")
        command = [sys.executable, "-m", "ais_prompt", "explain", "a", "b", "--pairs", "0"]
        start = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
    if status:
        sys.exit(f"explain failed with status {status}")
    processor = usage.ru_utime + usage.ru_stime
    memory = usage.ru_maxrss / 1024
    print(f"\n{options.samples:,} samples: {seconds:.1f} s, {processor:.1f} s of the processor, {memory:.0f} MB")


def _asked(number: int, log: str) -> Asked:
    """Return a question with its answer, which is another in the second log for every tenth number."""
    gold = str(number)
    said = f"{number + 1}" if number % 10 == 0 and log == "b" else gold
    text = f"Let us count {number % 97} apples and the others, one after the other.\nANSWER: {said}"
    return Asked(f"How many apples are {number} apples?", gold, text, said, float(said == gold))


if __name__ == "__main__":
    main()
