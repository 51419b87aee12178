"""A served run doubles as a benchmark of its server; what one run has asked, another one need not ask."""

from __future__ import annotations

import json
import time

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


MODEL = "dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={url!r}, max_concurrency=4, stream=True)"


@pytest.fixture
def served(project: Project, server: MockServer) -> Project:
    server.follow({"latency": 0.05})
    project.write_config(models=MODEL.format(url=server.base_url))
    return project


def test_a_run_tells_how_fast_the_server_was(served: Project) -> None:
    started = time.monotonic()
    done = served.run("run", "eval.py", "--speed")
    elapsed = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    speed = json.loads((served.folder() / "run.json").read_text())["tasks"]["fake/sums"]["speed"]
    assert (speed["requests"], speed["failed"], speed["attempts"]) == (8, 0, 8)
    assert (speed["input_tokens"], speed["output_tokens"]) == (16, 8)
    assert 0.05 <= speed["first_token"]["p50"] <= speed["latency"]["p50"] < elapsed
    assert 0 < speed["concurrency"] <= 4
    assert json.loads((served.folder() / "summary" / "speed.json").read_text())["fake/sums"] == speed
    assert "1st token" in done.stdout

    again = served.run("run", "eval.py", "-r", "--speed")
    assert "1st token" in again.stdout, "a session that asks nothing keeps what was measured"


def test_a_cache_answers_a_new_run_that_asks_the_same(served: Project, server: MockServer) -> None:
    assert served.run("run", "eval.py", "--cache", "answers", "--num-prompts", "5").returncode == 0
    assert server.stats()["requests"] == 5
    done = served.run("run", "eval.py", "--set", "cache=answers")
    assert done.returncode == 0, done.stderr
    assert "5 of 8 samples are answered already, 3 will be asked; 5 answers come from the cache" in done.stderr
    assert server.stats()["requests"] == 8

    # A run folder is complete by itself, with or without the cache.
    latest = served.run("run", "eval.py", "-r")
    assert latest.returncode == 0, latest.stderr
    assert "8 of 8 samples are answered already" in latest.stderr
    # Other settings are other requests.
    served.run("run", "eval.py", "--cache", "answers", "--set", "models.0.max_out_len=7")
    assert server.stats()["requests"] == 16


def test_two_models_of_one_id_share_the_cache_within_a_run(served: Project, server: MockServer) -> None:
    one = MODEL.format(url=server.base_url)
    models = [one.replace("'fake'", f"'fake{number}'") for number in range(3)]
    served.write_config(models=", ".join(models))
    done = served.run("run", "eval.py", "--cache", "answers")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 8
    assert [len(journal.read_text().splitlines()) for journal in served.folder().glob("journal/*/*")] == [8] * 3
    assert "another run uses the cache" not in done.stderr


def test_datasets_that_differ_in_their_scoring_are_asked_once(served: Project, server: MockServer) -> None:
    scored = DATASET.replace("Gsm8kEvaluator", "EMEvaluator").replace("'sums'", "'exact'")
    served.write_config(models=MODEL.format(url=server.base_url), datasets=f"{DATASET}, {scored}")
    done = served.run("run", "eval.py", "--cache", "answers")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 8
    assert [row["n"] for row in served.summary()] == [8, 8]
    # Each has its own answers in the cache.
    served.write_config(models=MODEL.format(url=server.base_url), datasets=scored)
    assert served.run("run", "eval.py", "--cache", "answers").returncode == 0
    assert server.stats()["requests"] == 8
