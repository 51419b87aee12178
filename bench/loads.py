"""Are the times of a load true, is its schedule kept, and is a client that is too slow found?

    python -m bench.loads                      # everything, about 9 minutes
    python -m bench.loads --only truth places  # some of: truth places stall arrivals rate client scale

Server and client share the machine, the server in its own process, so other work on the machine shows in the numbers.
`rate` asks `bench.lean_server`, whose answers cost little; `scale` asks nothing; the others ask the mock server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.stats import gamma, kstest

from ais_prompt.checks import checked
from ais_prompt.config import Options
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of
from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.perf_run import measure_run, prepare_run
from ais_prompt.extensions.perf.section import PerfSpec
from ais_prompt.store import RunFolder
from ais_prompt.terminal import QUIET, verbosity
from ais_prompt.verbs import load_config, open_run_folder
from bench.engine import lean_server
from tests.support.servers import MockServer, mock_server

TRUTH_MS: Final = 1.0
"""A time is true within this."""
SENDING: Final = 0.005
"""Seconds: one client needs less to send one request, so gaps between two are true above this."""
SCENARIOS: Final = (  # requests, rate (0: all at once), places, seconds of service; source: vLLM #54101
    *((8, 10, 0, 0.5), (8, 10, 1, 0.5), (40, 20, 8, 0.19), (40, 40, 0, 0.19), (40, 40, 4, 0.19)),
    *((40, 0, 0, 0.19), (40, 0, 4, 0.19)),
)


def measured(
    url: str,
    requests: int,
    model: Mapping[str, Any],
    look: Callable[[RunFolder], None] = lambda _: None,
    **perf: Any,
) -> LoadResult:
    """Measure one load in this process.

    Args:
        url: of the server.
        requests: how many.
        model: further keys of the model.
        look: called with the run folder before that is deleted.
        perf: of the config.
    """
    with tempfile.TemporaryDirectory() as name, verbosity(QUIET):
        config = _config(name, url, requests, model) | {"perf": perf}
        plan, _ = checked(Options(loaded=load_config(config), allow_code_execution="unsafe"))
        spec = plan.spec.sections.get("perf", PerfSpec())
        run = measure_run(plan, prepare_run(plan, spec), spec, open_run_folder(plan, "infer"), "bench")
        for error in run.errors.values():
            raise error
        look(run.folder)
        return run.results[0]


def _config(folder: str, url: str, requests: int, model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config of one model and so many questions, which are written into a folder."""
    rows = Path(folder, "rows.jsonl")
    rows.write_text("".join(json.dumps({"question": f"{n} + {n} = ?", "answer": ""}) + "\n" for n in range(requests)))
    served = {"type": "OpenAIChatModel", "abbr": "m", "model": "m", "base_url": url, "api_key": None, "stream": True}
    prompt = {"type": "PromptTemplate", "template": "{question}"}
    dataset = {
        "abbr": "d",
        "type": "LocalDataset",
        "path": str(rows),
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {"prompt_template": prompt, "inferencer": {"type": "GenInferencer"}},
    }
    return {"models": [served | dict(model)], "datasets": [dataset], "work_dir": folder}


def truth(_: MockServer) -> None:
    """Times against the clock of the server: a role, 32 pieces 10 ms apart from 50 ms on, and counts, at odd times."""
    told: dict[str, list[float]] = {}

    def look(folder: RunFolder) -> None:
        for line in folder.journal("m", "d").read_text().splitlines():
            values = json.loads(line)
            told[values["sample_id"]] = [float(word) for word in values["completion"]["text"].split()]

    with _process(["-m", "bench.loads", "--serve"]) as url:
        found = measured(url, 200, {"request_rate": 20}, look=look)
    errors: dict[str, list[float]] = {"TTFT": [], "E2EL": [], "TPOT": [], "a gap": []}
    for one in found.load.exchanges:
        received, *written = told[one.sample_id]
        pieces = one.pieces
        errors["TTFT"].append(pieces[0] - one.start - (written[0] - received))
        errors["E2EL"].append(pieces[-1] - one.start - (written[-1] - received))
        errors["TPOT"].append((pieces[-1] - pieces[0] - (written[-1] - written[0])) / 31)
        errors["a gap"] += (np.diff(pieces) - np.diff(written)).tolist()
    for name, values in errors.items():
        low, middle, p99 = 1000 * np.percentile(values, [1, 50, 99])
        text = f"{name} is {middle:+.3f} ms (p50), {low:+.3f} to {p99:+.3f} ms (p1 to p99) off the server's clock"
        _say(text, abs(middle) <= TRUTH_MS)
    for name, value in found.total.distributions.items():
        print(f"      {name}: p50 {value.percentiles['p50']:.5g}, p99 {value.percentiles['p99']:.5g}")


