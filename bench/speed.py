"""How many times as fast is each thing that users wait for as in the program of a peer? One table for the docs.

    python -m bench.speed                       # everything: an hour on two quiet cores
    python -m bench.speed --only served bare    # requests to a server, 10 minutes

In one run each program does the same work in turn with this program, round after round. A line has the median of the
ratios of the rounds, with the least and the most: of wall time, of processor time, and of the most memory. Above 1, the
peer takes more.

served   a whole command: questions of 200 ms, 64 in flight, scored, with logs; `bench.lean_server` answers
bare     requests a second to a server that takes no time: a loop over aiohttp that keeps nothing is the ceiling
local    log-likelihoods and answers of a model in memory, see `bench.local_peers`
load     a whole load by this program and by ``vllm bench serve``, see `tools.real.bench`; the server is a mock

What measures stays small: the most memory of a process counts that of its parent when it was started.

Environments are those of `tools.real`, which are made if they are not there, except that of vLLM: the line of its tool
is left out unless ``python -m tools.real.servers vLLM`` has made it.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from bench.engine import ROOT, RUN, ask_barely, evaluate, lean_server, run_command, write_project

KINDS: Final = ("served", "bare", "local", "load")
QUESTIONS: Final = 1_000
IN_FLIGHT: Final = 64
LATENCY: Final = 0.2
"""Seconds until an answer."""
LM_EVAL_TASK: Final = r"""
task: questions
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "Question: {{question}}\nAnswer: "
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["<end>"], max_gen_toks: 256}
metric_list: [{metric: exact_match}]
"""
INSPECT_TASK: Final = r"""
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, prompt_template


@task
def questions():
    rows = json_dataset("questions.jsonl", FieldSpec(input="question", target="answer"))
    return Task(rows, solver=[prompt_template("Question: {prompt}\nAnswer: "), generate()], scorer=match())
