"""Explain logs of five tools that really ran: ``python -m tools.real.other_logs ANSWERS.jsonl --keep DIR``.

lm-evaluation-harness, inspect_ai, evalscope, OpenCompass and AISBench ask one local server the same questions. It
repeats answers that a model gave once, so that every run has the same ones: ANSWERS has a line for each question, with
``question``, ``gold`` (a number), ``answer`` and ``finish_reason``. Each pair of logs is explained; exit code 1 if one
cannot be.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path
from threading import Thread
from typing import Any, Final

import click
from msgspec.structs import replace

from ais_prompt.models import WrittenReply, answer_body, words_of
from ais_prompt.testing.apis import question_of
from tools.real.__main__ import CACHE, SECONDS, Server, installed, run_theirs, write_case
from tools.real.cases import CASES, Files, write_files

MODEL: Final = "SmolLM2-135M-Instruct"
PACKAGES: Final = ("lm-eval[api]==0.4.13", "inspect_ai==0.3.285", "openai")
EVALSCOPE: Final = ("evalscope==1.14.1",)
DATASET: Final = """---
configs:
- config_name: main
  data_files: [{split: test, path: test.jsonl}]
---
"""
PEERS: Final = {"opencompass": CASES["chat API"], "ais_bench": CASES["AISBench, chat API"]}
TASK: Final = """
include: {shipped}
task: gsm8k
dataset_path: json
dataset_name: null
dataset_kwargs: {{data_files: {{train: {rows}, test: {rows}}}}}
"""
INSPECT: Final = """
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, prompt_template


@task
def gsm8k():
    rows = json_dataset("rows.jsonl", FieldSpec(input="question", target="gold"))
    solver = [prompt_template("Solve this step by step. End with the number alone.\\n\\n{prompt}"), generate()]
    return Task(rows, solver=solver, scorer=match(numeric=True))
