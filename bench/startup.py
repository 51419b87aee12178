"""How long help, lists and the way of a run to its first request take, beside a bare interpreter.

    python -m bench.startup                    # this checkout
    python -m bench.startup --tree ../before   # another checkout as well, in this environment

The commands take turns, so that a busy moment of the machine hits all of them. Medians of wall time in seconds.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.engine import ROOT
from bench.suite import CONFIG, DATASETS, write_parts

SAMPLES: Final = 10
PROGRAM: Final = (sys.executable, "-m", "ais_prompt")


def measure(trees: Sequence[Path], repeats: int, folder: Path, server: socket.socket) -> dict[str, float]:
    """Return what was measured → its median in seconds.

    Args:
        trees: checkouts.
        repeats: how often each command runs, after one run that makes the bytecode.
        folder: with the config of a run.
        server: listens where the run asks.
    """
    ways: dict[str, Callable[[], float]] = {
        "python -c pass": lambda: _seconds([sys.executable, "-c", "pass"], folder, {}),
        "import click": lambda: _seconds([sys.executable, "-c", "import click"], folder, {}),
    }
    for tree in trees:
        name, path = "this" if tree == ROOT else str(tree), {"PYTHONPATH": str(tree.resolve())}
        ways |= {
            f"{name}: --help": lambda path=path: _seconds([*PROGRAM, "--help"], folder, path),  # type: ignore[misc]
            f"{name}: list": lambda path=path: _seconds([*PROGRAM, "list"], folder, path),  # type: ignore[misc]
            f"{name}: first request": lambda path=path: _first_request(folder, path, server),  # type: ignore[misc]
        }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(repeats + 1):
        for name, way in ways.items():
            seconds = way()
            if repeat:
                times[name].append(seconds)
    return {name: statistics.median(values) for name, values in times.items()}


def _seconds(command: Sequence[str], folder: Path, path: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=_environment(path))
    return time.perf_counter() - start


def _first_request(folder: Path, path: dict[str, str], server: socket.socket) -> float:
    """Start a run, and return how long it takes until it calls the server; then kill it."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [*PROGRAM, "run", "eval.py"],
        cwd=folder,
        env=_environment(path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server.settimeout(60)
    calls = [server.accept()[0]]
    seconds = time.perf_counter() - start
    process.kill()
    process.wait()
    server.settimeout(0.05)
    try:
        while True:
            calls.append(server.accept()[0])
    except TimeoutError:
        for call in calls:
            call.close()
    return seconds


def _environment(path: dict[str, str]) -> dict[str, str]:
    """Return the environment of a command, which keeps the bytecode that it makes."""
    return {**os.environ, **path, "PYTHONDONTWRITEBYTECODE": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--tree", type=Path, action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        folder = Path(name)
        write_parts(folder, 1, SAMPLES)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (folder / "eval.py").write_text((CONFIG + DATASETS).format(urls=[url], parts=1, concurrency=SAMPLES))
        medians = measure([ROOT, *options.tree], options.repeats, folder, server)
    base = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<30} {seconds:6.3f} s   {seconds / base:5.1f} times the bare interpreter")


if __name__ == "__main__":
    main()
