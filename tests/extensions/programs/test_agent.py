"""A model that runs programs: from the config to the score, with hostile programs, broken off and gone on with."""

from __future__ import annotations

import json
import platform
import signal
import time
from collections import Counter
from typing import Any

import pytest

from tests.core.e2e.project import Project
from tests.support.packages import needs_extension
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(platform.system() != "Linux", reason="programs are confined on Linux only"),
]

ALLOWED = "--allow-code-execution"
ROWS = [{"question": f"What is 7 times {number}?", "answer": str(7 * number)} for number in range(1, 7)]
DATASET = """dict(
    abbr='sums', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}'),
        inferencer=dict(type='AgentInferencer', %s),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


def call(program: str) -> str:
    return f"Thought: I run it.\nAction: PythonInterpreter\nAction Input:\n```python\n{program}\n```"


def program(number: int) -> str:
    # Its second value changes each time.
    return f"import time\ndef solution():\n    return {7 * number}, time.time_ns()"


ANSWERS = {
    **{rf"Response:\({row['answer']}, \d+\)\n$": f"Final Answer: {row['answer']}" for row in ROWS},
    **{rf"times {number}\?$": call(program(number)) for number in range(1, 7)},
}


def model(answers: dict[str, Any] = ANSWERS, **more: Any) -> str:
    return repr({"type": "ScriptedModel", "abbr": "fake", "answers": answers, "prompt_style": "text", **more})


@pytest.fixture
def agent(project: Project) -> Project:
    project.write_data(ROWS)
    project.write_config(models=model(), datasets=DATASET % "")
    return project


def score(project: Project) -> float:
    [row] = [row for row in project.summary() if row["metric"] == "accuracy"]
    return float(row["score"])


def programs(project: Project) -> Counter[str]:
    """Return the sample of each stored output of a program, with how many there are."""
    lines = project.journal()
    return Counter(line["sample_id"] for line in lines if '"outcome"' in line["completion"]["text"])


def test_the_answer_comes_after_the_value_of_a_program(agent: Project) -> None:
    done = agent.run("run", "eval.py", ALLOWED)
    assert done.returncode == 0, done.stderr
    assert score(agent) == 1
    assert "asked: 12 requests" in done.stdout  # programs are no requests to the model
    assert "\nisolation: " in done.stdout
    for row, line in zip(ROWS, agent.predictions(), strict=True):
        run, final = line["steps"]
        assert (run["status"], run["action"], run["thought"]) == ("value", "PythonInterpreter", " I run it.\n")
        assert run["output"].startswith(f"({row['answer']}, ")
        assert (final["status"], final["output"]) == ("answer", f" {row['answer']}")
        first, second = line["origin_prompt"]
        assert second.startswith(first)
        assert second.endswith(f"Response:{run['output']}\n")
        assert len(line["completions"]) == 2
    shown = agent.run("view-prompt", "eval.py")
    assert "turn 1 of at most 3" in shown.stdout
    assert agent.run("score", str(agent.folder()), ALLOWED).returncode == 0


@needs_extension("evidence")
def test_prompts_of_programs_are_made_again(agent: Project) -> None:
    assert agent.run("run", "eval.py", ALLOWED).returncode == 0
    sealed = agent.run("seal", str(agent.folder()), "-o", "run.seal")
    assert "without a lock" not in sealed.stderr
    verified = agent.run("verify", "run.seal", ALLOWED)
    assert verified.returncode == 0, verified.stdout
    assert "6 prompts made again as sent" in verified.stdout


def test_a_model_in_this_process_runs_programs_too(agent: Project) -> None:
    (agent.root / "local.py").write_text(
        "import re\n"
        "from ais_prompt import Completion, Decoding\n\n"
        f"ANSWERS = {ANSWERS!r}\n\n"
        "class Batches:\n"
        "    prompt_style, max_out_len, max_seq_len, batch_size = 'text', 8, None, 4\n"
        "    def identity(self): return {'name': 'batches'}\n"
        "    def decoding(self, max_out_len, stop): return Decoding(max_out_len=8)\n"
        "    def tokenizer(self): return None\n"
        "    def count_tokens(self, prompt): return None\n"
        "    def preflight(self): pass\n"
        "    def load(self): pass\n"
        "    def close(self): pass\n"
        "    def generate(self, requests):\n"
        "        prompts = [request.prompt for request in requests]\n"
        "        found = [next(a for k, a in ANSWERS.items() if re.search(k, p)) for p in prompts]\n"
        "        return [Completion(text, 'stop') for text in found]\n"
    )
    agent.write_config(models="dict(type='local.Batches', abbr='fake')", datasets=DATASET % "")
    done = agent.run("run", "eval.py", ALLOWED)
    assert done.returncode == 0, done.stderr
    assert score(agent) == 1


@pytest.mark.parametrize("verb", ["check", "run"])
def test_without_the_switch_nothing_is_asked(agent: Project, verb: str) -> None:
    done = agent.run(verb, "eval.py")
    assert done.returncode == 2
    assert "AgentInferencer runs programs that a model wrote, which was not allowed" in done.stderr
    assert ALLOWED in done.stderr
    assert not (agent.root / "outputs").exists()


HOSTILE = {
    "while True: pass": "FunctionTimedOut(",
    "import os\nwhile True: os.fork()": "",
    "def solution(): return 'x' * 10**7": "Response:xxxx",
    "import os\nos._exit(0)": "Response:SystemExit('the program ended",
    "def solution(): return open('SECRET').read()": "Error(",
    "import os\nfor fd in range(64):\n    try: os.write(fd, b'text 41\\npassed\\n')\n    except OSError: pass": "",
    "import socket\ndef solution(): return socket.create_connection(('127.0.0.1', 80))": "Error(",
    "def solution(): return 'a' * 10**10": "Response:MemoryError()",
}


def test_hostile_programs_change_nothing_but_their_own_sample(agent: Project) -> None:
    secret = agent.root / "secret.txt"
    secret.write_text("SMUGGLED")
    bad = [{"question": f"Hostile {number}?", "answer": "42"} for number in range(len(HOSTILE))]
    agent.write_data([*ROWS, *bad])
    attacks = {
        rf"Hostile {number}\?$": call(text.replace("SECRET", str(secret))) for number, text in enumerate(HOSTILE)
    }
    answers = {**ANSWERS, **attacks, "Response:": "Final Answer: 42"}
    agent.write_config(models=model(answers, max_concurrency=14), datasets=DATASET % "timeout=5, memory=512")
    done = agent.run("run", "eval.py", ALLOWED)
    assert done.returncode == 0, done.stderr
    lines = agent.predictions()
    assert [line["prediction"] for line in lines[:6]] == [f" {row['answer']}" for row in ROWS]
    for line, said in zip(lines[6:], HOSTILE.values(), strict=True):
        response = line["origin_prompt"][1].rpartition("```\n")[2]
        assert said in response
        assert len(response) < 5000
        assert "SMUGGLED" not in json.dumps(line)
    assert "(cut after 4096 characters)" in lines[8]["origin_prompt"][1]


def test_a_request_that_fails_ends_its_own_sample(agent: Project) -> None:
    answers = {r"Response:\(14": {"failure": "http_500", "message": "busy"}, **ANSWERS}
    agent.write_config(models=model(answers), datasets=DATASET % "")
    done = agent.run("run", "eval.py", ALLOWED)
    lines = agent.predictions()
    assert [line["prediction"] for line in lines] == [" 7", None, " 21", " 28", " 35", " 42"], done.stderr
    assert lines[1]["failed_turn"] == 2
    assert [step["status"] for step in lines[1]["steps"]] == ["value"]


def test_after_kill_9_no_turn_is_asked_twice_and_no_program_runs_twice(agent: Project) -> None:
    agent.write_config(models=model(die_after=7, max_concurrency=2), datasets=DATASET % "")
    assert agent.run_process("run", "eval.py", ALLOWED).returncode == -9
    before = agent.journal()
    assert programs(agent)

    agent.write_config(models=model(), datasets=DATASET % "")
    done = agent.run("run", "eval.py", "-r", ALLOWED)
    assert done.returncode == 0, done.stderr
    assert score(agent) == 1
    after = agent.journal()
    assert after[: len(before)] == before
    assert set(Counter(line["key"] for line in after).values()) == {1}
    assert len(after) == 18  # two turns and a program for each sample
    assert set(programs(agent).values()) == {1}

    again = agent.run("run", "eval.py", "-r", ALLOWED)
    assert again.returncode == 0, again.stderr
    assert agent.journal() == after
    assert "belong to other prompts" not in again.stdout + again.stderr  # outputs count as answers that are used


def test_ctrl_c_does_not_wait_for_a_program(agent: Project) -> None:
    answers = {**ANSWERS, "times": call("while True: pass")}
    slow = {key: answer for key, answer in answers.items() if "times 3" not in key}
    agent.write_config(models=model(slow), datasets=DATASET % "timeout=600")
    process = agent.start("run", "eval.py", ALLOWED)
    wait_until(lambda: _has_lines(agent, 16), "all samples but one are answered")
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert time.monotonic() - begun < 30

    agent.write_config(models=model(), datasets=DATASET % "timeout=600")
    done = agent.run("run", "eval.py", "-r", ALLOWED)
    assert done.returncode == 0, done.stderr
    assert set(Counter(line["key"] for line in agent.journal()).values()) == {1}
    finished = [line["prediction"] for line in agent.predictions() if "times 3" not in line["origin_prompt"][0]]
    assert finished == [f" {row['answer']}" for row in ROWS if row["answer"] != "21"]


def _has_lines(agent: Project, number: int) -> bool:
    return bool(list(agent.root.glob("outputs/*/*/journal/fake/sums.jsonl"))) and len(agent.journal()) >= number


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("marks=dict(thoughts='T:')", "there is no mark 'thoughts'"),
        ("max_turn=0", "max_turn=0 asks nothing"),
        ("call_protocol='{tools}'", "call_protocol cannot be filled: KeyError('tools')"),
        ("call_protocol='{'", "call_protocol cannot be filled: ValueError"),
        ("sandbox='no-such-command'", "no program runs behind `no-such-command`"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(agent: Project, argument: str, said: str) -> None:
    agent.write_config(models=model(), datasets=DATASET % argument)
    done = agent.run("check", "eval.py", ALLOWED)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "fix:" in done.stderr
