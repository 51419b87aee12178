"""A model behind several servers: who answers, what an outage of one costs, and what the run folder says of it."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.kills import Bench, measure
from tests.core.e2e.project import DATASET, Project
from tests.support.servers import MockServer, mock_server
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(120)]
DIALOGUE = """dict(
    abbr='talk', type='LocalDataset', path='data/talk.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='MultiTurnPromptTemplate', template=dict(
            round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


def served(*servers: MockServer | str, concurrency: int = 4, more: str = "") -> str:
    urls = [server if isinstance(server, str) else server.base_url for server in servers]
    return (
        f"dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={urls!r}, "
        f"max_concurrency={concurrency}{more})"
    )


@pytest.fixture
def servers(server: MockServer, second_server: MockServer) -> tuple[MockServer, MockServer]:
    for one in (server, second_server):
        one.follow({"latency": 0.01})
    return server, second_server


def asked(project: Project, servers: str, rows: list[dict[str, Any]] = ROWS, datasets: str = DATASET) -> None:
    project.write_data(rows)
    project.write_config(models=servers, datasets=datasets)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr


def replicas(project: Project) -> Counter[str]:
    """Address → number of answers, as the predictions say."""
    return Counter(line["completions"][0].get("replica", "") for line in project.predictions())


def test_replicas_share_the_work_and_the_record_says_who_answered(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    asked(project, served(*servers))
    counts = {server.base_url: server.stats()["requests"] for server in servers}
    assert sum(counts.values()) == 120
    assert min(counts.values()) > 30
    assert all(server.stats()["most_in_flight"] <= 4 for server in servers)
    assert replicas(project) == counts
    assert Counter(line["completion"]["replica"] for line in project.journal()) == counts
    record = json.loads((project.folder() / "run.json").read_text())
    assert record["sessions"][0]["addresses"] == {"fake": ", ".join(sorted(counts))}
    assert record["tasks"]["fake/sums"]["speed"]["replicas"] == counts


def test_other_replicas_or_a_single_address_ask_for_nothing_again(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    one, other = servers
    asked(project, served(one, other))
    before = replicas(project)
    for models, is_moved in (
        (served(other, one), False),
        (served(one), True),
        (served(one, "http://127.0.0.1:9/v1"), True),
    ):
        project.write_config(models=models)
        again = project.run("run", "eval.py", "-r")
        assert again.returncode == 0, again.stderr
        assert "120 of 120 samples are answered already" in again.stderr
        assert ("earlier answers came from" in again.stderr) is is_moved
    assert one.stats()["requests"] + other.stats()["requests"] == 120
    assert replicas(project) == before


def test_a_replica_that_dies_in_the_middle_costs_no_answer(project: Project, tmp_path: Path) -> None:
    logs = [tmp_path / f"log{number}" for number in range(3)]
    with (
        mock_server(latency=0.05, log=logs[0]) as one,
        mock_server(latency=0.2, log=logs[1]) as slow,
        mock_server(latency=0.05, log=logs[2]) as other,
    ):
        project.write_data(ROWS)
        project.write_config(models=served(one, slow, other, more=", retry=1"))
        process = project.start("run", "eval.py")
        wait_until(lambda: other.stats()["requests"] >= 12, "twelve requests")
        other.stop()
        _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert "asking other servers for 1 s after" in err
    assert [line["prediction"] for line in project.predictions()] == [row["answer"] for row in ROWS]
    questions = [[_question(json.loads(line)) for line in log.read_text().splitlines()] for log in logs]
    answered: dict[str, list[str]] = {server.base_url: [] for server in (one, slow, other)}
    for line in project.predictions():
        answered[line["completions"][0]["replica"]].append(line["origin_prompt"][-1]["content"])
    assert len(answered[other.base_url]) >= 4
    # What the dead one has answered, the others were not asked; what they were asked, they were asked once.
    assert not {*answered[other.base_url]} & {*questions[0], *questions[1]}
    assert Counter(questions[0] + questions[1]).most_common(1)[0][1] == 1
    assert len(answered[slow.base_url]) < len(answered[one.base_url])


def _question(entry: dict[str, Any]) -> str:
    return str(entry["body"]["messages"][-1]["content"])


def test_a_replica_that_is_not_there_is_left_out(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.01})
    asked(project, served("http://127.0.0.1:9/v1", server, more=", retry=0"))
    assert replicas(project) == {server.base_url: 120}


def test_if_none_is_there_the_task_ends_soon(project: Project) -> None:
    project.write_data(ROWS)
    project.write_config(models=served("http://127.0.0.1:9/v1", "http://127.0.0.1:19/v1", more=", retry=0"))
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    refused, remedy = done.stderr.splitlines()[-2:]
    assert re.fullmatch(r"no answer from http://127.0.0.1:1?9/v1: Connection refused", refused)
    assert remedy == "  nothing was answered; start the server and run the same command with -r"


def test_a_replica_that_hangs_costs_no_answer(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.01})
    with mock_server(latency=0.01) as other:
        project.write_data(ROWS)
        project.write_config(models=served(server, other, more=", timeout=0.5, retry=2"))
        process = project.start("run", "eval.py")
        wait_until(lambda: other.stats()["requests"] >= 8, "eight requests")
        other.signal(signal.SIGSTOP)
        try:
            _, err = process.communicate(timeout=100)
        finally:
            other.signal(signal.SIGCONT)
    assert process.returncode == 0, err
    assert [line["prediction"] for line in project.predictions()] == [row["answer"] for row in ROWS]
    failed_over = [line for line in project.predictions() if line["completions"][0]["attempts"] > 1]
    assert server.base_url in {line["completions"][0]["replica"] for line in failed_over}


def test_the_order_of_replicas_is_no_part_of_the_cache(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    one, other = servers
    project.write_data(ROWS[:8])
    for models in (served(one, other), served(other, one)):
        project.write_config(models=models)
        assert project.run("run", "eval.py", "--cache", "cache").returncode == 0
    assert one.stats()["requests"] + other.stats()["requests"] == 8


def test_dialogues_stay_on_one_replica(project: Project, servers: tuple[MockServer, MockServer]) -> None:
    rows = [
        {"question": [f"{n}+{turn}=?" for turn in range(4)], "answer": [str(n + turn) for turn in range(4)]}
        for n in range(100, 130)
    ]
    project.write_data(rows, "talk.jsonl")
    project.write_config(models=served(*servers), datasets=DIALOGUE)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    lines = project.predictions(dataset="talk")
    assert {len({answer["replica"] for answer in line["completions"]}) for line in lines} == {1}
    assert {line["completions"][0]["replica"] for line in lines} == {server.base_url for server in servers}


def test_secrets_in_the_addresses_of_replicas_are_sent_and_never_shown(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    one, other = servers
    secret = "signature-0123456789"
    project.environment["MY_SIGNATURE"] = "signature-9876543210"
    urls = f"{one.base_url}?sig={secret}", f"{other.base_url.replace('://', '://me:pass-word-1234@')}?sig=$MY_SIGNATURE"
    asked(project, served(*urls, more=", api_key=None"))
    assert {request["path"].partition("sig=")[2] for request in one.requests()} == {secret}
    assert {request["path"].partition("sig=")[2] for request in other.requests()} == {"signature-9876543210"}
    assert {request["authorization"] for request in other.requests()} == {True}
    assert set(replicas(project)) == {one.base_url, other.base_url}
    stored = b"".join(path.read_bytes() for path in project.folder().rglob("*") if path.is_file())
    assert not [word for word in (secret, "signature-9876543210", "pass-word-1234") if word.encode() in stored]


def test_url_may_be_given_twice(project: Project, servers: tuple[MockServer, MockServer]) -> None:
    urls = [word for server in servers for word in ("--url", server.base_url)]
    done = project.run("run", *urls, "--datasets", "demo_addition", "--num-prompts", "8")
    assert done.returncode in (0, 1), done.stderr
    assert min(server.stats()["requests"] for server in servers) >= 1
    assert f"--url {servers[0].base_url} --url {servers[1].base_url}" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("urls", "words"),
    [
        ("[]", "base_url is an empty list"),
        ("['http://a.test/v1', 'http://a.test/v1/']", "base_url names http://a.test/v1 twice"),
        ("['http://a.test/v1', 'b.test']", "base_url is not the http(s) address of a server"),
        ("['http://a.test/v1', 7]", "base_url"),
    ],
)
def test_wrong_lists_are_refused_before_anything_is_asked(project: Project, urls: str, words: str) -> None:
    project.write_config(models=f"dict(type='OpenAIChatModel', abbr='fake', model='m', base_url={urls}, api_key=None)")
    done = project.run("run", "eval.py")
    assert done.returncode in (2, 3)
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_models_that_share_a_replica_share_its_places(project: Project, servers: tuple[MockServer, MockServer]) -> None:
    one, other = servers
    both = served(one, other).replace("'fake'", "'both'")
    asked(project, f"{both}, {served(one)}")
    assert one.stats()["most_in_flight"] == 4
    assert one.stats()["requests"] + other.stats()["requests"] == 240


@pytest.mark.slow
def test_killed_at_random_moments_over_20_datasets_and_two_models_nothing_is_lost_or_asked_twice(
    tmp_path: Path, servers: tuple[MockServer, MockServer]
) -> None:
    one, other = servers
    with mock_server(latency=0.02) as alone:
        bench = Bench(tmp_path, [[alone.base_url], [one.base_url, other.base_url]], 20, 8)
        outcome = measure(bench, kills=6, seed=11, step=60)
    assert (outcome.predictions, outcome.wrong) == (320, 0)
    assert (outcome.twice, outcome.repeated) == (0, 0)
