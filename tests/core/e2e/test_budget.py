"""A run is paused when its budget or the provider's quota is used up, and goes on without asking anything twice."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from typing import Any

import pytest

from tests.core.e2e.project import DATASET, Project, read_lines
from tests.core.e2e.test_dialogue import DIALOGUE, WHOLE
from tests.core.e2e.test_dialogue import ROWS as TALKS
from tests.core.e2e.test_dialogue import model as talking
from tests.core.e2e.test_dialogue import scores as dialogue_scores
from tests.core.e2e.test_suite import LOCAL_MODEL, journals, scores, served, wait_for, write_suite
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

PRICE = ", price=dict(input=1, output=2, currency='EUR', per=1000))"
NO_QUOTA = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}

NOTING_RETRIEVER = """
from pathlib import Path

from ais_prompt import FixKRetriever


class NotingRetriever(FixKRetriever):
    def retrieve(self, train, test):
        Path("retrieved").touch()
        return super().retrieve(train, test)

    def candidates(self, train, test):
        return [range(len(train))] * len(test)

    def trial(self, train, test):
        return (0,)
"""


def priced(server: MockServer, abbr: str = "fake", concurrency: int = 4) -> str:
    return served(server, abbr, concurrency).removesuffix(")") + PRICE


def record(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.folder() / "run.json").read_text())
    return found


def journaled(project: Project, model: str = "fake") -> list[dict[str, Any]]:
    return [line for path in project.root.glob(f"outputs/eval/*/journal/{model}/*") for line in read_lines(path)]


def test_a_run_stops_after_so_many_requests_and_goes_on_where_it_stopped(project: Project, server: MockServer) -> None:
    server.follow({})
    write_suite(project, served(server), [6, 5, 4])
    done = project.run("run", "eval.py", "--max-requests", "8")
    assert done.returncode == 4, done.stderr
    assert "Paused: max_requests=8 is used up" in done.stderr
    assert "2 of 3 tasks paused" in done.stderr
    assert f"--max-requests 8 -r {project.folder().name}" in done.stdout
    assert "asked: 8 requests" in done.stdout
    assert server.stats()["requests"] == 8 == len(journaled(project))
    assert record(project)["status"] == "paused"
    assert [row["note"].partition(":")[0] for row in project.summary()] == ["", "paused", "paused"]

    refused = project.run("baseline", "eval", "-o", "base.json")
    assert refused.returncode == 2
    assert "it is paused" in refused.stderr
    partial = project.run("score", "eval")
    assert "2 of 5" in partial.stdout
    # The budget is that of a session: the next one has as much.
    assert project.run("run", "eval.py", "-r", "--max-requests", "7").returncode == 0
    assert server.stats()["requests"] == 15
    assert scores(project) == [(f"part{part}", 1.0) for part in range(3)]
    assert [session["used"]["requests"] for session in record(project)["sessions"]] == [8, 7]
    assert record(project)["used"]["requests"] == 15
    assert record(project)["status"] == "finished"


@pytest.mark.parametrize(
    ("limit", "words"),
    [("max_tokens_total=40", "max_tokens_total=40 is used up"), ("max_cost=0.05", "max_cost=0.05 is used up")],
)
def test_a_limit_of_tokens_or_cost_is_kept_and_what_is_under_way_is_finished(
    project: Project, server: MockServer, limit: str, words: str
) -> None:
    """Each request has 3 tokens in and 1 out, and costs 0.005 EUR: ten of them use either limit up."""
    server.follow({"latency": 0.05})
    write_suite(project, priced(server), [30])
    with (project.root / "eval.py").open("a") as config:
        config.write(f"budget = dict({limit})\n")
    done = project.run("run", "eval.py")
    assert done.returncode == 4, done.stderr
    assert words in done.stderr
    requests = server.stats()["requests"]
    assert 10 <= requests <= 13  # four at a time
    assert len(journaled(project)) == requests
    assert record(project)["used"] == {
        "requests": requests,
        "input_tokens": 3 * requests,
        "output_tokens": requests,
        "cost": {"EUR": pytest.approx(0.005 * requests)},
        "attempts": requests,
        "estimated": 0,
    }
    while (done := project.run("run", "eval.py", "-r")).returncode == 4:
        assert len(journaled(project)) == server.stats()["requests"] <= 30
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 30
    assert set(Counter(journals(project)["part0"]).values()) == {1}
    assert scores(project) == [("part0", 1.0)]


@pytest.mark.parametrize("answer", [{"status": 402, "body": {"error": "pay"}}, {"status": 429, "body": NO_QUOTA}])
def test_an_answer_about_the_quota_pauses_the_run_and_is_no_failure(
    project: Project, server: MockServer, answer: dict[str, Any]
) -> None:
    server.follow({"requests": list(range(8, 100)), **answer})
    write_suite(project, served(server), [5, 5, 5])
    done = project.run("run", "eval.py")
    assert done.returncode == 4, done.stderr
    assert "Paused: the provider's quota is used up: " in done.stderr
    assert len(journaled(project)) == 7
    assert all("failure" not in line["completion"] for line in journaled(project))
    assert server.stats()["requests"] <= 7 + 4  # those that were under way; none is sent again
    assert record(project)["status"] == "paused"
    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 8
    assert scores(project) == [(f"part{part}", 1.0) for part in range(3)]


def test_another_model_goes_on_when_one_has_no_quota(
    project: Project, server: MockServer, second_server: MockServer
) -> None:
    server.follow({"status": 402, "body": {"error": "pay"}})
    write_suite(project, served(server, "poor") + ", " + served(second_server, "rich"), [4, 4])
    done = project.run("run", "eval.py")
    assert done.returncode == 4, done.stderr
    assert second_server.stats()["requests"] == 8
    by_model = {(row["model"], row["dataset"]): row["score"] for row in project.summary()}
    assert by_model == {
        ("poor", "part0"): None,
        ("poor", "part1"): None,
        ("rich", "part0"): 1.0,
        ("rich", "part1"): 1.0,
    }
    assert journaled(project, "poor") == []


@pytest.mark.parametrize("most", [1, 7, 17])
def test_a_dialogue_goes_on_in_the_middle(project: Project, most: int) -> None:
    project.write_data(TALKS, "talk.jsonl")
    project.write_config(models=talking(max_concurrency=2), datasets=DIALOGUE)
    assert project.run("run", "eval.py", "--max-requests", str(most)).returncode == 4
    assert len(journaled(project)) == most
    assert project.run("run", "eval.py", "-r").returncode == 0
    turns = Counter((line["sample_id"], line["turn"]) for line in journaled(project))
    assert set(turns.values()) == {1}
    assert len(turns) == 18
    assert dialogue_scores(project) == WHOLE


def test_requests_to_a_model_in_memory_count(project: Project) -> None:
    (project.root / "probe_model.py").write_text(LOCAL_MODEL)
    write_suite(project, "dict(type='probe_model.Echo', abbr='fake')", [5, 2])
    done = project.run("run", "eval.py", "--max-requests", "3")
    assert done.returncode == 4, done.stderr
    assert len(journaled(project)) == 3
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert len(journaled(project)) == 7


def test_ctrl_c_stops_a_run_that_is_about_to_pause(project: Project, server: MockServer) -> None:
    server.follow({"text": "part0: 2+", "latency": 90})
    write_suite(project, served(server), [8])
    process = project.start("run", "eval.py", "--max-requests", "5")
    wait_for(lambda: len(journaled(project)) == 4 and server.stats()["requests"] == 5, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert record(project)["status"] == "interrupted"


def test_the_estimate_is_what_is_asked_in_the_end(project: Project, server: MockServer) -> None:
    server.follow({})
    write_suite(project, priced(server), [7, 250])
    config = (project.root / "eval.py").read_text()
    (project.root / "eval.py").write_text(config.replace("type='GenInferencer'", "type='GenInferencer', n=2", 1))
    planned = project.run("run", "eval.py", "--dry-run")
    assert "fake/part0: 7 questions, 14 requests, about " in planned.stdout
    for done in (planned, project.run("check", "eval.py")):
        assert done.returncode == 0, done.stderr
        words = r"257 questions, 264 requests, about [\d,]+ tokens in, at most (.*) out, (.*)"
        found = re.search(words, done.stdout)
        assert found is not None, done.stdout
        assert found[1] == f"{264 * 256:,}"
        assert found[2].endswith(" EUR")
    assert server.stats()["requests"] == 0
    warned = project.run("run", "eval.py", "--dry-run", "--max-requests", "263", "--max-cost", "100")
    assert "Warning: max_requests=263 is not enough" in warned.stdout
    assert "Warning: max_cost=100.0 may not be enough" in warned.stdout
    assert project.run("run", "eval.py").returncode == 0
    assert server.stats()["requests"] == 264


def test_the_estimate_does_not_look_for_the_examples_of_every_question(project: Project) -> None:
    (project.root / "noting.py").write_text(NOTING_RETRIEVER)
    retriever = "type='noting.NotingRetriever', fix_id_list=[0], allow_overlap=True"
    template = "'</E>{question}\\nAnswer: {answer}', ice_token='</E>'"
    dataset = DATASET.replace("type='ZeroRetriever'", retriever)
    shown = "dict(type='PromptTemplate', template='{question} is {answer}')"
    dataset = dataset.replace("retriever=", f"ice_template={shown}, retriever=")
    project.write_config(datasets=dataset.replace("'{question}\\nAnswer: {answer}'", template))
    for args in (["check", "eval.py"], ["run", "eval.py", "--dry-run"]):
        done = project.run(*args)
        assert done.returncode == 0, done.stderr
        assert "8 questions, 8 requests" in done.stdout
    assert not (project.root / "retrieved").exists()
    assert project.run("run", "eval.py").returncode in (0, 1)
    assert (project.root / "retrieved").exists()


@pytest.mark.parametrize(
    ("model", "more", "words"),
    [
        ("price=dict(input=1)", "", "has no 'output'"),
        ("price=dict(input=-1, output=1)", "", "price.input is -1 (int), not an amount"),
        ("price=dict(input=1, output=1, unit=3)", "", "unknown key 'unit'"),
        ("price=dict(input=1, output=1, per=0)", "", "price.per is 0"),
        ("price=3", "", "price is 3 (int), not a dict"),
        ("", "budget = dict(max_cost=1)", "fake has none"),
        ("", "budget = dict(max_request=1)", "unknown key 'max_request'"),
        ("", "budget = dict(max_requests=0)", "max_requests is 0 (int), not a number of requests from 1"),
        ("", "budget = dict(max_tokens_total='5')", "max_tokens_total is '5' (str), not a number"),
    ],
)
def test_faults_of_prices_and_budgets(project: Project, model: str, more: str, words: str) -> None:
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', {model})", more=more)
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert words in done.stderr
    assert "eval.py:" in done.stderr


def test_prices_in_two_currencies_cannot_be_added_up(project: Project) -> None:
    models = [
        f"dict(type='ScriptedModel', abbr={currency!r}, price=dict(input=1, output=1, currency={currency!r}))"
        for currency in ("EUR", "USD")
    ]
    project.write_config(models=", ".join(models))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "prices in EUR and USD" in done.stderr


def test_max_cost_needs_prices_on_the_command_line_too(project: Project) -> None:
    done = project.run("run", "eval.py", "--max-cost", "1")
    assert done.returncode == 2
    assert "max_cost needs the price of every model" in done.stderr


def test_all_requests_that_were_sent_count_where_a_server_refuses_the_key(project: Project, server: MockServer) -> None:
    refused = {"status": 401, "body": {"error": {"message": "wrong key"}}, "latency": 0.2}
    server.follow({"requests": [1]}, refused)  # the first request is alone, and a key that it refuses is asked once
    write_suite(project, served(server, concurrency=16), [20, 20])
    done = project.run("run", "eval.py")
    sent = server.stats()["requests"]
    assert sent >= 16
    assert f"asked: {sent} requests" in done.stdout, done.stdout
    used = record(project)["sessions"][-1]["used"]
    assert (used["requests"], used["attempts"]) == (sent, sent)
