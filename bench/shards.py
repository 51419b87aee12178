"""What shards cost, and how much faster they are: empty shards, the merge of very many predictions, several servers.

    python -m bench.shards                         # all of it, with 50 empty shards and a merge of 1,000
    python -m bench.shards --only empty --shards 10
    python -m bench.shards --only merge --number 100000 --shards 100
    python -m bench.shards --only speed --number 20000         # 4 shards over 4 servers against 1 over one

The answers to merge are made here: a chat prompt of about 200 characters, an answer of about 100, and what a server
tells of each request. What is measured runs in a process of its own. Printed are its processor time, which other work
on the machine does not change, its wall time, and the most memory that it held. For the speed each server answers after
200 ms, 32 requests at a time, so that the servers are the bottleneck and not the processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Final

from ais_prompt.checks import checked, checked_for_scoring
from ais_prompt.config import Options, render_config
from ais_prompt.engine import conversations_of
from ais_prompt.extensions.shards.joining import agreement
from ais_prompt.plan import Task
from ais_prompt.scoring import merge_journals
from ais_prompt.store import RequestKeys, RunFolder, write_json_atomic
from ais_prompt.types import Completion, Prediction, Shard, Usage
from ais_prompt.utils import encode_plain
from bench.engine import ROOT, lean_server, take_stats

CONFIG: Final = """import os
models = [
    dict(
        type='OpenAIChatModel', abbr='model', model='mock', base_url=os.environ.get('URL', 'http://127.0.0.1:9/v1'),
        max_out_len=64, max_concurrency=32,
    )
]
datasets = [
    dict(
        abbr='questions',
        path='questions.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                       inferencer=dict(type='GenInferencer')),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='first_capital_postprocess')),
    )
]
"""
LETTERS: Final = "ABCD"
HELD: Final = 1 << 16
"""Bytes of a journal that are held before they are written."""


class Cost:
    """What a command took: seconds of processor, seconds in all, MiB of memory at most."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        # Compiled modules are kept, as in an installation.
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        started = time.perf_counter()
        with (folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
            _, status, used = os.wait4(process.pid, 0)
        self.wall = time.perf_counter() - started
        self.processor = used.ru_utime + used.ru_stime
        self.mib = used.ru_maxrss / 1024
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit((folder / "output.txt").read_text())

    def __str__(self) -> str:
        return f"{self.processor:.1f} s of processor, {self.wall:.1f} s in all, {self.mib:.0f} MiB at most"


def report_empty(folder: Path, shards: int) -> None:
    """Start shards of a run that is answered already."""
    run = make_run(folder, 16, 1)
    command = [sys.executable, "-m", "ais_prompt", "run", "eval.py", "-m", "infer", "-r", run.root.name, "--shard"]
    Cost([*command, f"0/{shards}"], folder)  # compiles the modules
    costs = [Cost([*command, f"{index}/{shards}"], folder) for index in range(shards)]
    seconds = sorted(cost.processor for cost in costs)
    print(f"{shards} empty shards: {median(seconds):.2f} s of processor each, {seconds[-1]:.2f} s at most", flush=True)


def report_merge(folder: Path, number: int, shards: int) -> None:
    """Put the answers of very many shards together."""
    run = folder / "outputs" / "eval" / "made"
    if not run.exists():
        make_run(folder, number, shards)
    cost = Cost([sys.executable, "-m", "bench.shards", "--merge-only", str(run)], folder)
    [predictions] = run.glob("predictions/*/*.jsonl")
    with predictions.open("rb") as lines:
        found = sum(1 for _ in lines)
    print(f"{found:,} predictions of {shards:,} shards merged: {cost}", flush=True)
    if found != number:
        raise SystemExit(f"{number - found:,} predictions are missing")


def report_speed(folder: Path, number: int, shards: int) -> None:
    """Ask the same questions with one shard and one server, and with several of both."""
    _write_project(folder, number)
    walls, asking = [], []
    for count in (1, shards):
        with ExitStack() as stack:
            urls = [stack.enter_context(lean_server(0.2)) for _ in range(count)]
            started = time.perf_counter()
            processes = [_start_shard(folder, index, count, url) for index, url in enumerate(urls)]
            if codes := [process.returncode for process in processes if process.wait()]:
                raise SystemExit(f"a shard ended with exit code {codes[0]}: {(folder / 'output.txt').read_text()}")
            walls.append(time.perf_counter() - started)
            stats = list(map(take_stats, urls))
        asking.append(max(each["seconds"] for each in stats))
        if (requests := sum(each["requests"] for each in stats)) != number:
            raise SystemExit(f"{requests:,} requests instead of {number:,}")
    print(
        f"{number:,} requests of 200 ms, 32 at a time for each server: {shards} shards over {shards} servers "
        f"{walls[1]:.1f} s, 1 over one {walls[0]:.1f} s: {walls[0] / walls[1]:.2f} x; from the first request of the "
        f"slowest shard to its last answer {asking[1]:.1f} s and {asking[0]:.1f} s: {asking[0] / asking[1]:.2f} x",
        flush=True,
    )


def _start_shard(folder: Path, index: int, count: int, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ais_prompt", "run", "eval.py", "-m", "infer", "-r", f"of{count}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "URL": url}
    with (folder / "output.txt").open("ab") as output:
        words = [*command, "--shard", f"{index}/{count}"]
        return subprocess.Popen(words, cwd=folder, env=environment, stdout=output, stderr=output)


def make_run(folder: Path, number: int, shards: int) -> RunFolder:
    """Write a config, its data, and a run folder in which so many shards have asked everything."""
    _write_project(folder, number)
    plan, _ = checked(Options(config=str(folder / "eval.py"), work_dir=str(folder / "outputs")))
    run = RunFolder(folder / "outputs" / "eval" / "made")
    folders = [_folder_of(run, Shard(index, shards)) for index in range(shards)]
    for one in folders:
        write_json_atomic(one.shard_file, agreement(plan, plan.tasks))
        write_json_atomic(one.run_file, {"schema_version": 2, "status": "finished", "sessions": [], "tasks": {}})
    journals, predictions = Lines(), Lines()
    for shard, key, prediction in _answered(plan.tasks[0], shards):
        line = {"key": key, "sample_id": prediction.sample_id, "turn": 0, "repeat": 0}
        line["completion"] = prediction.completions[0].to_json()
        journals.add(folders[shard].journal("model", "questions"), encode_plain(line))
        predictions.add(folders[shard].predictions("model", "questions"), encode_plain(prediction.to_json()))
    journals.write()
    predictions.write()
    run.config_file.write_text(render_config(plan.spec.resolved))
    return run


def _write_project(folder: Path, number: int) -> None:
    with (folder / "questions.jsonl").open("wb") as rows:
        rows.writelines(map(encode_plain, _rows(number)))
    (folder / "eval.py").write_text(CONFIG)


class Lines:
    """The lines of very many files, a few of which are held until they are written."""

    def __init__(self) -> None:
        self._held: defaultdict[Path, bytearray] = defaultdict(bytearray)

    def add(self, path: Path, line: bytes) -> None:
        held = self._held[path]
        held += line
        if len(held) > HELD:
            self._append(path, held)
            held.clear()

    def write(self) -> None:
        """Write what is held."""
        for path, held in self._held.items():
            self._append(path, held)

    def _append(self, path: Path, held: bytes | bytearray) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(held)


def _rows(number: int) -> Iterator[dict[str, str]]:
    for row in range(number):
        choices = "\n".join(f"{letter}. choice {letter} of it, which says something of its own" for letter in LETTERS)
        yield {"question": f"Question {row}: which is right?\n{choices}", "answer": LETTERS[row // 4 % 4]}


def _folder_of(run: RunFolder, shard: Shard) -> RunFolder:
    name = f"20260101_000000Z_{shard.index}-of-{shard.count}_node{shard.index % 8}_{1000 + shard.index}"
    return RunFolder(run.shards / name)


def _answered(task: Task, shards: int) -> Iterator[tuple[int, str, Prediction]]:
    """Yield the shard of each sample, the key of its request, and its prediction."""
    key_of = RequestKeys(task.model.identity())
    for conversation in conversations_of(task, lambda _: None, task.data.test):
        [request] = conversation.open_requests()
        key = key_of(request)
        text = LETTERS[int(key[-2:], 16) % 4] + " is the choice that I would take here, because the others say less."
        conversation.answer(request, Completion(text, "stop", Usage(63, 21), seconds=0.25))
        assert conversation.prediction is not None  # it is over
        yield Shard(0, shards).of(request.sample_id), key, conversation.prediction


def merge_only(run: RunFolder) -> None:
    """Do what ``aisprompt merge`` does before it scores."""
    merge_journals(checked_for_scoring(Options(config=str(run.config_file))), run, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["empty", "merge", "speed"])
    parser.add_argument("--number", type=int, help="of samples; default: 1,000,000 to merge, 20,000 to ask")
    parser.add_argument("--shards", type=int, help="default: 50 empty ones, 1,000 to merge, 4 that ask")
    parser.add_argument("--folder", type=Path, help="keep what is made there, and use it again")
    parser.add_argument("--merge-only", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.merge_only:
        merge_only(RunFolder(options.merge_only))
        return
    with tempfile.TemporaryDirectory() as name:
        if options.only in (None, "empty"):
            (empty := Path(name) / "empty").mkdir()
            report_empty(empty, options.shards or 50)
        if options.only in (None, "merge"):
            merged = options.folder or Path(name) / "merged"
            merged.mkdir(parents=True, exist_ok=True)
            report_merge(merged, options.number or 1_000_000, options.shards or 1_000)
        if options.only in (None, "speed"):
            (asked := Path(name) / "asked").mkdir()
            report_speed(asked, options.number or 20_000, options.shards or 4)


if __name__ == "__main__":
    main()
