"""A run that is killed (`kill -9`) at random moments and resumed each time: what is lost, what is asked twice.

    python -m bench.kills                  # 50 moments; --kills 10 --seed 1 for others
    python -m bench.kills --shards 4 7 2   # shards that are killed together, in 4, then 7, then 2 parts

The run has 20 datasets and two models: one behind a server, one behind two replicas. The servers count. At the end the
predictions must be those of an undisturbed run, and no request whose answer was in the journal when the run was killed
may have been sent again.
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
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

from bench.engine import ROOT
from bench.suite import DATASETS

COMMAND: Final = [sys.executable, "-m", "ais_prompt", "run", "eval.py"]
CONFIG: Final = """
models = [
    dict(type='OpenAIChatModel', abbr='model%d' % number, model='mock%d' % number, base_url=urls, max_concurrency=8)
    for number, urls in enumerate({urls!r})
]
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a run that was killed again and again.

    Attributes:
        predictions, wrong: lines of all predictions, and those that are not the right answer.
        requests: what the servers were sent.
        twice: requests whose answer was in the journal at a kill, and that were sent again.
        repeated: answers that a journal holds twice.
    """

    predictions: int
    wrong: int
    requests: int
    twice: int
    repeated: int


class Bench:
    """A folder with a config, and the servers that its models are behind.

    Args:
        folder: the folder.
        urls: base URLs of the servers of each model.
        parts: number of datasets.
        samples: questions in each.
    """

    def __init__(self, folder: Path, urls: Sequence[Sequence[str]], parts: int, samples: int) -> None:
        self.folder = folder
        self.urls = [url for each in urls for url in each]
        for part in range(parts):
            numbers = range(part * samples, (part + 1) * samples)
            rows = ({"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in numbers)
            (folder / f"part{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "eval.py").write_text((CONFIG + DATASETS).format(urls=[list(each) for each in urls], parts=parts))

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the command."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with (self.folder / "output.txt").open("ab") as output:
            return subprocess.Popen(
                [*COMMAND, *options], cwd=self.folder, env=environment, stdout=output, stderr=output
            )

    def requests(self) -> int:
        """How many requests the servers were sent so far."""
        return sum(int(_ask(url, "stats")["requests"]) for url in self.urls)

    def asked(self) -> list[list[str]]:
        """Model and question of each request, in order, of each server."""
        return [[_name(request["body"]) for request in _ask(url, "requests")] for url in self.urls]

    def journal(self) -> list[tuple[str, str]]:
        """Model and id of each answer in the journals."""
        return [
            (path.parent.name, json.loads(line)["sample_id"])
            for pattern in ("journal", "shards/*/journal")
            for path in self.folder.glob(f"outputs/*/*/{pattern}/*/*")
            for line in path.read_bytes().split(b"\n")[:-1]
        ]

    def predictions(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The predictions of the only run, by model and id."""
        lines: dict[tuple[str, str], dict[str, Any]] = {}
        for path in self.folder.glob("outputs/*/*/predictions/*/*"):
            found = map(json.loads, path.read_text("utf-8").splitlines())
            lines |= {(path.parent.name, line["id"]): line for line in found}
        return lines


def measure(bench: Bench, kills: int, seed: int, step: int = 40, shards: Sequence[int] = ()) -> Outcome:
    """Kill a run, resume it, and compare at the end.

    Args:
        bench: the run.
        kills: how often.
        seed: of the moments.
        step: requests until the next kill at most.
        shards: numbers of shards that work at once and are killed at once, one number after the other; none for a run
            in one process.

    Raises:
        SystemExit: the last run fails.
    """
    moments = random.Random(seed)
    marks: list[tuple[list[int], set[tuple[str, str]]]] = []  # requests of each server so far, and what was answered
    for number in range(kills):
        count = shards[number * len(shards) // kills] if shards else 0
        processes = [bench.start(*options) for options in _sessions(count, resumes=bool(marks))]
        target = bench.requests() + moments.randrange(1, step)
        while any(process.poll() is None for process in processes) and bench.requests() < target:
            time.sleep(0.01)
        time.sleep(moments.random() / 20)
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
        marks.append((list(map(len, bench.asked())), {*bench.journal()}))
    last = [bench.start(*options) for options in _sessions(shards[-1] if shards else 0, resumes=True)]
    if sum(process.wait() != 0 for process in last):  # all of them are waited for
        raise SystemExit((bench.folder / "output.txt").read_text()[-3000:])
    predictions, asked, journal = bench.predictions(), bench.asked(), bench.journal()
    names = {key: _prompt_name(key[0], line["origin_prompt"]) for key, line in predictions.items()}
    twice = 0
    for counts, answered in marks:
        later = {name for requests, count in zip(asked, counts, strict=True) for name in requests[count:]}
        twice += len({names[key] for key in answered} & later)
    wrong = sum(line["prediction"] != line["gold"] for line in predictions.values())
    return Outcome(len(predictions), wrong, sum(map(len, asked)), twice, len(journal) - len({*journal}))


def _sessions(shards: int, *, resumes: bool) -> list[list[str]]:
    """Return the options of the processes that work at once."""
    if shards:
        return [["-r", "killed", "--shard", f"{index}/{shards}"] for index in range(shards)]
    return [["-r"] if resumes else []]


def _ask(url: str, path: str) -> Any:
    """What a server has counted."""
    with urlopen(url.removesuffix("v1") + path, timeout=60) as reply:
        return json.load(reply)


def _name(body: dict[str, Any]) -> str:
    return f"{body['model'].replace('mock', 'model')} {body['messages'][-1]['content']}"


def _prompt_name(model: str, prompt: list[dict[str, str]]) -> str:
    return f"{model} {prompt[-1]['content']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=75, help="in each of the 20 datasets")
    parser.add_argument("--shards", type=int, nargs="+", default=(), help="numbers of shards, one after the other")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        command = [sys.executable, "-m", "ais_prompt.testing.server", "--latency", "0.05"]
        urls = []
        for _ in range(3):
            server = stack.enter_context(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
            stack.callback(server.kill)
            assert server.stdout
            urls.append(server.stdout.readline().strip())
        bench = Bench(folder, [urls[:1], urls[1:]], 20, options.samples)
        outcome = measure(bench, options.kills, options.seed, shards=options.shards)
    print(
        f"{options.kills} kills, {outcome.predictions} predictions, {outcome.wrong} wrong or missing, "
        f"{outcome.requests} requests, {outcome.twice} finished requests sent again, "
        f"{outcome.repeated} answers stored twice"
    )


if __name__ == "__main__":
    main()
