"""How fast the whole command asks a server, what it costs, and how much memory it takes.

    python -m bench.engine                 # everything; --only latency, rate, memory, long, resume or storm for a part
    python -m bench.engine --clients aiohttp openai       # both transports side by side

Server and client share the machine, the server in its own process (`bench.lean_server`). Beside the command
a bare client is measured: a loop over aiohttp that sends bodies of the same size to the same server and keeps nothing.
It is the ceiling of both together. Wall times depend on what else the machine does; processor times and ratios do less.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

ROOT: Final = Path(__file__).parents[1]
RUN: Final = (sys.executable, "-m", "ais_prompt", "run", "eval.py")
PAUSED: Final = 4
"""The exit code of a run that has used up its budget."""
CONFIG: Final = """
models = [
    dict(
        type='OpenAIChatModel', abbr='lean', model='lean', base_url={url!r}, max_concurrency={concurrency},
        client={client!r},
    )
]
datasets = [
    dict(
        abbr='questions', type='LocalDataset', path='questions.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='Question: {{question}}\\nAnswer: {{answer}}'),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
"""


@dataclass(frozen=True)
class Cost:
    """What a command took.

    Attributes:
        wall, processor: seconds from start to end.
        mib: most memory that it held at a time, in MiB.
        stats: what the server counted.
    """

    wall: float
    processor: float
    mib: float
    stats: dict[str, Any]

    @property
    def rate(self) -> float:
        """Requests a second, from the first request to the last answer, as the server sees them."""
        requests, seconds = self.stats["requests"], self.stats["seconds"]
        return float(requests / max(seconds, 1e-9))


@contextmanager
def lean_server(latency: float, sigma: float = 0.0, port: int = 0, failures: int = 0) -> Iterator[str]:
    """A server as long as the block lasts; its base URL."""
    command = [sys.executable, "-m", "bench.lean_server", "--latency", str(latency), "--sigma", str(sigma)]
    command += ["--port", str(port), "--failures", str(failures)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def run_command(
    command: Sequence[str], folder: Path, url: str, variables: Mapping[str, str] | None = None, code: int = 0
) -> Cost:
    """Run a command to its end and measure it, with further environment variables.

    Raises:
        SystemExit: it does not end with ``code``.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is not compiled at each start
    started = time.perf_counter()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise SystemExit((folder / "output.txt").read_text())
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, take_stats(url))


def evaluate(samples: int, concurrency: int, url: str, more: str = "", client: str = "aiohttp") -> Cost:
    """The whole command, from the interpreter's start to the summary; all samples must be right.

    Args:
        samples, concurrency: how many, and how many of them at a time.
        url: base URL of the server.
        more: text at the end of each question.
        client: the transport.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, samples, concurrency, url, more, client)
        cost = run_command(RUN, folder, url)
        _check_summary(folder, samples)
        return cost


def write_project(
    folder: Path, samples: int, concurrency: int, url: str, more: str = "", client: str = "aiohttp"
) -> None:
    """Write config and questions; the arguments are those of `evaluate`."""
    with (folder / "questions.jsonl").open("w") as lines:
        rows = ({"question": _question(n) + more, "answer": "ok"} for n in range(samples))
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    (folder / "eval.py").write_text(CONFIG.format(url=url, concurrency=concurrency, client=client))


def _check_summary(folder: Path, samples: int) -> None:
    [path] = folder.glob("outputs/eval/*/summary/summary.json")
    [row] = json.loads(path.read_text())
    if (row["score"], row["scored"]) != (1.0, samples):
        raise SystemExit(f"not all of {samples} samples are right: {row}")


def ask_barely(samples: int, concurrency: int, url: str) -> Cost:
    """The bare client in its own process."""
    command = [sys.executable, "-m", "bench.engine", "--bare", url, str(samples), str(concurrency)]
    with tempfile.TemporaryDirectory() as folder:
        return run_command(command, Path(folder), url)


async def bare_client(url: str, samples: int, concurrency: int) -> None:
    """Post and read, with nothing around it."""
    import aiohttp

    async def work() -> None:
        for number in numbers:
            messages = [{"role": "user", "content": f"Question: {_question(number)}\nAnswer: "}]
            content = json.dumps({"model": "lean", "messages": messages, "max_tokens": 256, "temperature": 0.0})
            async with session.post(f"{url}/chat/completions", data=content.encode()) as response:
                json.loads(await response.read())

    numbers = iter(range(samples))
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"Content-Type": "application/json"}) as session:
        await asyncio.gather(*(work() for _ in range(concurrency)))


def report_latency(rounds: int, clients: Sequence[str]) -> None:
    """Many at a time with 200 ms each: how near to the ideal."""
    with lean_server(0.2) as url:
        for (samples, concurrency), client in itertools.product(((1_000, 64), (5_000, 256)), clients):
            ideal = 0.2 * samples / concurrency
            costs = [evaluate(samples, concurrency, url, client=client) for _ in range(rounds)]
            best = min(costs, key=lambda cost: cost.wall)
            print(
                f"{client}: {samples:,} samples, {concurrency} at a time, 200 ms: "
                f"{best.wall:.1f} s (ideal {ideal:.1f} s), "
                f"{1e3 * min(cost.processor for cost in costs) / samples:.2f} ms of processor a request, "
                f"{best.mib:.0f} MiB",
                flush=True,
            )


def report_rate(rounds: int, clients: Sequence[str], samples: int = 20_000) -> None:
    """No latency: how many a second, beside the bare client."""
    with lean_server(0.0) as url:
        for _ in range(rounds):
            bare = ask_barely(samples, 256, url)
            print(f"no latency, 256 at a time: bare client {_figures(bare)}", flush=True)
            for client in clients:
                ours = evaluate(samples, 256, url, client=client)
                print(f"  {client}: {_figures(ours)}; ratio {ours.rate / bare.rate:.2f}", flush=True)


def report_memory() -> None:
    """The most memory that is held at a time, as the data grow."""
    with lean_server(0.0) as url:
        for samples in (1_000, 10_000, 100_000):
            cost = evaluate(samples, 256, url)
            print(f"{samples:,} samples: {cost.mib:.0f} MiB, {cost.wall:.1f} s, {cost.processor:.1f} s of processor")


def report_long(samples: int = 10_000) -> None:
    """Prompts of 100 kB."""
    with lean_server(0.0) as url:
        cost = evaluate(samples, 64, url, more="x" * 100_000)
        print(
            f"{samples:,} prompts of 100 kB, 64 at a time: {cost.wall:.0f} s, {cost.rate:,.0f} /s, "
            f"{1e3 * cost.processor / samples:.2f} ms of processor a request, {cost.mib:.0f} MiB"
        )


def report_resume(samples: int = 200_000, left: int = 1_000) -> None:
    """Resume a large run of which nearly everything is answered: how long until the first request."""
    with lean_server(0.0) as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, samples, 256, url)
        run_command([*RUN, "-m", "infer", "--max-requests", str(samples - left)], folder, url, code=PAUSED)
        wall, processor = until_first_request([*RUN, "-r"], folder, url)
        print(
            f"{samples:,} samples, {left:,} open: the first request after {wall:.1f} s, {processor:.1f} s of processor"
        )


def until_first_request(command: Sequence[str], folder: Path, url: str) -> tuple[float, float]:
    """Start a command, kill it once the server has its first request, and return wall and processor seconds so far."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        while not (stats := take_stats(url))["requests"]:
            if process.poll() is not None:
                raise SystemExit((folder / "output.txt").read_text())
            time.sleep(0.05)
        process.kill()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = -9
    return stats["first"] - started, usage.ru_utime + usage.ru_stime


def report_storm(samples: int = 10_000, rounds: int = 1) -> None:
    """Let each request fail once with status 503: what the failures cost beside the same run without any."""
    for _ in range(rounds):
        with lean_server(0.0) as url:
            calm = evaluate(samples, 64, url)
        with lean_server(0.0, failures=1) as url:
            storm = evaluate(samples, 64, url)
        failures = storm.stats["requests"] - samples
        print(
            f"{failures:,} failures of {samples:,} samples: {storm.processor - calm.processor:.1f} s of processor more "
            f"({calm.processor:.1f} without), {storm.wall:.0f} s ({calm.wall:.0f} without)",
            flush=True,
        )


def _figures(cost: Cost) -> str:
    return f"{cost.rate:,.0f} /s and {1e3 * cost.processor / cost.stats['requests']:.3f} ms a request"


def _question(number: int) -> str:
    """About as long as one of GSM8K; no two are the same."""
    return f"A train with {number} carriages leaves. " + "How many apples are there in forty boxes of nine? " * 5


def take_stats(url: str) -> dict[str, Any]:
    with urlopen(url.removesuffix("v1") + "stats", timeout=10) as reply:
        stats: dict[str, Any] = json.load(reply)
    return stats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["latency", "rate", "memory", "long", "resume", "storm"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", nargs="+", default=["aiohttp"], help="transports, for latency and rate")
    parser.add_argument("--bare", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        url, *numbers = options.bare
        asyncio.run(bare_client(url, *map(int, numbers)))
        return
    if options.only in (None, "latency"):
        report_latency(options.rounds, options.clients)
    if options.only in (None, "rate"):
        report_rate(options.rounds, options.clients)
    if options.only in (None, "memory"):
        report_memory()
    if options.only in (None, "long"):
        report_long()
    if options.only in (None, "resume"):
        report_resume()
    if options.only in (None, "storm"):
        report_storm()


if __name__ == "__main__":
    main()
