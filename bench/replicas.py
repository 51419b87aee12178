"""How well a run uses the replicas of a model: uneven ones, one that is away for a while, two in place of one.

    python -m bench.replicas               # everything; --only faults or pair for a part
    python -m bench.replicas --rounds 1 --samples 1000

- ``faults``: three replicas, one 4 times as slow as the others, one killed 5 s after the first request and started
  again 10 s later. The ideal is what the servers can answer while they are there, with all their places taken.
- ``pair``: the same samples asked of two replicas, against one.

The latency is log-normal (mean 0.5 s, sigma 0.5) and follows from a hash of the prompt. The times are from the first
request to the last answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from bench.engine import CONFIG, lean_server, run_command, take_stats

LATENCY: Final = 0.5
SIGMA: Final = 0.5
CONCURRENCY: Final = 16
DOWN_AFTER: Final = 5.0
DOWN_SECONDS: Final = 10.0
SLOWNESS: Final = 4


@dataclass(frozen=True)
class Asking:
    """What asking took.

    Attributes:
        seconds: from the first request to the last answer.
        replicas: address → number of its answers; empty for a single server.
    """

    seconds: float
    replicas: Mapping[str, int]


def evaluate(urls: Sequence[str], samples: int) -> Asking:
    """Run the whole command with one model behind these servers; all answers must be there and right."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = ({"question": f"How much is {number} and 1?", "answer": "ok"} for number in range(samples))
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "eval.py").write_text(CONFIG.format(url=list(urls), concurrency=CONCURRENCY, client="aiohttp"))
        run_command([sys.executable, "-m", "ais_prompt", "run", "eval.py"], folder, urls[0])
        [summary] = folder.glob("outputs/eval/*/summary")
        [row] = json.loads((summary / "summary.json").read_text())
        if (row["score"], row["scored"]) != (1.0, samples):
            raise SystemExit(f"not all of {samples} samples are right: {row}")
        [speed] = json.loads((summary / "speed.json").read_text()).values()
        return Asking(speed["seconds"], speed.get("replicas", {}))


@contextmanager
def interrupted_server() -> Iterator[str]:
    """A server that is killed `DOWN_AFTER` seconds after its first request, and started again; its base URL."""
    over = threading.Event()
    with ExitStack() as first, ExitStack() as second:
        url = first.enter_context(lean_server(LATENCY, SIGMA))

        def interrupt() -> None:
            while not take_stats(url)["requests"]:
                if over.wait(0.05):
                    return
            time.sleep(DOWN_AFTER)
            first.close()
            time.sleep(DOWN_SECONDS)
            second.enter_context(lean_server(LATENCY, SIGMA, urlsplit(url).port or 0))

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        try:
            yield url
        finally:
            over.set()
            interrupting.join()


def report_faults(rounds: int, samples: int) -> None:
    """A slow replica, and one that is away for a while, against the ideal."""
    rate = CONCURRENCY / LATENCY
    ideal = (samples + rate * DOWN_SECONDS) / (rate * (2 + 1 / SLOWNESS))
    found = []
    for _ in range(rounds):
        with (
            lean_server(LATENCY, SIGMA) as fast,
            lean_server(SLOWNESS * LATENCY, SIGMA) as slow,
            interrupted_server() as away,
        ):
            asking = evaluate([fast, slow, away], samples)
            found.append(asking.seconds)
            print(f"  answers: {' '.join(str(asking.replicas[url]) for url in (fast, slow, away))}", flush=True)
    seconds = median(found)
    print(
        f"{samples:,} samples, 3 replicas, one {SLOWNESS} x as slow, one down for {DOWN_SECONDS:g} s: "
        f"{seconds:.1f} s, ideal {ideal:.1f} s, {seconds / ideal:.2f} x",
        flush=True,
    )


def report_pair(rounds: int, samples: int) -> None:
    """Two replicas against one server."""
    with lean_server(LATENCY, SIGMA) as one, lean_server(LATENCY, SIGMA) as other:
        alone = median(evaluate([one], samples).seconds for _ in range(rounds))
        both = median(evaluate([one, other], samples).seconds for _ in range(rounds))
    print(f"{samples:,} samples: 2 replicas {both:.1f} s, 1 server {alone:.1f} s, {both / alone:.2f} x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["faults", "pair"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=2_500, help="of faults; a third of them for pair")
    options = parser.parse_args()
    if options.only in (None, "faults"):
        report_faults(options.rounds, options.samples)
    if options.only in (None, "pair"):
        report_pair(options.rounds, options.samples // 3)


if __name__ == "__main__":
    main()
