"""The whole program against a real server on this machine."""

from __future__ import annotations

import json
import signal

import pytest

from tests.core.e2e.project import Project
from tests.support.servers import MockServer
from tests.support.waiting import STALL_SECONDS, WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process


KEY = "sk-live-0123456789abcdef0123456789"
MODEL = (
    "dict(type='OpenAI{kind}Model', abbr='fake', model='mock', base_url={url!r}, api_key='MY_TEST_KEY', "
    "max_concurrency={concurrency}, retry=2, timeout=600)"
)


@pytest.fixture
def api(project: Project, server: MockServer) -> Project:
    server.follow()
    project.environment["MY_TEST_KEY"] = KEY
    use_model(project, server)
    return project


def use_model(project: Project, server: MockServer, kind: str = "Chat", concurrency: int = 4) -> None:
    project.write_config(models=MODEL.format(kind=kind, url=server.base_url, concurrency=concurrency))


def test_the_kept_body_has_every_field_that_was_sent_and_no_secret(api: Project, server: MockServer) -> None:
    fields = (
        "models.0.body_fields={'user': '$MY_TEST_KEY', 'metadata': {'password': 'hunter2secret', 'project': 'nightly'}}"
    )
    assert api.run("run", "eval.py", "--set", fields).returncode == 0
    text = (api.folder() / "run.json").read_text()
    body = json.loads(text)["tasks"]["fake/sums"]["first_body"]
    [sent] = [one for request in server.requests() if (one := request["body"])["messages"] == body["messages"]]
    assert body.keys() == sent.keys()
    assert (sent["user"], body["user"]) == (KEY, "$MY_TEST_KEY")
    assert body["metadata"] == {"password": "***", "project": "nightly"}
    assert KEY not in text
    assert "hunter2secret" not in text


@pytest.mark.parametrize("kind", ["Chat", "Completion"])
def test_a_server_is_evaluated(api: Project, server: MockServer, kind: str) -> None:
    use_model(api, server, kind)
    done = api.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    [row] = api.summary()
    assert (row["score"], row["scored"]) == (1.0, 8)
    sent = {str(request["body"].get("messages", request["body"].get("prompt"))) for request in server.requests()}
    assert sent == {str(line["origin_prompt"]) for line in api.predictions()}
    body = json.loads((api.folder() / "run.json").read_text())["tasks"]["fake/sums"]["first_body"]
    assert body in [request["body"] for request in server.requests()]
    assert api.run("run", "eval.py", "-r").returncode == 0  # nothing is asked, and the body stays
    assert json.loads((api.folder() / "run.json").read_text())["tasks"]["fake/sums"]["first_body"] == body
    completion = api.predictions()[3]["completions"][0]
    assert completion["finish_reason"] == "stop"
    assert completion["usage"] == {"prompt_tokens": 2, "completion_tokens": 1}


@pytest.mark.parametrize("kind", ["OpenAIResponses", "Anthropic"])
def test_servers_of_other_apis_are_evaluated(project: Project, server: MockServer, kind: str) -> None:
    server.follow({"times": 2, "status": 529, "body": {"error": {"message": "Overloaded"}}})
    options = "max_concurrency=4, retry=dict(retries=3, first_wait=0.01)"
    project.write_config(
        models=f"dict(type='{kind}Model', abbr='fake', model='mock', base_url={server.base_url!r}, {options})"
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["score"], row["scored"]) == (1.0, 8)
    assert server.stats()["requests"] == 10
    server.follow()
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert server.stats()["requests"] == 0, "all answers are in the journal"


def test_the_key_is_sent_and_stands_nowhere(api: Project, server: MockServer) -> None:
    server.follow({"text": "3+3", "status": 400, "body": {"error": {"message": "bad {authorization}"}}})
    done = api.run("run", "eval.py", "--debug", "--set", "models.0.retry=0")
    assert done.returncode == 1, done.stderr
    assert all(request["authorization"] for request in server.requests())
    written = [path for path in (api.root / "outputs").rglob("*") if path.is_file()]
    assert len(written) > 8
    shown = [done.stdout, done.stderr, *(path.read_text() for path in written)]
    assert not [text for text in shown if KEY in text or "0123456789abcdef" in text]
    assert "***" in api.predictions()[3]["completions"][0]["failure"]["message"]


def test_passing_failures_are_asked_again(api: Project, server: MockServer) -> None:
    server.follow({"times": 2, "status": 503, "body": {"error": {"message": "busy"}}})
    done = api.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert sum(line["completions"][0]["attempts"] for line in api.predictions()) == 10


def test_a_wrong_key_stops_the_run_at_once(api: Project, server: MockServer) -> None:
    server.follow({"status": 401, "body": {"error": {"message": "this key is not known"}}})
    use_model(api, server, concurrency=1)
    done = api.run("run", "eval.py")
    assert done.returncode == 3
    assert "this key is not known" in done.stderr
    assert server.stats()["requests"] == 1


def test_after_an_interruption_the_server_is_asked_only_the_rest(api: Project, server: MockServer) -> None:
    server.follow({"requests": [1, 2, 3]}, {"latency": STALL_SECONDS})
    use_model(api, server, concurrency=2)
    process = api.start("run", "eval.py")
    wait_until(lambda: server.stats()["requests"] >= 5, "five requests")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 130, err
    server.follow()
    done = api.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 5
    assert [line["prediction"] for line in api.predictions()] == [str(2 * n) for n in range(8)]


def test_azure_is_evaluated(project: Project, server: MockServer) -> None:
    server.follow()
    endpoint = server.base_url.removesuffix("/v1")
    client = f"dict(type='openai.AsyncAzureOpenAI', azure_endpoint={endpoint!r}, api_version='2024-10-21')"
    project.write_config(models=f"dict(type='OpenAIChatModel', abbr='fake', model='mock', client={client})")
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "AZURE_OPENAI_API_KEY" in done.stderr
    project.environment["AZURE_OPENAI_API_KEY"] = KEY
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert project.summary()[0]["score"] == 1.0
    assert {request["path"].partition("?")[0] for request in server.requests()} == {
        "/openai/deployments/mock/chat/completions"
    }


def test_a_transport_that_is_not_there_is_known_before_any_work(project: Project, server: MockServer) -> None:
    project.write_config(
        models=f"dict(type='OpenAIChatModel', model='m', base_url={server.base_url!r}, client='aiohtp')"
    )
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "did you mean 'aiohttp'?" in done.stderr
    assert "models[0].client" in done.stderr
