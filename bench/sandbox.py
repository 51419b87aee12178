"""Time of HumanEval's own solutions in the sandbox, and whether all of them pass.

    python -m bench.sandbox HumanEval.jsonl.gz
    python -m bench.sandbox HumanEval.jsonl.gz --beside ../before     # the same, in turns with another checkout

``--beside`` runs the package of another folder in between, so that both meet the same load of the machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any


def main() -> None:
    """Measure, and print a line for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--beside", type=Path, help="folder of another checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", action="store_true", help="measure once, and print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.data)))
        return
    folders = [Path.cwd(), *([options.beside] if options.beside else [])]
    found: dict[Path, list[dict[str, Any]]] = {folder: [] for folder in folders}
    for _ in range(options.rounds):
        for folder in folders:
            found[folder].append(_measure_in(folder, options.data))
    for folder, rounds in found.items():
        seconds = median(one["seconds"] for one in rounds)
        passed, programs = min(one["passed"] for one in rounds), rounds[0]["programs"]
        print(f"{folder}: {passed} of {programs} pass, {seconds:.1f} s, {seconds / programs * 1000:.0f} ms each")
    if options.beside:
        here, there = (median(one["seconds"] for one in found[folder]) for folder in folders)
        print(f"ratio {here / there:.2f}")


def measure(data: Path) -> dict[str, Any]:
    """Score the canonical solutions once."""
    from ais_prompt.extensions.programs.evaluator import HumanEvalEvaluator

    with gzip.open(data, "rt", encoding="utf-8") as stream:
        problems = [json.loads(line) for line in stream]
    evaluator = HumanEvalEvaluator(allow_code_execution=True, timeout=60)
    begin = time.perf_counter()
    passed = sum(evaluator.score(problem["canonical_solution"], problem)["accuracy"] for problem in problems)
    return {"programs": len(problems), "passed": int(passed), "seconds": time.perf_counter() - begin}


def _measure_in(folder: Path, data: Path) -> dict[str, Any]:
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--one", str(data.resolve())]
    environment = {**os.environ, "PYTHONPATH": str(folder.resolve())}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
