"""Judges behind servers: their requests share the engine of the run with those of the models."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

import pytest

from tests.core.e2e.project import Project, read_lines
from tests.core.e2e.test_suite import LOCAL_MODEL, served, wait_for
from tests.support.servers import MockServer, mock_server

pytestmark = pytest.mark.process


VERDICT = {"text": "A or B?", "answer": "A"}
HELD = {"latency": 90}
TEMPLATE = (
    "dict(type='PromptTemplate', template='{question}\\nGold: {gold}\\nAnswer: {prediction}\\nIs it right, A or B?')"
)
DATASET = """dict(
    abbr='{abbr}', path='data/{abbr}.jsonl', reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{{question}}\\nAnswer: {{answer}}'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(evaluator={evaluator}),
)"""

TALK = (
    "prompt_template=dict(type='MultiTurnPromptTemplate', "
    "template=dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),"
)
NOTED = """def {method}(self):
        with open('noted', 'a') as file:
            file.write('{method} ')"""


@pytest.fixture
def judge(second_server: MockServer) -> MockServer:
    second_server.follow(VERDICT)
    return second_server


def judged_by(judge: str) -> str:
    return f"dict(type='GenericLLMEvaluator', judge_cfg={judge}, prompt_template={TEMPLATE})"


def write(project: Project, models: str, evaluators: Sequence[str], size: int = 4) -> None:
    """Datasets ``part0``, ``part1``, … with questions that name them."""
    for part in range(len(evaluators)):
        rows = [{"question": f"part{part}: {n}+1=?", "answer": str(n + 1)} for n in range(size)]
        project.write_data(rows, f"part{part}.jsonl")
    datasets = [DATASET.format(abbr=f"part{part}", evaluator=evaluator) for part, evaluator in enumerate(evaluators)]
    project.write_config(models=models, datasets=",\n".join(datasets))


def scores(project: Project) -> dict[str, float | None]:
    return {row["dataset"]: row["score"] for row in project.summary()}


def asked(server: MockServer) -> list[str]:
    return [request["body"]["messages"][-1]["content"] for request in server.requests()]


def verdicts(project: Project, abbr: str = "judge") -> dict[str, list[str]]:
    """The answers that were judged, by dataset."""
    files = project.root.glob(f"outputs/eval/*/judge/fake/journal/{abbr}/*.jsonl")
    return {file.stem: [line["sample_id"] for line in read_lines(file)] for file in files}


def test_a_dataset_is_judged_and_scored_while_another_one_is_asked(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    server.follow({"text": "part1", **HELD})
    judge.follow(VERDICT)
    write(project, served(server), [judged_by(served(judge, "judge")), "dict(type='AccEvaluator')"])
    process = project.start("run", "eval.py")
    wait_for(lambda: list(project.root.glob("outputs/eval/*/results/fake/part0.json")), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert judge.stats()["requests"] == 4

    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert scores(project) == {"part0": 1.0, "part1": 1.0}
    assert (server.stats()["requests"], judge.stats()["requests"]) == (4, 4)


def test_a_judge_at_the_models_address_shares_its_places_and_goes_first(project: Project, server: MockServer) -> None:
    server.follow({"text": "A or B?", "answer": "A", "latency": 0.05}, {"latency": 0.05})
    judge = served(server, "judge", concurrency=3)
    write(project, served(server, concurrency=3), [judged_by(judge)] * 4, size=12)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(project) == {f"part{part}": 1.0 for part in range(4)}
    assert server.stats()["most_in_flight"] == 3
    questions = asked(server)
    assert len(questions) == 2 * 4 * 12
    is_verdict = ["A or B?" in question for question in questions]
    last_question = max(number for number, verdict in enumerate(is_verdict) if not verdict)
    assert sum(is_verdict[:last_question]) >= 12  # the first dataset at least was judged before the last was asked


def test_two_models_and_two_judges_are_all_asked_at_the_same_time(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    """Each server holds its requests until it has been given the script for all of them."""
    with mock_server([VERDICT]) as second:
        server.follow({"latency": 0.02})
        evaluators = [judged_by(served(one, f"judge{number}")) for number, one in enumerate((judge, second))]
        write(project, served(server), [*evaluators, evaluators[0]])
        done = project.run("run", "eval.py")
        assert done.returncode == 0, done.stderr
        assert (judge.stats()["requests"], second.stats()["requests"]) == (8, 4)
    assert scores(project) == {f"part{part}": 1.0 for part in range(3)}


def test_a_judge_that_is_down_ends_only_its_own_tasks(project: Project, server: MockServer, judge: MockServer) -> None:
    server.follow({})
    judge.follow(VERDICT)
    with mock_server() as other:
        port = int(other.base_url.split(":")[2].split("/")[0])
        down = served(other, "judge")
    accuracy = "dict(type='AccEvaluator')"
    write(project, served(server), [judged_by(down), accuracy, judged_by(served(judge, "other")), judged_by(down)])
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert "unreachable" in done.stderr
    assert done.stderr.count("Traceback") == 0
    assert scores(project) == {"part0": None, "part1": 1.0, "part2": 1.0, "part3": None}
    assert len(project.predictions(dataset="part0")) == 4

    asked_before = server.stats()["requests"]
    with mock_server([VERDICT], port=port) as up:
        again = project.run("run", "eval.py", "-r")
        assert again.returncode == 0, again.stderr
        assert up.stats()["requests"] == 8
    assert scores(project) == {f"part{part}": 1.0 for part in range(4)}
    assert (server.stats()["requests"], judge.stats()["requests"]) == (asked_before, 4)


def test_a_judge_that_refuses_in_the_middle_ends_only_its_own_task(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    server.follow({})
    refusal = {"error": {"message": "no such model", "type": "invalid_request_error"}}
    judge.follow({"text": "part0: 2+1", "status": 401, "body": refusal}, VERDICT)
    write(project, served(server), [judged_by(served(judge, "judge"))] * 2)
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert "http_401" in done.stderr
    assert scores(project) == {"part0": None, "part1": 1.0}


def test_a_judge_is_not_needed_where_a_rule_decides(project: Project, server: MockServer) -> None:
    server.follow({})
    with mock_server() as other:
        down = served(other, "judge")
    rule = f"dict(type='CascadeEvaluator', rule_evaluator=dict(type='AccEvaluator'), llm_evaluator={judged_by(down)})"
    write(project, served(server), [rule])
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(project)["part0"] == 1.0
    assert "judge/part0" not in done.stderr


@pytest.mark.parametrize("answers", [1, 9])
def test_after_kill_9_while_judging_nothing_finished_is_judged_twice(
    project: Project, server: MockServer, judge: MockServer, answers: int
) -> None:
    server.follow({})
    judge.follow({**VERDICT, "latency": 0.05})
    write(project, served(server), [judged_by(served(judge, "judge", concurrency=2))] * 3)
    process = project.start("run", "eval.py")
    wait_for(lambda: sum(map(len, verdicts(project).values())) >= answers, process)
    process.kill()
    process.communicate()
    kept = sum(len(ids) for ids in verdicts(project).values())

    server.follow({})
    judge.follow(VERDICT)
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert judge.stats()["requests"] == 12 - kept
    assert {part: len(set(ids)) for part, ids in verdicts(project).items()} == {"part0": 4, "part1": 4, "part2": 4}
    assert scores(project) == {f"part{part}": 1.0 for part in range(3)}


def test_scoring_asks_the_judges_of_all_datasets_at_the_same_time(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    server.follow({})
    write(project, served(server), [judged_by(served(judge, "judge"))] * 4, size=2)
    assert project.run("run", "eval.py", "-m", "infer").returncode == 0
    assert verdicts(project) == {}
    judge.follow({**VERDICT, "latency": 0.5})
    done = project.run("score", "eval")
    assert done.returncode == 0, done.stderr
    assert judge.stats()["most_in_flight"] >= 4  # two questions of each dataset, of which the first goes alone
    assert scores(project) == {f"part{part}": 1.0 for part in range(4)}


def test_scoring_without_the_predictions_of_one_dataset_costs_only_that_one(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    server.follow({})
    judge.follow(VERDICT)
    write(project, served(server), [judged_by(served(judge, "judge"))] * 2)
    assert project.run("run", "eval.py", "-m", "infer").returncode == 0
    (project.folder() / "predictions" / "fake" / "part0.jsonl").unlink()
    done = project.run("score", "eval")
    assert done.returncode == 2, done.stderr
    assert "ConfigError: there are no answers yet" in done.stderr
    assert scores(project) == {"part0": None, "part1": 1.0}


def test_a_judge_in_memory_is_closed_after_the_last_dataset(project: Project, server: MockServer) -> None:
    server.follow({"text": "part2", "latency": 0.5})
    echo = LOCAL_MODEL.replace('Completion("0"', 'Completion("A"')
    for method in ("load", "close"):
        echo = echo.replace(f"def {method}(self):\n        pass", NOTED.format(method=method))
    (project.root / "probe_model.py").write_text(echo)
    write(project, served(server), [judged_by("dict(type='probe_model.Echo', abbr='judge')")] * 3)
    done = project.run_process("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert (project.root / "noted").read_text().split() == ["load", "load", "load", "close"]
    assert scores(project) == {f"part{part}": 1.0 for part in range(3)}


def test_several_answers_and_the_turns_of_dialogues_are_judged_one_by_one(
    project: Project, server: MockServer, judge: MockServer
) -> None:
    server.follow({})
    judge.follow({"text": "Gold: 4\n", "answer": "B"}, VERDICT)
    evaluator = judged_by(served(judge, "judge"))
    write(project, served(server), [evaluator], size=2)
    project.write_data([{"question": [f"{n}+1=?", f"{n}+2=?"], "answer": [str(n + 1), str(n + 2)]} for n in (1, 2)])
    repeats = DATASET.format(abbr="part0", evaluator=evaluator).replace("'GenInferencer'", "'GenInferencer', n=2")
    dialogues = DATASET.format(abbr="sums", evaluator=evaluator).replace("GenInferencer", "MultiTurnGenInferencer")
    dialogues = re.sub(
        r"prompt_template=dict\(type='PromptTemplate', template='\{question\}.*\),", TALK, dialogues, count=1
    )
    assert TALK in dialogues
    project.write_config(models=served(server), datasets=f"{repeats}, {dialogues}")
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    found = {(row["dataset"], row["metric"]): row["score"] for row in project.summary()}
    assert found["part0", "accuracy"] == 1.0
    assert (found["sums", "accuracy"], found["sums", "dialogue_accuracy"]) == (0.75, 0.5)
    assert {part: len(ids) for part, ids in verdicts(project).items()} == {"part0": 2, "sums": 4}
