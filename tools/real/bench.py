"""Measure a vLLM server with this program and with ``vllm bench serve``, in turns: ``python -m tools.real.bench``.

Server and client tool are of one installation, made as in `tools.real.servers`. Both tools send the same prompts and
ask for answers of the same length, from as many clients or at the same even rate, each in a process of its own. The
tables have medians over the runs of each tool, and how far the runs of vLLM's tool are apart: a smaller difference
between the tools means nothing. On a busy machine compare each tool with what the server itself measured during its
runs (``ours/server``, ``theirs/server``). ``--mock`` measures the mock server of this program instead, whose times are
scripted: what differs there is the tools.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

import click
from msgspec import Struct
from rich import box
from rich.console import Console
from rich.table import Table

from ais_prompt import OpenAICompletionModel
from ais_prompt.extensions.perf.counters import ServerCounters, differences, read_counters
from ais_prompt.extensions.perf.load_files import read_load
from ais_prompt.extensions.perf.metrics import LoadTable, load_table
from ais_prompt.extensions.perf.tool_tables import tool_sections
from tools.real.servers import (
    CACHE,
    NAME,
    ROOT,
    SERVERS,
    Installed,
    Running,
    free_port,
    install,
    served,
    small_model,
    version,
    wait_until_ready,
)

Numbers: TypeAlias = dict[str, float]
"""Name of a number → its value, in the units of the tables."""
WARMUPS: Final = 4
"""Requests before each run of ours; vLLM's tool follows on the warm server."""
MOCK_TTFT: Final = 0.2
MOCK_GAP: Final = 0.02
"""Seconds until the first piece of an answer of the mock server, and between pieces."""
RUN_SECONDS: Final = 600.0
"""Time limit of one run."""
WORDS: Final = ("time", "year", "people", "way", "day", "man", "thing", "life", "child", "world", "school", "state")
"""Words of one token each."""
THROUGHPUTS: Final = {
    "requests/s": ("request_throughput", "Request throughput (req/s):", "requests_per_second"),
    "tokens out/s": ("output_throughput", "Output token throughput (tok/s):", "output_tokens_per_second"),
}
"""Title → its name in vLLM's file, in the table ``--as vllm``, and in `LoadTable`."""
LATENCIES: Final = ("TTFT", "TPOT", "ITL", "E2EL")
HISTOGRAMS: Final = {
    "TTFT": "time_to_first_token_seconds",
    "TPOT": "request_time_per_output_token_seconds",
    "ITL": "inter_token_latency_seconds",
    "E2EL": "e2e_request_latency_seconds",
}
"""Latency → its histogram in vLLM's ``/metrics``: what the server measures itself."""
SERVER: Final = "server: "
"""Before the names of numbers that the server measured during a run."""
STATISTICS: Final = {"mean": "Mean", "median": "Median"}


class LoadShape(Struct, frozen=True):
    """A load that both tools send.

    Attributes:
        title: of the table.
        clients: how many ask at a time; None for a rate.
        rate: requests a second, at even intervals; None for clients.
    """

    title: str
    clients: int | None = None
    rate: float | None = None


class Sizes(Struct, frozen=True):
    """How much is asked: number of requests, words of a prompt, tokens of an answer."""

    requests: int
    words: int
    tokens: int


@click.command()
@click.option("--repeats", default=3, show_default=True, help="Runs of each tool.")
@click.option("--requests", default=40, show_default=True, help="Requests of a run.")
@click.option("--words", default=128, show_default=True, help="Words of a prompt.")
@click.option("--tokens", default=32, show_default=True, help="Tokens of an answer.")
@click.option("--clients", default=4, show_default=True, help="Clients of the closed load; 0 leaves it out.")
@click.option("--mock", is_flag=True, help="Measure the mock server, whose times are scripted.")
@click.option("--rate", default=0.5, show_default=True, help="Requests a second of the other load; 0 leaves it out.")
def main(repeats: int, requests: int, words: int, tokens: int, clients: int, rate: float, mock: bool) -> None:
    """Measure vLLM with both tools."""
    sizes = Sizes(requests, words, tokens)
    shapes = [LoadShape(f"{clients} clients", clients=clients)] if clients else []
    shapes += [LoadShape(f"{rate:g} requests/s", rate=rate)] if rate else []
    installed = install("vLLM", small_model())
    work = CACHE / "runs" / "bench"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_prompts(sizes, work)
    console = Console(width=max(140, Console().width))
    number = version(installed, SERVERS["vLLM"])
    console.print(f"vLLM {number}: {requests} requests, {words} words each, {tokens} tokens back")
    with mocked(tokens, work) if mock else served("vLLM", installed, "--no-enable-prefix-caching") as running:
        measure_ours(shapes[0], sizes, running, work)  # not counted: a server is slower in its first minute
        for shape in shapes:
            ours, as_vllm, theirs = [], [], []
            for run in range(repeats):
                click.echo(f"{shape.title}: run {run + 1} of {repeats}", err=True)
                both = measure_ours(shape, sizes, running, work)
                ours.append(both[0])
                as_vllm.append(both[1])
                theirs.append(measure_theirs(shape, sizes, running, installed, work))
            console.print(_table(shape, ours, as_vllm, theirs))