async def serve() -> None:
    """Stream answers whose text has the times of this server: when it had the request, and when it wrote each piece."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time

        def send(values: Mapping[str, Any] | None) -> None:
            event = b"data: %s\n\n" % (b"[DONE]" if values is None else json.dumps(values).encode())
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))

        async def at(moment: float) -> None:
            await asyncio.sleep(max(0.0, moment - clock()))

        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0))
                received = clock()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                await at(received + 0.017)
                send({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
                for number in range(32):
                    await at(received + 0.05 + number * 0.01)
                    first = f"{received:.6f} " if number == 0 else ""
                    send({"choices": [{"index": 0, "delta": {"content": f"{first}{clock():.6f} "}}]})
                await at(received + 0.433)
                send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                send({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 32, "total_tokens": 37}})
                send(None)
                writer.write(b"0\r\n\r\n")

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.sleep(600)


def places(server: MockServer) -> None:
    """The seven scenarios of vLLM #54101: the latency from due on is that of the theory of a queue."""
    for requests, rate, limit, seconds in SCENARIOS:
        server.follow({"latency": seconds})
        model: dict[str, Any] = {"max_concurrency": limit or requests}
        if rate:
            model |= {"request_rate": rate, "traffic_cfg": {"burstiness": 0}}
        load: dict[str, Any] = {"open_loop": not limit} if rate else {"load": "closed"}
        found = measured(server.base_url, requests, model, **load)
        due = [(number + 1) / rate if rate else 0.0 for number in range(requests)]
        free = [0.0] * (limit or requests)
        expected = []
        for one in due:
            start = max(one, min(free))
            free[free.index(min(free))] = start + seconds
            expected.append(start + seconds - one)
        ends = sorted(one.end for one in found.load.exchanges)
        waits = [end - one for end, one in zip(ends, due, strict=True)]
        error = 1000 * (np.mean(waits) - np.mean(expected))
        text = (
            f"{requests} at {rate or 'inf'}/s, {limit or 'no'} places, {seconds} s: mean {1000 * np.mean(waits):.0f} ms"
        )
        _say(f"{text}, theory {1000 * np.mean(expected):.0f} ms", abs(error) <= 50)


def stall(server: MockServer) -> None:
    """A server that is away for 2 s: a rate shows it, a closed load asks less meanwhile and hides it."""
    rules: list[dict[str, Any]] = [{"requests": [1]}]  # the warm-up
    rules += [{"requests": [number], "latency": 2 - (number - 201) / 100} for number in range(201, 401)]
    server.follow(*rules)
    found = measured(server.base_url, 600, {"request_rate": 100, "traffic_cfg": {"burstiness": 0}})
    p99 = found.total.distributions["e2el_from_due_seconds"].percentiles["p99"]
    _say(f"at 100/s: E2EL* p99 {p99:.2f} s of a stall of 2 s", 1.85 <= p99 <= 2.1)
    server.follow({"requests": [201], "latency": 2.0})
    hidden = (
        measured(server.base_url, 600, {"max_concurrency": 1}).total.distributions["e2el_seconds"].percentiles["p99"]
    )
    _say(f"closed: E2EL p99 {hidden:.3f} s", hidden < 0.5)


def arrivals(server: MockServer) -> None:
    """Kolmogorov tests of the gaps between requests as they were sent, of those that are longer than one sending."""
    server.follow()
    for burstiness in (0.3, 1.0, 4.0):
        model: dict[str, Any] = {"request_rate": 20, "traffic_cfg": {"burstiness": burstiness}}
        found = measured(server.base_url, 400, model)
        sent = sorted(one.start for one in found.load.exchanges)
        gaps = np.array([after - before for before, after in pairwise([0.0, *sent])])
        planned = gamma(burstiness, scale=1 / (20 * burstiness))
        share = planned.cdf(SENDING)
        p = kstest(gaps[gaps > SENDING], lambda gap: (planned.cdf(gap) - share) / (1 - share)).pvalue  # noqa: B023
        shorter = (
            f"{np.mean(gaps <= SENDING):.0%} of the gaps are shorter than {1000 * SENDING:g} ms, planned {share:.0%}"
        )
        _say(f"burstiness {burstiness}: p = {p:.3f}; {shorter}; {_verdict(found, 'schedule')}", p > 0.01)


