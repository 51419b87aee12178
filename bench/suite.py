"""How well a run of many datasets, or of several servers, keeps its servers busy.

    python -m bench.suite                # everything; --only suite, servers, small or stall for a part
    python -m bench.suite --only small --share 0.2 --rounds 1      # a fifth of the samples and datasets, once

- ``suite``: 57 datasets of 50 samples, against the same 2,850 samples as one dataset. The latency is log-normal (mean
  1 s, sigma 1) and follows from a hash of the prompt, so that both do the same work.
- ``servers``: the same samples asked of two models on two servers, against one.
- ``small``: 1,000 datasets of 10 samples against one of 10,000, without latency: time and memory.
- ``stall``: the longest time for which the event loop is blocked while 2,000 answers of 200 words are scored, beside
  the same run without scoring. Wall time also shows what else the machine does; processor time only this process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from bench.engine import ROOT, Cost, lean_server, run_command

CONCURRENCY: Final = 64
CONFIG: Final = """
models = [
    dict(type='OpenAIChatModel', abbr='lean%d' % number, model='lean', base_url=url, max_concurrency={concurrency})
    for number, url in enumerate({urls!r})
]
"""
DATASETS: Final = """
datasets = [
    dict(
        abbr='part%d' % number, type='LocalDataset', path='part%d.jsonl' % number,
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='Question: {{question}}\\nAnswer: {{answer}}'),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
    for number in range({parts})
]
"""

STALL_PARTS: Final = '''
"""A model that notes how long its event loop is blocked."""

import asyncio
import json
import time
from pathlib import Path

from ais_prompt.models import ScriptedModel


class Heartbeat(ScriptedModel):
    async def open(self):
        self.wall = self.processor = 0.0
        self.beating = asyncio.create_task(self.beat())

    async def beat(self):
        wall, processor = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(0.001)
            self.wall = max(self.wall, time.perf_counter() - wall - 0.001)
            self.processor = max(self.processor, time.process_time() - processor)
            wall, processor = time.perf_counter(), time.process_time()

    async def aclose(self):
        self.beating.cancel()
        Path("stall.json").write_text(json.dumps([self.wall, self.processor]))
'''
STALL_CONFIG: Final = """
models = [
    dict(
        type='heartbeat.Heartbeat', abbr='beat', default={answer!r}, delay={delay}, max_concurrency=64,
        max_out_len=9999,
    )
]
datasets = [
    dict(
        abbr=abbr, type='LocalDataset', path=abbr + '.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='Question: {{question}}\\nAnswer: {{answer}}'),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(evaluator=evaluator),
    )
    for abbr, evaluator in {datasets!r}
]
"""
ACCURACY: Final = {"type": "AccEvaluator"}
SCORED: Final = (
    ("nothing", "infer", ACCURACY),
    ("accuracy", "all", ACCURACY),
    ("ROUGE", "all", {"type": "RougeEvaluator"}),
    (
        "a judge",
        "all",
        {
            "type": "GenericLLMEvaluator",
            "judge_cfg": {"type": "ScriptedModel", "abbr": "judge", "default": "A", "max_concurrency": 64},
            "prompt_template": {"type": "PromptTemplate", "template": "{gold}: {prediction}. Is it right, A or B?"},
        },
    ),
)
"""What scores the first dataset beside the asking, the mode, and its evaluator."""


def evaluate(urls: Sequence[str], parts: int, samples: int, work: Path) -> Cost:
    """Run the whole command on so many datasets, which share the samples; all must be right.

    Args:
        urls: of the servers, each with a model.
        parts, samples: how many datasets, and samples in all.
        work: gets a folder for the run. Nothing is removed: ext4 is slow to make files after many were removed.
    """
    folder = Path(tempfile.mkdtemp(dir=work))
    write_parts(folder, parts, samples)
    config = (CONFIG + DATASETS).format(urls=list(urls), parts=parts, concurrency=CONCURRENCY)
    (folder / "eval.py").write_text(config)
    cost = run_command([sys.executable, "-m", "ais_prompt", "run", "eval.py"], folder, urls[0])
    [path] = folder.glob("outputs/eval/*/summary/summary.json")
    rows = json.loads(path.read_text())
    if len(rows) != parts * len(urls) or any(row["score"] != 1.0 for row in rows):
        raise SystemExit("not all samples are right")
    return cost


def write_parts(folder: Path, parts: int, samples: int) -> None:
    """Write so many datasets, which share the samples; every answer is ``ok``."""
    for part in range(parts):
        numbers = range(part * samples // parts, (part + 1) * samples // parts)
        _write_rows(folder / f"part{part}.jsonl", [(f"How much is {number} and 1?", "ok") for number in numbers])


def report_suite(rounds: int, share: float) -> None:
    """Many datasets against one."""
    parts = round(57 * share)
    samples = 50 * parts
    with lean_server(1.0, 1.0) as url, tempfile.TemporaryDirectory() as work:
        many, one = in_turns(rounds, *(partial(evaluate, [url], number, samples, Path(work)) for number in (parts, 1)))
    compare(f"{samples:,} samples, heavy tail: {parts} datasets against 1", many, one)


def report_servers(rounds: int, share: float) -> None:
    """Two servers against one."""
    samples = round(1_500 * share)
    with ExitStack() as stack:
        urls = [stack.enter_context(lean_server(1.0, 1.0)) for _ in range(2)]
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        two, one = in_turns(rounds, *(partial(evaluate, asked, 10, samples, work) for asked in (urls, urls[:1])))
    compare(f"{samples:,} samples in 10 datasets, heavy tail: 2 models on 2 servers against 1", two, one)


def report_small(rounds: int, share: float) -> None:
    """Many small datasets against a large one."""
    parts = round(1_000 * share)
    samples = 10 * parts
    with lean_server(0.0) as url, tempfile.TemporaryDirectory() as work:
        many, one = in_turns(rounds, *(partial(evaluate, [url], number, samples, Path(work)) for number in (parts, 1)))
    compare(f"{samples:,} samples, no latency: {parts:,} datasets against 1", many, one)


def report_stall(share: float) -> None:
    """The event loop while answers of 200 words are scored."""
    samples = round(2_000 * share)
    answer = " ".join(f"word{number % 97}" for number in range(200))
    for scored_by, mode, evaluator in SCORED:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "heartbeat.py").write_text(STALL_PARTS)
            datasets = [("first", evaluator), ("second", ACCURACY)]
            config = STALL_CONFIG.format(answer=answer, delay=0.2, datasets=datasets)
            (folder / "eval.py").write_text(config)
            _write_rows(folder / "first.jsonl", [(f"question {number}", answer[::-1]) for number in range(samples)])
            _write_rows(folder / "second.jsonl", [(f"other {number}", answer) for number in range(5 * samples)])
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            command = [sys.executable, "-m", "ais_prompt", "run", "eval.py", "-m", mode]
            run_quietly(command, folder, environment)
            wall, processor = json.loads((folder / "stall.json").read_text())
            what = f"{scored_by} scores {samples:,} samples beside the asking"
            print(f"{what}: longest stall {1e3 * wall:.0f} ms, of processor time {1e3 * processor:.0f} ms", flush=True)


def run_quietly(command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a command; its output is shown if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def _write_rows(path: Path, rows: Sequence[tuple[str, str]]) -> None:
    path.write_text("".join(json.dumps({"question": question, "answer": answer}) + "\n" for question, answer in rows))


def in_turns(rounds: int, *measures: Callable[[], Cost]) -> list[Cost]:
    """Measure several things in turns, so many times each, and return the cost of each with the median time.

    What else the host of the machine does then makes them slower alike.
    """
    measured = [[measure() for measure in measures] for _ in range(rounds)]
    return [sorted(costs, key=lambda cost: cost.wall)[rounds // 2] for costs in zip(*measured, strict=True)]


def compare(what: str, ours: Cost, other: Cost) -> None:
    """Print two costs and their ratios."""
    asking = ours.stats["seconds"], other.stats["seconds"]
    print(
        f"{what}:\n"
        f"  whole command {ours.wall:.1f} s and {other.wall:.1f} s, {ours.wall / other.wall:.2f} x\n"
        f"  first request to last answer {asking[0]:.1f} s and {asking[1]:.1f} s, {asking[0] / asking[1]:.2f} x\n"
        f"  processor {ours.processor:.1f} s and {other.processor:.1f} s, {ours.processor / other.processor:.2f} x\n"
        f"  memory {ours.mib:.0f} and {other.mib:.0f} MiB, {ours.mib / other.mib:.2f} x",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["suite", "servers", "small", "stall"])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind; the median one is shown")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples and datasets, to be done sooner")
    options = parser.parse_args()
    if options.only in (None, "suite"):
        report_suite(options.rounds, options.share)
    if options.only in (None, "servers"):
        report_servers(options.rounds, options.share)
    if options.only in (None, "small"):
        report_small(options.rounds, options.share)
    if options.only in (None, "stall"):
        report_stall(options.share)


if __name__ == "__main__":
    main()