def write_prompts(sizes: Sizes, work: Path) -> None:
    """Write the prompts that both tools send into ``prompts.jsonl``."""
    draws = random.Random(0)
    prompts = [" ".join(draws.choices(WORDS, k=sizes.words)) for _ in range(sizes.requests)]
    (work / "prompts.jsonl").write_text("".join(json.dumps({"prompt": one}) + "\n" for one in prompts), "utf-8")


@contextmanager
def mocked(tokens: int, work: Path) -> Iterator[Running]:
    """Start the mock server with answers of one length, whose pieces come at fixed times, and stop it in the end."""
    rule = {"answer": "word " * tokens, "latency": MOCK_TTFT, "pause": MOCK_GAP}
    script, port = work / "script.json", free_port()
    script.write_text(json.dumps([rule]), "utf-8")
    command = [sys.executable, "-m", "ais_prompt.testing.server", "--port", str(port), "--script", str(script)]
    url = f"http://127.0.0.1:{port}/v1"
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until_ready(url, process)
            yield Running("mock", url, NAME, command, lambda: None, mocked)
        finally:
            process.terminate()


def measure_ours(shape: LoadShape, sizes: Sizes, running: Running, work: Path) -> tuple[Numbers, Numbers]:
    """Send a load with this program; return its own numbers, and those of ``--as vllm``.

    Raises:
        CalledProcessError: the run fails.
    """
    options = {"temperature": 0.0, "ignore_eos": True}
    model = {
        "type": "OpenAICompletionModel",
        "abbr": NAME,
        "model": running.model,
        "base_url": running.url,
        "api_key": None,
        "stream": True,
        "timeout": RUN_SECONDS,
        "max_out_len": sizes.tokens,
        "generation_kwargs": options,
        **({"max_concurrency": shape.clients} if shape.clients else {}),
        **({"request_rate": shape.rate, "traffic_cfg": {"burstiness": 0}} if shape.rate else {}),
    }
    dataset = {
        "abbr": "load",
        "path": str(work / "prompts.jsonl"),
        "reader_cfg": {"input_columns": ["prompt"], "output_column": None},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{prompt}"},
            "inferencer": {"type": "GenInferencer"},
        },
    }
    config = work / "eval.py"
    config.write_text(f"models = {[model]!r}\ndatasets = {[dataset]!r}\n", "utf-8")
    shutil.rmtree(work / "out", ignore_errors=True)
    words = ["run", str(config), "-m", "perf", "--num-warmups", str(WARMUPS), "-w", str(work / "out")]
    _call([sys.executable, "-m", "ais_prompt", *words], work / "ours.log", {"PYTHONPATH": str(ROOT)})
    [schedule] = work.glob("out/*/*/performances/*/*_schedule.jsonl")
    [journal] = work.glob("out/*/*/journal/*/*.jsonl")
    load = read_load(schedule, journal)
    table = load_table(load.exchanges, load.plan.schedule)
    shown = {name: values[0] for section in tool_sections(load, "vllm") for name, values in section.rows.items()}
    names = {f"{title} {key}": f"{STATISTICS[key]} {title} (ms):" for title in LATENCIES for key in STATISTICS}
    names |= {title: name for title, (_, name, _) in THROUGHPUTS.items()}
    by_server = _server_numbers(load.counters)
    return _own_numbers(table) | by_server, {title: float(str(shown[name])) for title, name in names.items()}


