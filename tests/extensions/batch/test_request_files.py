"""`aisprompt requests` and `aisprompt answers`: a run that is asked through files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.batch import request_files
from ais_prompt.extensions.batch.batch_lines import batch_answer, batch_request
from ais_prompt.models import OpenAIResponsesModel, WrittenReply, response_body
from ais_prompt.types import Decoding, Request
from tests.core.e2e.project import DATASET, Project, read_lines
from tests.core.e2e.test_dialogue import DIALOGUE
from tests.core.e2e.test_servers import MODEL as DEMO_MODEL
from tests.support.waiting import WATCHDOG_SECONDS

SERVED = "dict(type='OpenAIChatModel', abbr='fake', model='m', base_url='http://127.0.0.1:9/v1', api_key=None)"


@pytest.fixture
def served(project: Project) -> Project:
    project.write_config(models=SERVED)
    return project


def answer_all(requests: Path, answers: Path) -> None:
    """Answer as a batch service does, in another order."""
    lines = []
    for line in reversed(read_lines(requests)):
        said = line["body"]["messages"][-1]["content"]
        numbers = list(map(int, re.findall(r"\d+", said)))
        lines.append(line_of(line["custom_id"], f"It is {sum(numbers[:2])}."))
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))


def line_of(key: str, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9},
    }
    return {
        "id": f"batch_{key}",
        "custom_id": key,
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def run_of(done: Any) -> str:
    found = re.search(r"Run folder: (\S+)", done.stdout)
    assert found, done.stderr
    return found[1]


def test_a_run_is_asked_through_files(served: Project) -> None:
    written = served.run("requests", "eval.py")
    assert written.returncode == 0, written.stderr
    assert "requests.jsonl: 8 requests" in written.stdout
    requests = served.root / "requests.jsonl"
    first = read_lines(requests)[0]
    assert (first["method"], first["url"], first["body"]["model"]) == ("POST", "/v1/chat/completions", "m")
    answer_all(requests, served.root / "answers.jsonl")
    run = run_of(written)
    taken = served.run("answers", run, "answers.jsonl")
    assert taken.returncode == 0, taken.stderr
    assert "8 answers, 0 failures, 0 requests left" in taken.stdout
    scored = served.run("score", run)
    assert "100.0 %" in scored.stdout, scored.stderr
    assert [line["completions"][0]["usage"]["prompt_tokens"] for line in served.predictions()] == [5] * 8


def test_datasets_that_share_prompts_share_lines_and_answers(project: Project) -> None:
    project.write_config(models=SERVED, datasets=", ".join(DATASET.replace("'sums'", f"'sums{n}'") for n in range(2)))
    written = project.run("requests", "eval.py")
    names = [line["custom_id"] for line in read_lines(project.root / "requests.jsonl")]
    assert len(names) == len(set(names)) == 8
    answer_all(project.root / "requests.jsonl", project.root / "answers.jsonl")
    taken = project.run("answers", run_of(written), "answers.jsonl")
    assert "8 answers, 0 failures, 0 requests left" in taken.stdout, taken.stderr
    scored = project.run("score", run_of(written))
    assert scored.stdout.count("100.0 %") == 2, scored.stdout


@pytest.mark.thorough
def test_what_is_left_can_be_asked_by_the_next_file_or_by_the_run(served: Project) -> None:
    run = run_of(served.run("requests", "eval.py"))
    lines = read_lines(served.root / "requests.jsonl")
    good = [line_of(line["custom_id"], "It is 0.") for line in lines[:5]]
    refused = {"custom_id": lines[5]["custom_id"], "response": {"status_code": 429, "body": {"error": "busy"}}}
    lost = {"custom_id": lines[6]["custom_id"], "response": None, "error": {"message": "expired"}}
    foreign = line_of("2:0123", "who asked?")
    (served.root / "a.jsonl").write_text(
        "".join(json.dumps(x) + "\n" for x in [*good, refused, lost, foreign, good[0]])
    )
    taken = served.run("answers", run, "a.jsonl")
    assert "5 answers, 2 failures, 3 requests left" in taken.stdout
    assert "2 lines answer nothing that is open" in taken.stderr
    again = served.run("requests", run, "-o", "more.jsonl")
    assert "more.jsonl: 3 requests" in again.stdout
    assert " of 8" in served.run("score", run).stdout
    answer_all(served.root / "more.jsonl", served.root / "b.jsonl")
    assert "3 answers, 0 failures, 0 requests left" in served.run("answers", run, "b.jsonl").stdout
    assert f"Next: aisprompt score {run}" in served.run("requests", run).stdout
    done = served.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert "8 of 8 samples are answered already" in done.stderr


def test_dialogues_take_a_file_for_each_turn(served: Project) -> None:
    served.write_data([{"question": ["1+1?", "3+4?"], "answer": ["It is 2.", "It is 7."]}], "talk.jsonl")
    served.write_config(models=SERVED, datasets=DIALOGUE)
    run = run_of(served.run("requests", "eval.py"))
    for wave in range(2):
        [line] = read_lines(served.root / "requests.jsonl")
        assert len([one for one in line["body"]["messages"] if one["role"] == "user"]) == wave + 1
        answer_all(served.root / "requests.jsonl", served.root / "answers.jsonl")
        assert f"{1 - wave} requests left" in served.run("answers", run, "answers.jsonl").stdout
        served.run("requests", run)
    [prediction] = served.predictions(dataset="talk")
    assert prediction["prediction"] == ["It is 2.", "It is 7."]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(shutil.which("vllm") is None, reason="vLLM is not installed")
def test_vllm_answers_the_files_wave_by_wave(project: Project) -> None:
    """See `test_vllm_is_started_and_agrees_with_the_model_itself` for an installation without a GPU."""
    project.write_data([{"question": ["1+1?", "3+4?"], "answer": ["2", "7"]}], "talk.jsonl")
    model = f"dict(type='OpenAIChatModel', abbr='fake', model={str(DEMO_MODEL)!r}, base_url='http://127.0.0.1:9/v1', "
    project.write_config(models=f"{model}max_out_len=8)", datasets=f"{DATASET}, {DIALOGUE}")
    template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    command = ["vllm", "run-batch", "--model", str(DEMO_MODEL), "--chat-template", template, "--dtype", "float32"]
    run = run_of(project.run("requests", "eval.py"))
    for left in (1, 0):
        done = subprocess.run(
            [*command, "--max-model-len", "512", "-i", "requests.jsonl", "-o", "answers.jsonl"],
            cwd=project.root,
            env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=2 * WATCHDOG_SECONDS,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        taken = project.run("answers", run, "answers.jsonl")
        assert f"0 failures, {left} requests left" in taken.stdout, taken.stderr
        project.run("requests", run)
    assert len(project.predictions()) == 8
    assert all(line["prediction"] for line in project.predictions())
    [talk] = project.predictions(dataset="talk")
    assert len(talk["prediction"]) == 2


def test_large_files_are_numbered(served: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_files, "MOST_REQUESTS", 3)
    done = served.run("requests", "eval.py", "-o", "r.jsonl")
    assert "r.jsonl: 3 requests\nr-00002.jsonl: 3 requests\nr-00003.jsonl: 2 requests" in done.stdout
    monkeypatch.setattr(request_files, "MOST_BYTES", 1)
    assert "r-00008.jsonl: 1 request\n" in served.run("requests", run_of(done), "-o", "r.jsonl").stdout


def test_what_cannot_be_asked_through_files(project: Project) -> None:
    done = project.run("requests", "eval.py")
    assert done.returncode == 2
    assert "ScriptedModel cannot be asked through files" in done.stderr


@pytest.mark.parametrize("text", ["no json\n", "[]\n", '{"id": 3}\n'])
def test_files_that_hold_no_answers(served: Project, text: str) -> None:
    run = run_of(served.run("requests", "eval.py"))
    (served.root / "a.jsonl").write_text(text)
    done = served.run("answers", run, "a.jsonl")
    assert done.returncode == 2
    assert "a.jsonl:1" in done.stderr
    assert served.run("answers", run, "missing.jsonl").returncode == 2


def test_a_file_of_requests_in_place_of_answers_is_refused(served: Project) -> None:
    run = run_of(served.run("requests", "eval.py", "-o", "requests.jsonl"))
    done = served.run("answers", run, "requests.jsonl")
    assert done.returncode == 2
    assert "the line is a request, not an answer" in done.stderr
    assert "where: requests.jsonl:1" in done.stderr
    assert "give the file that the service wrote" in done.stderr


def test_files_of_a_batch_service_hold_responses() -> None:
    model = OpenAIResponsesModel("m", stop_words=["\n"])
    request = Request("s", "3+4=?", Decoding(5, stop=("\n",)))
    line = batch_request(model, "k", request)
    assert (line["url"], line["custom_id"]) == ("/v1/responses", "k")
    answer = {"status_code": 200, "body": response_body(line["body"], 1, WrittenReply("7\n8"))}
    assert batch_answer(model, {"response": json.loads(json.dumps(answer))}, request).text == "7"
