"""How large `report.html` is, how long it takes to write, and when a browser has drawn it.

    python -m bench.report                     # 10,000 samples with four shots each
    python -m bench.report --number 100000

The run is made here: two models on the same questions, with four worked examples in each prompt, of about 1,800
characters in all, and with answers and thoughts of their own. Measured are the size of the file, the processor time and
the most memory of writing it, and in headless Chromium (if there is one) the time from opening the file to the first
paint, and until the table of samples is there.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ais_prompt.metrics import mean_scores
from ais_prompt.report import write_report, write_summary
from ais_prompt.scoring import TaskOutcome, summary_rows
from ais_prompt.store import RunFolder, write_json_atomic, write_predictions, write_results
from ais_prompt.types import ChatMessage, Completion, Prediction, SampleScore, Usage

MODELS = ("small", "large")
TEXT = "the a of farm pays sells buys each day week apples eggs costs twice half more than how many are left"
WORDS = TEXT.split()


def sentence(source: random.Random, words: int) -> str:
    return " ".join(source.choice(WORDS) + source.choice(("", "", f" {source.randrange(100)}")) for _ in range(words))


def predictions(model: str, number: int) -> Iterator[tuple[Prediction, SampleScore]]:
    """Worked problems as of GSM8K, in messages; no two questions or answers are alike."""
    source = random.Random(0)
    shots = [
        ChatMessage(role, sentence(source, 35)) for _ in range(4) for role in ("user", "assistant")
    ]  # the same for all
    source = random.Random(model)
    for index in range(number):
        gold = str(source.randrange(1000))
        answer = f"{sentence(source, 50)}\nThe answer is {gold if index % 3 else index}."
        thought = sentence(source, 20)
        completion = Completion(answer, "stop", Usage(500, 90), source.random(), reasoning=thought)
        prompt = (*shots, ChatMessage("user", sentence(random.Random(index), 40)))
        made = Prediction(f"{index:012x}", index, prompt, answer, gold, (completion,), shots_used=4)
        yield made, SampleScore(made.sample_id, "scored", gold, gold, {"accuracy": float(index % 3 > 0)})


def make_run(root: Path, number: int) -> RunFolder:
    """A run folder of ``number`` samples in all."""
    folder, outcomes = RunFolder(root / "bench" / "20260131_120000"), []
    for model in MODELS:
        samples: list[SampleScore] = []

        def made(model: str = model, samples: list[SampleScore] = samples) -> Iterator[Prediction]:
            for prediction, sample in predictions(model, number // len(MODELS)):
                samples.append(sample)
                yield prediction

        write_predictions(folder.predictions(model, "problems"), made())
        scores = mean_scores(("accuracy",), samples)
        head = {"model": model, "dataset": "problems", "scores": [score.to_json() for score in scores]}
        write_results(folder.results(model, "problems"), head, (sample.to_json() for sample in samples))
        outcomes.append(TaskOutcome(model, "problems", scores=scores))
    rows = summary_rows(outcomes)
    write_summary(folder.summary_dir, rows, rows)
    session = {"status": "finished", "command": "aisprompt run bench.py", "started": "2026-01-31T12:00:00+00:00"}
    write_json_atomic(folder.run_file, {"status": "finished", "sessions": [session], "versions": {}, "tasks": {}})
    folder.config_file.write_text("models = []\n")
    return folder


def write(folder: RunFolder) -> None:
    """What a process of its own does, so that its memory is that of writing alone."""
    begun = time.process_time()
    write_report(folder)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"written in {time.process_time() - begun:.2f} s of processor time, {memory:.0f} MiB of memory at most")
    read = sum(path.stat().st_size for path in folder.root.rglob("*.jsonl"))
    print(f"{folder.report.stat().st_size / 1e6:.1f} MB from {read / 1e6:.1f} MB of predictions")


def show(report: Path, times: int) -> None:
    """The browser's own clock, from the start of loading; the median of a few times."""
    from tools.chromium import PROGRAM, browser

    if PROGRAM is None:
        print("there is no chromium: nothing is drawn")
        return
    paint = "performance.getEntriesByName('first-contentful-paint')[0]"
    found = []
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        for _ in range(times):
            page.resize(1400, 900)
            page.open(report.as_uri())
            page.wait_for(f"document.querySelector('#rows .row') && {paint}")
            found.append(
                (page.value(f"{paint}.startTime"), page.value("performance.getEntriesByName('samples')[0].startTime"))
            )
    for what, values in zip(("first paint", "table of samples"), zip(*found, strict=True), strict=True):
        print(f"{what} after {sorted(values)[len(values) // 2]:.0f} ms (median of {times}; worst {max(values):.0f} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5, help="how often the browser opens it")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(RunFolder(options.write))
        return
    with tempfile.TemporaryDirectory() as root:
        folder = make_run(Path(root), options.number)
        subprocess.run([sys.executable, "-m", "bench.report", "--write", str(folder.root)], check=True)
        show(folder.report, options.times)


if __name__ == "__main__":
    main()