def _own_numbers(table: LoadTable) -> Numbers:
    found: Numbers = {}
    for title in LATENCIES:
        values = table.distributions[f"{title.lower()}_seconds"]
        found |= {f"{title} mean": 1000 * values.mean, f"{title} median": 1000 * values.percentiles["p50"]}
    return found | {title: getattr(table, name) for title, (_, _, name) in THROUGHPUTS.items()}


def _server_numbers(counters: Sequence[ServerCounters]) -> Numbers:
    """Return the means that the server measured, in ms; none of a server without these counters."""
    found: Numbers = {}
    for one in counters:
        for title, name in HISTOGRAMS.items():
            total, count = (one.change(f"vllm:{name}_{part}") for part in ("sum", "count"))
            if total is not None and count:
                found[f"{SERVER}{title} mean"] = 1000 * total / count
    return found


def measure_theirs(shape: LoadShape, sizes: Sizes, running: Running, installed: Installed, work: Path) -> Numbers:
    """Send a load with ``vllm bench serve``, and return its numbers.

    Raises:
        CalledProcessError: the run fails.
    """
    result = work / "theirs.json"
    result.unlink(missing_ok=True)
    load = ["--max-concurrency", str(shape.clients)] if shape.clients else []
    load += ["--request-rate", str(shape.rate), "--burstiness", "inf"] if shape.rate else []
    words = [
        *("bench", "serve", "--backend", "vllm", "--base-url", running.url.removesuffix("/v1")),
        *("--model", str(installed.folder), "--served-model-name", running.model),
        *("--dataset-name", "custom", "--dataset-path", str(work / "prompts.jsonl"), "--disable-shuffle"),
        *("--skip-chat-template", "--custom-output-len", str(sizes.tokens), "--num-prompts", str(sizes.requests)),
        *("--num-warmups", "0", "--ignore-eos", "--temperature", "0", "--disable-tqdm", *load),
        *("--percentile-metrics", "ttft,tpot,itl,e2el", "--save-result", "--result-dir", str(work)),
        *("--result-filename", result.name),
    ]
    model = running.of(OpenAICompletionModel)
    before = read_counters(model)
    _call([str(installed.env / "bin" / "vllm"), *words], work / "theirs.log", {"HF_HUB_OFFLINE": "1"})
    counters = differences(before, read_counters(model))
    found = json.loads(result.read_text("utf-8"))
    if found["completed"] != sizes.requests:
        raise OSError(f"vllm bench serve: {found['completed']} of {sizes.requests} requests answered")
    numbers = {f"{title} {key}": found[f"{key}_{title.lower()}_ms"] for title in LATENCIES for key in STATISTICS}
    numbers |= {title: found[name] for title, (name, _, _) in THROUGHPUTS.items()}
    return numbers | _server_numbers(counters)


def _call(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
    with log.open("wb") as stream:
        subprocess.run(
            command, env={**os.environ, **environment}, stdout=stream, stderr=stream, timeout=RUN_SECONDS, check=True
        )


def _table(shape: LoadShape, ours: Sequence[Numbers], as_vllm: Sequence[Numbers], theirs: Sequence[Numbers]) -> Table:
    """Return medians of the runs, and how far they are from those of vLLM's tool."""
    titles = ("ms", "ours", "--as vllm", "vllm bench", "ours/theirs", "as vllm/theirs", "its runs apart")
    table = Table(title=shape.title, box=box.MARKDOWN)
    for title in (*titles, "ours/server", "theirs/server"):
        table.add_column(title, justify="left" if title == "ms" else "right")
    for name in (name for name in theirs[0] if not name.startswith(SERVER)):
        own, shown, other = (median(run[name] for run in runs) for runs in (ours, as_vllm, theirs))
        values = [run[name] for run in theirs]
        cells = [f"{own:.4g}", f"{shown:.4g}", f"{other:.4g}", f"{own / other - 1:+.1%}", f"{shown / other - 1:+.1%}"]
        cells.append(f"{max(values) / min(values) - 1:.1%}")
        for runs in (ours, theirs):
            ratios = [run[name] / measured for run in runs if (measured := run.get(f"{SERVER}{name}"))]
            cells.append(f"{median(ratios) - 1:+.1%}" if ratios else "")
        table.add_row(name, *cells)
    return table


if __name__ == "__main__":
    main()
