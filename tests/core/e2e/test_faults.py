"""Faults of servers, networks and machines: nothing is lost, nothing is asked twice, no answered sample is touched."""

from __future__ import annotations

import json
import random

import pytest

from bench.engine import lean_server
from tests.core.e2e.project import Project
from tests.support.servers import MockServer, mock_server
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process


MODEL = (
    "dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={url!r}, max_concurrency=16, timeout=60, "
    "retry=dict(retries={retry}, first_wait=0.05), stream={stream})"
)
LONG_PROMPTS = """dict(
    abbr='sums',
    type='LocalDataset',
    path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='x' * 100_000 + ' {question}'),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(200)]
PASSING = [
    {"status": 408},
    {"status": 409},
    {"status": 425},
    {"status": 429, "headers": {"Retry-After": "0.05"}, "body": {"error": "slow down"}},
    {"status": 500},
    {"status": 503},
    {"status": 529},
    {"drop": "before"},
    {"drop": "midway"},
    {"raw": "<html>"},
    {"body": {"choices": []}},
    {"pieces": 1},
]


def use(project: Project, server: MockServer, *, stream: bool = False, retry: int = 12) -> None:
    project.write_data(ROWS)
    project.write_config(models=MODEL.format(url=server.base_url, retry=retry, stream=stream))


def answers(project: Project) -> list[str]:
    return [line["prediction"] for line in project.predictions()]


@pytest.mark.parametrize("stream", [False, True])
def test_thirty_percent_of_all_faults_mixed_lose_no_answer(project: Project, server: MockServer, stream: bool) -> None:
    use(project, server, stream=stream)
    # One rule after the other is drawn, so that 30 % of all attempts fail in one way or another.
    server.follow(*({**rule, "share": 0.3 / len(PASSING)} for rule in PASSING))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert answers(project) == [row["answer"] for row in ROWS]
    [row] = project.summary()
    assert (row["score"], row["scored"], row["failed"]) == (1.0, 200, 0)
    attempts = [line["completions"][0]["attempts"] for line in project.predictions()]
    # A connection that the server closes instead of answering may have been idle for too long: that is no attempt.
    assert 240 < sum(attempts) <= server.stats()["requests"] < 400


def test_samples_that_fail_for_good_do_not_change_the_others(project: Project, server: MockServer) -> None:
    use(project, server)
    too_long = {"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}}
    server.follow({"text": "17+17", "status": 400, "body": too_long}, {"text": "18+18", "status": 422, "raw": "no"})
    done = project.run("run", "eval.py", "--max-failures", "2")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["score"], row["scored"], row["failed"]) == (1.0, 198, 2)
    failed = [line["completions"][0] for line in project.predictions() if line["prediction"] is None]
    assert sorted(completion["failure"]["kind"] for completion in failed) == ["http_422", "too_long"]


@pytest.mark.parametrize("words", ["maximum context length is 8 tokens", "no reason that anyone knows"])
def test_rows_that_a_server_refuses_do_not_stop_the_others(project: Project, server: MockServer, words: str) -> None:
    use(project, server, retry=0)
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(1000, 1700)] + ROWS[:100])
    server.follow({"text": "+1", "status": 400, "body": {"error": {"message": words}}})
    done = project.run("run", "eval.py", "--max-failures", "100%")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert row["scored"] + row["failed"] == 800
    assert row["score"] == 1.0
    assert row["scored"] >= 80  # those without +1
    again = project.run("run", "eval.py", "-r", "--max-failures", "100%")
    assert again.returncode == 0, again.stderr
    assert project.summary()[0]["scored"] == row["scored"]


def test_a_server_that_goes_away_for_a_while_costs_no_answer(project: Project) -> None:
    with mock_server(latency=0.05) as first:
        use(project, first, retry=2)
        port = int(first.base_url.split(":")[2].split("/")[0])
        process = project.start("run", "eval.py")
        wait_until(lambda: first.stats()["requests"] >= 40, "40 requests")
        first.stop()
    wait_until(lambda: "pausing" in (project.folder() / "logs" / "run.log").read_text(), "the outage is seen")
    with mock_server(port=port):
        _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 0, err
    assert "pausing" in err
    assert "the server answers again" in err
    assert answers(project) == [row["answer"] for row in ROWS]


@pytest.mark.slow
def test_killed_at_random_moments_nothing_is_lost_and_nothing_finished_is_asked_again(
    project: Project, server: MockServer
) -> None:
    use(project, server)
    server.follow({"latency": 0.05})
    moments = random.Random(7)
    kills: list[tuple[int, set[str]]] = []  # requests so far, and the samples that were finished
    for number in range(3):
        process = project.start("run", "eval.py", *(["-r"] if number else []))
        target = server.stats()["requests"] + moments.randrange(5, 60)
        wait_until(lambda target=target: server.stats()["requests"] >= target, f"{target} requests")
        process.kill()
        process.communicate()
        journal = (project.folder() / "journal/fake/sums.jsonl").read_bytes()
        finished = {json.loads(line)["sample_id"] for line in journal.split(b"\n")[:-1]}
        kills.append((len(server.requests()), finished))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert answers(project) == [row["answer"] for row in ROWS]
    assert len({line["sample_id"] for line in project.journal()}) == len(project.journal()) == 200
    prompts = {line["id"]: line["origin_prompt"] for line in project.predictions()}
    asked = [request["body"]["messages"] for request in server.requests()]
    for count, finished in kills:
        assert len(finished) >= 1
        assert not [prompts[sample] for sample in finished if prompts[sample] in asked[count:]]


@pytest.mark.slow
def test_a_server_that_answers_slower_and_slower_is_waited_for(project: Project, server: MockServer) -> None:
    use(project, server)
    server.follow(*({"requests": [n], "latency": 0.01 * n} for n in range(1, 60)), {"latency": 0.6})
    done = project.run("run", "eval.py", "--set", "models.0.traffic_cfg={'adaptive': True}")
    assert done.returncode == 0, done.stderr
    assert answers(project) == [row["answer"] for row in ROWS]


@pytest.mark.slow
def test_an_answer_of_10_mb(project: Project, server: MockServer) -> None:
    use(project, server)
    server.follow({"times": 1, "answer": "y" * 10_000_000})
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    lengths = sorted(len(answer) for answer in answers(project))
    assert (lengths[-1], len(lengths)) == (10_000_000, 200)
    assert answers(project).count("y" * 10_000_000) == 1


@pytest.mark.slow
def test_ten_thousand_prompts_of_100_kb(project: Project) -> None:
    rows = [{"question": f"{n}+{n}=?", "answer": "ok"} for n in range(10_000)]
    project.write_data(rows)
    with lean_server(0.0) as url:  # the mock server would remember all that it is sent
        project.write_config(
            models=f"dict(type='OpenAIChatModel', abbr='fake', model='lean', base_url={url!r}, max_concurrency=64)",
            datasets=LONG_PROMPTS,
        )
        process = project.start("run", "eval.py", "-m", "infer")
        _, err = process.communicate(timeout=2 * WATCHDOG_SECONDS)
    assert process.returncode == 0, err
    assert len({line["key"] for line in project.journal()}) == 10_000
    predictions = project.folder() / "predictions/fake/sums.jsonl"
    with predictions.open("rb") as lines:
        assert sum(len(line) > 100_000 and b'"prediction":"ok"' in line for line in lines) == 10_000
    predictions.unlink()  # a gigabyte
