"""How long it takes to lock all prompts of GSM8K, four shots in chat, and to check the lock.

    python -m bench.lock DATA          # the folder with GSM8K's train.jsonl and test.jsonl

Whole commands, beside `aisprompt check`, which reads the same config and data and renders one prompt. They take turns,
so that a busy moment of the machine hits all of them. Medians in seconds: processor time, and wall time, which
is longer on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

LINE_BREAK: Final = "datasets.0.infer_cfg.prompt_template.template.round.0.prompt={question}\nAnswer:"
"""A change of the template, as a command line makes it."""


class Times(NamedTuple):
    """Processor time of a command with its children, and wall time, in seconds."""

    processor: float
    wall: float


def commands() -> dict[str, list[str]]:
    """What is measured; the first one writes the lock that the others check."""
    config = ["--models", "local_server", "--datasets", "gsm8k_gen_4shot_chat"]
    return {
        "aisprompt lock": ["lock", *config, "-o", "gsm8k.lock"],
        "aisprompt lock --check": ["lock", *config, "-o", "gsm8k.lock", "--check"],
        "  the same after a change": ["lock", *config, "-o", "gsm8k.lock", "--check", "--set", LINE_BREAK],
        "aisprompt check": ["check", *config],
    }


def measure(folder: Path, repeats: int) -> dict[str, list[Times]]:
    """Name → times of each repetition."""
    times: dict[str, list[Times]] = {name: [] for name in commands()}
    for _ in range(repeats):
        for name, args in commands().items():
            times[name].append(_run(args, folder))
    return times


def _run(args: list[str], folder: Path) -> Times:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "ais_prompt", *args], cwd=folder, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return Times(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["AISPROMPT_DATA"] = str(folder / "data")
        _run(["data", "get", "gsm8k", "--from", str(options.data.resolve())], folder)
        for command, times in measure(folder, options.repeats).items():
            processor, wall = (statistics.median(values) for values in zip(*times, strict=True))
            print(f"{command:<26} {processor:5.2f} s of processor time, {wall:5.2f} s in all")
        print(f"the lock: {(folder / 'gsm8k.lock').stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
