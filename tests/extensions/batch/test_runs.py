"""Runs in batches, from the command line: killed, taken up, judged, in dialogues; scores are those without batches."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.core.e2e.test_dialogue import DIALOGUE
from tests.core.e2e.test_dialogue import ROWS as TALK
from tests.support.servers import MockServer
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process
SOON: Final = "batch=dict(gather=0.1, poll=0.05, longest_poll=0.1)"
COUNT: Final = 8


def served(server: MockServer, *, more: str = SOON, kind: str = "OpenAIChatModel") -> str:
    return f"dict(type={kind!r}, abbr='m', model='mock', base_url={server.base_url!r}, api_key=None, retry=9, {more})"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WATCHDOG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def scores(project: Project) -> list[Mapping[str, Any]]:
    """Return the scores of the latest run."""
    latest = max((project.root / "outputs" / "eval").iterdir())
    rows: list[Mapping[str, Any]] = json.loads((latest / "summary" / "summary.json").read_text())
    return rows


def paid_once(server: MockServer, count: int) -> None:
    paid = server.batches()["paid"]
    assert (len(paid), set(Counter(paid).values())) == (count, {1})


@pytest.mark.parametrize("kind", ["OpenAIChatModel", "AnthropicModel"])
def test_the_life_of_a_run(kind: str, project: Project, server: MockServer) -> None:
    """Killed with a batch in flight and taken up; the batch expires in part, and the next one vanishes."""
    project.write_config(models=served(server, more="", kind=kind))
    assert project.run("run", "eval.py").returncode == 0
    plain = scores(project)
    project.write_config(models=served(server, kind=kind))
    server.plan_batches({"looks": 15, "expire": 3, "reverse": True}, {"vanish": True}, {})
    first = project.start("run", "eval.py", "-w", "batched")
    wait_for(lambda: server.batches()["created"] == 1)
    [folder] = Path(project.root / "batched" / "eval").iterdir()
    wait_for(lambda: b'"submitted"' in (folder / "batches" / "m.jsonl").read_bytes())
    first.kill()
    first.communicate()

    said = project.run("status", str(folder))
    assert "in flight, 8 requests" in said.stdout

    project.write_config(models=served(server, more="", kind=kind))
    refused = project.run("run", "eval.py", "-w", "batched", "-r")
    assert (refused.returncode, "1 batch of this run under way, of m" in refused.stderr) == (2, True), refused.stderr
    assert "add --batch" in refused.stderr

    project.write_config(models=served(server, kind=kind))
    done = project.run("run", "eval.py", "-w", "batched", "-r")
    assert done.returncode == 0, done.stderr
    assert "leaves 3 requests open" in done.stderr
    assert "asked again" in done.stderr
    paid_once(server, COUNT)
    assert server.batches()["sizes"] == [8, 3, 3]
    assert json.loads((folder / "summary" / "summary.json").read_text()) == plain
    ends = project.run("status", str(folder)).stdout
    assert all(end in ends for end in ("5 answers of 8, 3 open", "vanished at the provider", "3 answers of 3"))


def test_ctrl_c_keeps_what_is_in_flight(project: Project, server: MockServer) -> None:
    project.write_config(models=served(server))
    server.plan_batches({"looks": 12})
    process = project.start("run", "eval.py")
    wait_for(lambda: server.batches()["created"] == 1)
    process.send_signal(2)
    _, said = process.communicate(timeout=WATCHDOG_SECONDS)
    assert "Traceback" not in said
    assert process.returncode in (0, 130)
    assert project.run("run", "eval.py", "-r").returncode == 0
    paid_once(server, COUNT)


def test_judges_are_asked_in_batches_too(project: Project, server: MockServer) -> None:
    template = "dict(type='PromptTemplate', template='Is {prediction} right? {gold}')"
    judge = served(server).replace("abbr='m'", "abbr='j'")
    evaluator = f"dict(type='GenericLLMEvaluator', judge_cfg={judge}, prompt_template={template})"
    dataset = DATASET.replace("dict(type='Gsm8kEvaluator')", evaluator)
    project.write_config(models=served(server), datasets=dataset)
    server.plan_batches()
    server.follow({"text": "right", "answer": "A"})
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert server.batches()["sizes"] == [8, 8]
    assert not server.requests(), "nothing is asked directly"


def test_a_dialogue_takes_a_batch_for_each_turn_and_repeats_go_together(project: Project, server: MockServer) -> None:
    project.write_data(TALK, "talk.jsonl")
    project.write_config(models=served(server), datasets=DIALOGUE)
    server.plan_batches()
    assert project.run("run", "eval.py").returncode == 0
    assert server.batches()["sizes"] == [6, 6, 6]
    project.write_config(models=served(server), datasets=DATASET.replace("abbr='sums'", "abbr='sums', n=3"))
    server.plan_batches()
    assert project.run("run", "eval.py").returncode == 0
    assert server.batches()["sizes"] == [24]


def test_the_command_line_asks_every_model_and_judge_in_batches(project: Project, server: MockServer) -> None:
    project.write_config(models=served(server))
    checked = project.run("check", "eval.py", "--batch", "--batch-rest", "direct")
    assert checked.returncode == 0, checked.stderr
    server.plan_batches({"expire": 2})
    done = project.run("run", "eval.py", "--batch", "--batch-rest", "direct")
    assert done.returncode == 0, done.stderr
    assert (server.batches()["created"], len(server.requests())) == (1, 2)
    [config] = project.folder().glob("config.py")
    assert "batch" in config.read_text()
    project.write_config()  # a model that has no batches
    refused = project.run("run", "eval.py", "--batch")
    assert refused.returncode == 2
    assert "ScriptedModel cannot be asked in batches" in refused.stderr


def test_a_server_without_batches_ends_a_run_with_one_sentence(project: Project, server: MockServer) -> None:
    project.write_config(models=served(server).replace("/v1'", "/other'"))
    done = project.run("run", "eval.py")
    assert done.returncode != 0
    assert done.stderr.count("the server has no batch API") == 1
    assert "Traceback" not in done.stderr