def rate(_: MockServer) -> None:
    """500 requests a second for 30 s."""
    with lean_server(0.05) as url:
        model = {"request_rate": 500, "stream": False, "traffic_cfg": {"burstiness": 0}}
        found = measured(url, 15_000, model)
    sent = sorted(one.start for one in found.load.exchanges)
    achieved = (len(sent) - 1) / (sent[-1] - sent[0])
    _say(
        f"{achieved:.2f} of 500/s; {_verdict(found, 'schedule')}; {_verdict(found, 'client')}",
        abs(achieved / 500 - 1) < 0.005,
    )


def client(server: MockServer) -> None:
    """A client that a busy thread slows is found, an idle one is not accused."""
    server.follow({"latency": 0.1})
    for words, busy, wanted in (("slowed", _busy, 20), ("idle", _idle, 0)):
        accused = []
        for _ in range(20):
            with busy():
                found = measured(server.base_url, 60, {"request_rate": 40})
            accused += [_verdict(found, "client")] if not _holds(found, "client") else []
        _say(f"{words}: {len(accused)} of 20 accused; {accused[:1]}", len(accused) == wanted)


def scale(server: MockServer) -> None:
    """`perf_viz` of 250,000 answers of 128 pieces takes at most 60 s and 500 MB."""
    server.follow()
    with tempfile.TemporaryDirectory() as name:
        config = json.dumps(_config(name, server.base_url, 1, {"max_concurrency": 64}))
        Path(name, "eval.py").write_text(f"import json\nglobals().update(json.loads({config!r}))\n")
        command = [sys.executable, "-m", "ais_prompt", "run", "eval.py", "-m"]
        subprocess.run([*command, "perf"], cwd=name, check=True, capture_output=True)
        [root] = Path(name, "eval").iterdir()
        _enlarge(RunFolder(root), requests=250_000, pieces=128)
        begun = time.perf_counter()
        with subprocess.Popen([*command, "perf_viz", "-r"], cwd=name, stdout=subprocess.DEVNULL) as process:
            _, process.returncode, used = os.wait4(process.pid, 0)
        wall, peak = time.perf_counter() - begun, used.ru_maxrss * 1024 / 1e6
        text = f"{wall:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time, {peak:.0f} MB"
        _say(text, process.returncode == 0 and wall <= 60 and peak <= 500)


def _enlarge(folder: RunFolder, requests: int, pieces: int) -> None:
    """Replace the only request of a load by many that 64 clients have sent, with random times."""
    random = np.random.default_rng(0)
    schedule, journal = folder.load_file("m", "d", "_schedule.jsonl"), folder.journal("m", "d")
    head, _, end = map(json.loads, schedule.read_text().splitlines())
    line = json.loads(journal.read_text())
    head["schedule"]["requests"] = requests
    line["completion"] |= {"text": "piece " * pieces, "usage": {"prompt_tokens": 100, "completion_tokens": pieces}}
    rows = ({"due": None, "sample_id": f"{number:012x}"} for number in range(requests))
    schedule.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows, end)))
    streams = [random.gamma(2, 0.005, pieces + 3).cumsum() for _ in range(1000)]
    free = np.zeros(64)
    with journal.open("w") as lines:
        for number in range(requests):
            due, stream = float(free[number % 64]), streams[number % 1000]
            taken = due + 0.0001
            done = free[number % 64] = taken + stream[-1] + 0.0005
            one = Exchange(
                *(line["sample_id"], due, taken, float(done)),
                connected=taken,
                sent=taken + 0.0002,
                steps=offsets_of(0, stream).tobytes(),
                kinds=f"o{'a' * pieces}oo",
                max_tokens=pieces,
            )
            line |= {"sample_id": f"{number:012x}", "times": one.times_to_json()}
            lines.write(json.dumps(line) + "\n")


PARTS: Final[Mapping[str, Callable[[MockServer], None]]] = {
    one.__name__: one for one in (truth, places, stall, arrivals, rate, client, scale)
}


@contextmanager
def _process(arguments: Sequence[str]) -> Iterator[str]:
    """Run a server of this folder as long as the block lasts; its base URL."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def _busy() -> Iterator[None]:
    """Keep a thread busy that takes Python's lock from the event loop."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            sum(range(10_000))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _idle() -> Iterator[None]:
    yield


def _holds(found: LoadResult, name: str) -> bool:
    return next(one.holds for one in found.verdicts if one.name == name)


def _verdict(found: LoadResult, name: str) -> str:
    return next(one.text for one in found.verdicts if one.name == name)


def _say(text: str, holds: bool | np.bool) -> None:
    print(f"{'ok  ' if holds else 'FAIL'}  {text}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(serve())
        return
    with mock_server() as server:
        for name in options.only:
            print(f"{name}: {PARTS[name].__doc__} Load of the machine: {os.getloadavg()[0]:.1f}", flush=True)
            PARTS[name](server)


if __name__ == "__main__":
    main()
