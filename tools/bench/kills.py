"""A run that is killed (`kill -9`) at random moments and taken up again each time: what is lost, what is asked twice.

    python -m tools.bench.kills                  # 50 moments; --kills 10 --seed 1 for others

The mock server counts. At the end the predictions must be those of an undisturbed run, and no request whose
answer was in the journal when the run was killed may have been sent again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

from tools.bench.engine import CONFIG, ROOT

COMMAND: Final = [sys.executable, "-m", "ais_prompt", "run", "eval.py"]


class Bench:
    """A folder with a config, and the server that its model is behind.

    Args:
        folder: the folder.
        url: base URL of the server.
        samples: how many questions there are.
    """

    def __init__(self, folder: Path, url: str, samples: int) -> None:
        self.folder = folder
        self.url = url
        rows = ({"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(samples))
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "eval.py").write_text(CONFIG.format(url=url, concurrency=16, client="aiohttp"))

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the command."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*COMMAND, *options], cwd=self.folder, env=environment, stdout=quiet, stderr=quiet)

    def ask_server(self, path: str) -> Any:
        """What the server has counted."""
        with urlopen(self.url.removesuffix("v1") + path, timeout=30) as reply:
            return json.load(reply)

    def finished(self) -> set[str]:
        """Ids of the samples whose answers are in the journal."""
        lines = [
            line for path in self.folder.glob("outputs/*/*/journal/*/*") for line in path.read_bytes().split(b"\n")
        ]
        return {json.loads(line)["sample_id"] for line in lines[:-1]}

    def predictions(self) -> list[dict[str, Any]]:
        """The predictions of the only run."""
        [path] = self.folder.glob("outputs/*/*/predictions/*/*")
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def measure(bench: Bench, kills: int, seed: int) -> str:
    """Kill, take up again, compare; what came of it, in a sentence."""
    moments = random.Random(seed)
    marks: list[tuple[int, set[str]]] = []  # requests so far, and the samples that were finished
    done = 0
    for _ in range(kills):
        process = bench.start(*(["-r"] if marks else []))
        target = done + moments.randrange(1, 40)
        while process.poll() is None and _requests(bench) < target:
            time.sleep(0.01)
        time.sleep(moments.random() / 20)
        process.kill()
        process.wait()
        done = _requests(bench)
        marks.append((done, bench.finished()))
    if bench.start("-r").wait():
        raise SystemExit("the last run failed")
    predictions = bench.predictions()
    wrong = sum(line["prediction"] != line["gold"] for line in predictions)
    prompts = {line["id"]: json.dumps(line["origin_prompt"]) for line in predictions}
    asked = [json.dumps(request["body"]["messages"]) for request in bench.ask_server("requests")]
    twice = sum(len({prompts[sample] for sample in finished} & {*asked[count:]}) for count, finished in marks)
    return (
        f"{kills} kills, {len(predictions)} predictions, {wrong} wrong or missing, {len(asked)} requests, "
        f"{twice} finished requests sent again"
    )


def _requests(bench: Bench) -> int:
    return int(bench.ask_server("stats")["requests"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=1500)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        command = [sys.executable, "-m", "tools.mock_server", "--latency", "0.05"]
        server = stack.enter_context(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        stack.callback(server.kill)
        assert server.stdout
        print(measure(Bench(folder, server.stdout.readline().strip(), options.samples), options.kills, options.seed))


if __name__ == "__main__":
    main()