"""


@click.command()
@click.argument("answers", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the logs there.")
@click.option("--set", "chosen", default="gsm8k", show_default=True, help="Only the answers of this set.")
def main(answers: Path, keep: Path | None, chosen: str) -> None:
    """Run the tools on the questions of ANSWERS, and explain each pair of their logs."""
    rows = [row for line in answers.read_text("utf-8").splitlines() if (row := json.loads(line))["set"] == chosen]
    folder = (keep or CACHE / "logs").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    with recorded_answers(rows) as url:
        logs = {"lm_eval": run_lm_eval(rows, folder, url), "inspect": run_inspect(rows, folder, url)}
        logs["evalscope"] = run_evalscope(rows, folder, url)
        logs |= {name: run_peer(name, rows, folder, url) for name in PEERS}
    failed = 0
    for first, second in combinations(logs.values(), 2):
        command = ["explain", str(first.relative_to(folder)), str(second.relative_to(folder)), "--pairs", "2"]
        click.echo(f"\n$ aisprompt {' '.join(command)}\n")
        failed += subprocess.run([sys.executable, "-m", "ais_prompt", *command], cwd=folder).returncode != 0
    sys.exit(int(failed > 0))


@contextmanager
def recorded_answers(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Serve the recorded answer to each question; yield the base URL.

    ``max_tokens`` and ``stop`` cut an answer; a word counts as a token.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            question = question_of(body)
            row = next(row for row in rows if row["question"].strip() in question)
            reply = json.dumps(answer_body(body, 0, _cut(row, body))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


def _cut(row: Mapping[str, Any], body: Mapping[str, Any]) -> WrittenReply:
    answer, reason = row["answer"], row["finish_reason"]
    stops = [stop] if isinstance(stop := body.get("stop") or [], str) else stop
    for place in sorted(answer.find(one) for one in stops if one in answer)[:1]:
        answer, reason = answer[:place], "stop"
    words = words_of(answer)
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or len(words)
    return WrittenReply("".join(words[:limit]), "length" if limit < len(words) else reason)


def run_lm_eval(rows: Sequence[Mapping[str, Any]], folder: Path, url: str) -> Path:
    """Run the shipped task ``gsm8k_cot_zeroshot`` and return the folder of its log."""
    work = folder / "lm_eval"
    python = logs_environment()
    [shipped] = python.parent.glob("lib/python*/site-packages/lm_eval/tasks/gsm8k/gsm8k-cot-zeroshot.yaml")
    files: Files = {
        "tasks/gsm8k.yaml": TASK.format(shipped=shipped, rows=work / "rows.jsonl"),
        "rows.jsonl": _steps(rows),
    }
    write_files(files, work)
    model = f"model={MODEL},base_url={url}/chat/completions,num_concurrent=2"
    options = [
        "--model",
        "local-chat-completions",
        "--model_args",
        model,
        "--tasks",
        "gsm8k",
        "--include_path",
        "tasks",
    ]
    _run([python / "lm_eval", *options, "--apply_chat_template", "--log_samples", "--output_path", "log"], work)
    return work / "log"


def run_inspect(rows: Sequence[Mapping[str, Any]], folder: Path, url: str) -> Path:
    """Run a task with the scorer ``match(numeric=True)`` and at most 64 tokens, and return its log."""
    work = folder / "inspect"
    write_files({"task.py": INSPECT, "rows.jsonl": rows}, work)
    options = ["--model", f"openai-api/local/{MODEL}", "--log-dir", ".", "--max-tokens", "64", "--temperature", "0"]
    _run([logs_environment() / "inspect", "eval", "task.py", *options, "--display", "none"], work, LOCAL_BASE_URL=url)
    [log] = work.glob("*.eval")
    return log.rename(work / "gsm8k.eval")


def run_evalscope(rows: Sequence[Mapping[str, Any]], folder: Path, url: str) -> Path:
    """Run the benchmark ``gsm8k`` without examples on local rows, and return the folder of its log."""
    work = folder / "evalscope"
    write_files({"gsm8k/README.md": DATASET, "gsm8k/test.jsonl": _steps(rows)}, work)
    options = {
        "model": MODEL,
        "api-url": url,
        "api-key": "none",
        "eval-type": "openai_api",
        "datasets": "gsm8k",
        "dataset-args": json.dumps({"gsm8k": {"local_path": "gsm8k", "few_shot_num": 0}}),
        "generation-config": json.dumps({"max_tokens": 256, "temperature": 0}),
        "work-dir": "log",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    _run([logs_environment("env-evalscope", EVALSCOPE) / "evalscope", "eval", *words, "--no-timestamp"], work)
    return work / "log"


def run_peer(name: str, rows: Sequence[Mapping[str, Any]], folder: Path, url: str) -> Path:
    """Run a shipped config of OpenCompass or AISBench for GSM8K, and return its run folder."""
    case = PEERS[name]
    config = case.config.replace("max_out_len=24", "max_out_len=256").replace("{name}", MODEL)
    files = {"gsm8k/train.jsonl": _steps(rows)[:1], "gsm8k/test.jsonl": _steps(rows)}
    write_case(replace(case, files=files, config=config), folder / name, Server(url))
    run_theirs(case.peer, [folder / name], installed())
    [run] = [path for path in (folder / name / "theirs").iterdir() if (path / "predictions").is_dir()]
    return run.rename(folder / name / "run")


def _steps(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows in the form of GSM8K, whose answers end with the number."""
    return [{"question": row["question"], "answer": f"#### {row['gold']}"} for row in rows]


def logs_environment(name: str = "env-logs", packages: Sequence[str] = PACKAGES) -> Path:
    """Return the ``bin`` of an environment with the packages, made if it is not there."""
    env, marker, wanted = CACHE / name, CACHE / name / "installed", "\n".join(packages)
    if not marker.exists() or marker.read_text("utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(env)], check=True)
        subprocess.run([str(env / "bin/python"), "-m", "pip", "install", "--quiet", *packages], check=True)
        marker.write_text(wanted, "utf-8")
    return env / "bin"


def _run(command: Sequence[str | Path], work: Path, **variables: str) -> None:
    """Run a command without the Hub."""
    keys = {"OPENAI_API_KEY": "none", "LOCAL_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    subprocess.run(
        list(map(str, command)), cwd=work, env={**os.environ, **keys, **variables}, check=True, timeout=SECONDS
    )


if __name__ == "__main__":
    main()
