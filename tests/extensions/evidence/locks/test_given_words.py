"""The words of a command that are written again mean the same as those that were given, and show no secret."""

from __future__ import annotations

import pytest

from ais_prompt.cli.options import SOURCE_NAMES, given_words, shown_command
from ais_prompt.cli.run import run
from ais_prompt.extensions.evidence.lock_command import lock_command

GIVEN = [
    ["eval.py"],
    ["--models", "a", "b", "--datasets", "gsm8k*", "it's", "-w", "my runs"],
    ["eval.py", "--set", "models.0.stop=['a b']", "--set", "models.0.max_out_len=-1", "--num-prompts", "3"],
    ["--url", "http://127.0.0.1:8000/v1", "--url", "http://127.0.0.1:8001/v1", "--model", "m", "--datasets", "d"],
    ["--hf-path", "folder", "--hf-type", "base", "--datasets", "d", "--allow-code-execution"],
    ["eval.py", "--allow-code-execution=unsafe", "--cache", "kept", "--max-requests", "7", "--max-failures", "5%"],
    ["eval.py", "-r", "--dry-run", "-m", "eval"],
    ["eval.py", "--limit", "4", "--runner", "slurm", "--set", "runner.num_shards=8", "--debug"],
]


@pytest.mark.parametrize("args", GIVEN, ids=" ".join)
def test_words_given_again_mean_the_same(args: list[str]) -> None:
    ctx = run.make_context("run", list(args))
    words = given_words(ctx, {parameter.name or "" for parameter in run.params})
    assert run.make_context("run", list(words)).params == ctx.params


def test_only_the_named_options_are_written() -> None:
    ctx = run.make_context("run", ["eval.py", "--cache", "kept", "-m", "infer", "--debug", "--num-prompts", "3"])
    assert given_words(ctx, SOURCE_NAMES) == ["eval.py", "--num-prompts", "3"]
    assert lock_command(ctx, "my.lock") == "aisprompt lock eval.py -o my.lock"


def test_a_command_for_people_shows_no_secret() -> None:
    secret = "sk-abcdefghijklmnopqrstuvwx"
    url = f"https://someone:{secret}@host.example.com/v1"
    ctx = run.make_context("run", ["--url", url, "--set", f"models.0.headers.Cookie={secret}", "--datasets", "d"])
    words = given_words(ctx, SOURCE_NAMES)
    assert url in words
    assert secret not in shown_command(["run", *words])
