"""Mistakes of newcomers: what is said names what to write instead."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli import run_cli
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

CONFIG = """
models = [dict(type='OpenAIChatModel', model='mock', base_url='URL', max_out_len=64)]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='questions.csv',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{question}')])),
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)]
"""

# What is typed, what is said, the exit code.
COMMANDS = [
    ("run URL --data questions.csv", "fix:   aisprompt run --url URL --data questions.csv", 2),
    ("run openai --data questions.csv", "fix:   aisprompt run --url openai --data questions.csv", 2),
    ("view-prompt questions.csv", "fix:   aisprompt view-prompt --data questions.csv", 2),
    ("check questions.csv", "fix:   aisprompt check --data questions.csv", 2),
    ("run questions.csv", "fix:   aisprompt run --data questions.csv --url http://127.0.0.1:8000/v1", 2),
    ("check questions.csv --url URL", "fix:   aisprompt check --data questions.csv --url URL", 2),
    ("check weights", "fix:   aisprompt check --hf-path weights", 2),
    ("run --url URL --datasets gsm", "fix:   did you mean 'gsm8k_gen' or", 2),
    ("run --url URL --datasets gms8k_gen", "fix:   did you mean 'gsm8k_gen'?", 2),
    ("run --models gpt-4o --data questions.csv", "--url openai --model gpt-4o", 2),
    ("run --models claude-x --data questions.csv", "--url anthropic --model claude-x", 2),
    ("run --models lab/weights --data questions.csv", "--hf-path lab/weights", 2),
    ("run --url URL --model gpt-9 --data questions.csv", "does not list 'gpt-9'; it lists mock", 0),
    ("run --url HOST --data questions.csv", "--url HOST means http://HOST/v1", 0),
    ("run --url http://HOST/ --data questions.csv", "--url http://HOST means http://HOST/v1", 0),
    ("run --url URL/chat/completions --data questions.csv", "--url URL/chat/completions means URL", 0),
    ("run --url ftp://HOST --data questions.csv", "not the http(s) address", 2),
    ("run --url URL --data questions.csv --prompt '{question} {answer}'", "{answer} is always empty", 0),
    ("run --hf missing/weights/here --data questions.csv", "where: missing/weights/here", 3),
    ("run eval.py --temperature 0.7", "--set models.0.generation_kwargs.temperature=0.7", 2),
    ("describe --temperature", "With --url or --hf-path", 0),
    ("describe enable_thinking", "chat_template_kwargs=dict(enable_thinking=...)", 0),
    ("describe 429", "sent again", 0),
    ("describe ECONNREFUSED", "it is not started", 0),
    ("describe ConnectionResetError", "The connection broke", 0),
    ("compare questions.csv", "'questions.csv' is a file, not a run", 2),
    ("score base.py", "run it first: aisprompt run base.py", 2),
    ("run --url https://api.openai.invalid --model m --data questions.csv", "means https://api.openai.invalid/v1", 3),
    ("describe system_prompt", "role='SYSTEM'", 0),
    ("describe max_tokens", "max_out_len", 0),
]

# What is replaced in the config, by what, and what `check` says.
CONFIGS = [
    ("round=[", "rounds=[", "did you mean 'round'?"),
    ("round=[", "messages=[", "template=dict(round=[...])"),
    ("GenInferencer", "PPLInferencer", "open answers, which need GenInferencer"),
    ("max_out_len=64", "max_out_len='512'", "fix:   write 512"),
    ("max_out_len=64", "timeout='60s'", "without a unit, such as 60"),
    ("max_out_len=64", "temprature=0.7", "did you mean 'temperature'? write generation_kwargs=dict(temperature=...)"),
    ("max_out_len=64", "max_token=64", "did you mean 'max_tokens'? write max_out_len"),
    ("type='GenInferencer'", "type='GenInferencer', max_out_len=0", "fix:   write 1 or more, or leave max_out_len out"),
    ("max_out_len=64", "max_out_len=512.0", "fix:   write 512"),
    ("max_out_len=64", "stream='True'", "fix:   write True"),
    ("max_out_len=64", "max_concurrency=0", "write 1 or more, or leave max_concurrency out"),
    ("max_out_len=64", "generation_kwargs=dict(temperature='0')", "temperature takes float or None"),
    ("max_out_len=64", "traffic_cfg=dict(burstiness='0')", "burstiness takes float or None"),
    ("max_out_len=64", "retry=-1", "fix:   write 0 or more, or leave retry out"),
    ("max_out_len=64", "timeout=-1", "write more than 0, or leave timeout out"),
]


def test_mistakes_on_the_command_line(tmp_path: Path, server: MockServer) -> None:
    _write_files(tmp_path)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")

    def here(text: str) -> str:
        return text.replace("URL", server.base_url).replace("HOST", host)

    for typed, said, code in COMMANDS:
        done = run_cli(*shlex.split(here(typed)), folder=tmp_path)
        shown = " ".join((done.stdout + done.stderr).split())
        assert " ".join(here(said).split()) in shown, typed
        assert (done.returncode, "Traceback" in shown) == (code, False), typed


def test_mistakes_in_a_config(tmp_path: Path) -> None:
    _write_files(tmp_path)
    for right, wrong, said in CONFIGS:
        assert right in CONFIG
        (tmp_path / "eval.py").write_text(CONFIG.replace(right, wrong).replace("URL", "http://127.0.0.1:9/v1"))
        done = run_cli("check", "eval.py", folder=tmp_path)
        assert said in done.stdout + done.stderr, wrong


def _write_files(folder: Path) -> None:
    rows = [f"What is {number} plus 1?,{number + 1}" for number in range(12)]
    (folder / "questions.csv").write_text("\n".join(["question,answer", *rows]))
    (folder / "base.py").touch()
    (folder / "weights").mkdir()
    (folder / "weights" / "config.json").write_text("{}")