"""


class Used(NamedTuple):
    """What one round took: seconds of wall time and of the processor, and the most MiB; None if it is not known."""

    wall: float
    processor: float | None = None
    mib: float | None = None


class Line(NamedTuple):
    """A line of the table.

    Attributes:
        work: what was done.
        peer: by whom else.
        ours, theirs: of each round.
    """

    work: str
    peer: str
    ours: Sequence[Used]
    theirs: Sequence[Used]

    def cells(self) -> list[str]:
        """Return the cells: work, peer, and the ratios."""
        pairs = list(zip(self.ours, self.theirs, strict=True))
        return [self.work, self.peer, *(_ratios([(mine[at], other[at]) for mine, other in pairs]) for at in range(3))]


def served(rounds: int) -> Iterator[Line]:
    """Whole commands that ask a server."""
    # In a process of its own: these imports take much memory.
    code = "from tools.real.other_logs import logs_environment; print(logs_environment())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    peers = Path(done.stdout.splitlines()[-1])
    url_of = "{url}/chat/completions,num_concurrent=" + str(IN_FLIGHT)
    model = ["--model", "local-chat-completions", "--model_args", "model=lean,base_url=" + url_of]
    commands = {
        "aisprompt": list(RUN),
        f"lm-eval {_version(peers, 'lm_eval')}": [
            str(peers / "lm_eval"),
            *(*model, "--tasks", "questions", "--include_path", ".", "--apply_chat_template"),
            *("--log_samples", "--output_path", "log"),
        ],
        f"inspect_ai {_version(peers, 'inspect_ai')}": [
            str(peers / "inspect"),
            *("eval", "task.py", "--model", "openai-api/local/lean", "--max-connections", str(IN_FLIGHT)),
            *("--max-tokens", "256", "--temperature", "0", "--display", "none", "--log-dir", "."),
        ],
    }
    used: dict[str, list[Used]] = {name: [] for name in commands}
    with lean_server(LATENCY) as url, TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, QUESTIONS, IN_FLIGHT, url)
        (folder / "questions.yaml").write_text(LM_EVAL_TASK)
        (folder / "task.py").write_text(INSPECT_TASK)
        keys = {"OPENAI_API_KEY": "none", "LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}
        keys |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PYTHONPATH": ""}
        for _ in range(rounds):
            for program, words in commands.items():
                given = {} if program == "aisprompt" else keys
                cost = run_command([word.replace("{url}", url) for word in words], folder, url, given)
                if cost.stats["requests"] < QUESTIONS:
                    raise SystemExit(f"{program} asked only {cost.stats['requests']} of {QUESTIONS} questions")
                used[program].append(Used(cost.wall, cost.processor, cost.mib))
    ours, *_ = used.values()
    yield from (
        Line(f"{QUESTIONS:,} questions of {1000 * LATENCY:g} ms, {IN_FLIGHT} in flight", peer, ours, theirs)
        for peer, theirs in list(used.items())[1:]
    )


def bare(rounds: int, samples: int = 20_000) -> Iterator[Line]:
    """Seconds from the first request to the last answer; processor time of the whole command."""
    ours: list[Used] = []
    theirs: list[Used] = []
    with lean_server(0.0) as url:
        for _ in range(rounds):
            for used, cost in ((theirs, ask_barely(samples, 256, url)), (ours, evaluate(samples, 256, url))):
                used.append(Used(samples / cost.rate, cost.processor))
    yield Line(f"{samples:,} requests without latency", f"bare aiohttp {version('aiohttp')}", ours, theirs)


def local(rounds: int, questions: int, answers: int) -> Iterator[Line]:
    """The same model in each program; memory is the peak after loading."""
    from bench.local_peers import PROGRAMS, WAYS, ask_in_turn

    sizes = {"questions": questions, "answers": answers, "rounds": rounds}
    for way, count, replies in ask_in_turn(tuple(PROGRAMS), WAYS, **sizes):
        used = {name: [Used(one["seconds"], mib=one["mib"]) for one in each] for name, each in replies.items()}
        ours = used.pop("here")
        yield from (Line(f"{count} {way} of SmolLM2-135M, float32", peer, ours, one) for peer, one in used.items())


def load(rounds: int) -> Iterator[Line]:
    """Whole loads of the same requests, by each tool in a process of its own."""
    from tools.real.bench import LoadShape, Sizes, measure_ours, measure_theirs, mocked, write_prompts
    from tools.real.servers import CACHE, SERVERS, Installed, small_model
    from tools.real.servers import version as version_of

    env, sizes, shape = CACHE / "vLLM", Sizes(200, 128, 32), LoadShape("32 clients", clients=32)
    if not (env / "installed").exists():
        print("vLLM is not installed: the line of its tool is left out", file=sys.stderr)
        return
    model = small_model()
    installed = Installed(env, model.folder, model.gguf)
    ours: list[Used] = []
    theirs: list[Used] = []
    with TemporaryDirectory() as name, mocked(sizes.tokens, Path(name)) as running:
        write_prompts(sizes, Path(name))
        for _ in range(rounds):
            ours.append(_measured(lambda: measure_ours(shape, sizes, running, Path(name))))
            theirs.append(_measured(lambda: measure_theirs(shape, sizes, running, installed, Path(name))))
    peer = f"vllm bench serve {version_of(installed, SERVERS['vLLM'])}"
    yield Line(f"a load of {sizes.requests} requests, {shape.title}", peer, ours, theirs)


def _measured(work: Any) -> Used:
    """Return the time of work that other processes do."""
    started, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Used(time.perf_counter() - started, processor)


def _version(programs: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([programs / "python", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _ratios(pairs: Sequence[tuple[float | None, float | None]]) -> str:
    """Return the median of the ratios, theirs to ours, and the least and the most; empty if they are not known."""
    found = [theirs / ours for ours, theirs in pairs if ours and theirs]
    return f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})" if found else ""


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=12, help="with options, for log-likelihoods")
    parser.add_argument("--answers", type=int, default=32, help="of a local model")
    given = parser.parse_args()
    lines: Mapping[str, Any] = {
        "served": lambda: served(given.rounds),
        "bare": lambda: bare(given.rounds),
        "local": lambda: local(given.rounds, given.questions, given.answers),
        "load": lambda: load(given.rounds),
    }
    packages = " · ".join(f"{name} {version(name)}" for name in ("ais-prompt", "aiohttp"))
    print(f"{packages} · Python {platform.python_version()} · {os.cpu_count()} cores · {time.strftime('%Y-%m-%d')}\n")
    print("| work | peer | times its time | processor time | memory |\n|---|---|---|---|---|", flush=True)
    for kind in given.only:
        for line in lines[kind]():
            print(f"| {' | '.join(line.cells())} |", flush=True)


if __name__ == "__main__":
    main()
