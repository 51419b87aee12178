"""How long help and lists take, side by side with a bare interpreter and with click alone.

    python -m tools.bench.startup            # the installed aisprompt of this environment

The commands take turns, so that a busy moment of the machine hits all of them. Medians of wall time in seconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path


def commands() -> dict[str, list[str]]:
    """What is measured; the bare interpreter is the base of the ratios."""
    program = str(Path(sys.executable).with_name("aisprompt"))
    if shutil.which(program) is None:
        raise SystemExit(f"there is no {program}: pip install . first")
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import click": [sys.executable, "-c", "import click"],
        "aisprompt --help": [program, "--help"],
        "aisprompt list": [program, "list"],
    }


def measure(repeats: int) -> dict[str, float]:
    """Name → median wall time in seconds."""
    times: dict[str, list[float]] = {name: [] for name in commands()}
    for _ in range(repeats):
        for name, command in commands().items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=21)
    medians = measure(parser.parse_args().repeats)
    base = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<20} {seconds:6.3f} s   {seconds / base:5.1f} times the bare interpreter")


if __name__ == "__main__":
    main()
