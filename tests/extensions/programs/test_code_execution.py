"""Programs that a model wrote are run only if that was said, and never before."""

from __future__ import annotations

import json
import platform

import pytest

from tests.core.e2e.project import Project

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(platform.system() != "Linux", reason="programs are confined on Linux only"),
]

PROMPT = 'def double(x):\n    """Twice x."""\n'
TEST = "def check(candidate):\n    assert candidate(2) == 4\n"
ROWS = [
    {"prompt": f"# {kind}\n{PROMPT}", "solution": "    return 2 * x\n", "test": TEST, "entry_point": "double"}
    for kind in ("right", "wrong", "greedy", "silent")
]
MODEL = """dict(type='ScriptedModel', abbr='fake', answers={
    '# right': '```python\\ndef double(x):\\n    return 2 * x\\n```',
    '# wrong': '    return x',
    '# greedy': '    import socket\\n    socket.socket()',
}, default='')"""
DATASET = """dict(
    abbr='code',
    path='data/code.jsonl',
    reader_cfg=dict(input_columns=['prompt'], output_column='solution', gold_columns=['prompt', 'test', 'entry_point']),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='Complete:\\n{prompt}{solution}'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(
        evaluator=dict(type='HumanEvalEvaluator', timeout=300),
        pred_postprocessor=dict(type='humaneval_postprocess_v2'),
    ),
)"""


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(ROWS, "code.jsonl")
    project.write_config(models=MODEL, datasets=DATASET)
    return project


@pytest.mark.parametrize("verb", ["check", "run"])
def test_without_the_switch_nothing_is_asked(project: Project, verb: str) -> None:
    done = project.run(verb, "eval.py")
    assert done.returncode == 2
    assert "HumanEvalEvaluator runs programs that a model wrote, which was not allowed" in done.stderr
    assert "eval.py:" in done.stderr
    assert "--allow-code-execution" in done.stderr
    assert not (project.root / "outputs").exists()


def test_with_the_switch_programs_are_scored(project: Project) -> None:
    assert project.run("check", "eval.py", "--allow-code-execution").returncode == 0
    done = project.run("run", "eval.py", "--allow-code-execution", "-v")
    assert done.returncode == 0, done.stderr
    [again] = [line for line in done.stdout.splitlines() if "aisprompt score" in line]
    assert again.endswith(" --allow-code-execution --audit")
    rows = {row["metric"]: row for row in project.summary()}
    assert {metric: row["score"] for metric, row in rows.items()} == {"accuracy": 0.25, "forbidden": 0.25}
    assert (rows["accuracy"]["scored"], rows["accuracy"]["unparsed"]) == (3, 1)
    [first, *_] = project.predictions(dataset="code")
    assert first["gold"] == {key: ROWS[0][key] for key in ("prompt", "test", "entry_point")}
    assert_isolation(project, done.stdout)


def assert_isolation(project: Project, printed: str) -> None:
    """The isolation is printed, and stored beside the results and in the record of the session."""
    [line] = [line for line in printed.splitlines() if line.startswith("isolation: ")]
    level = line.removeprefix("isolation: ")
    assert level in ("bubblewrap + seccomp", "landlock + seccomp")
    [results] = project.root.glob("outputs/*/*/results/fake/code.json")
    assert json.loads(results.read_text())["isolation"] == level
    [record] = project.root.glob("outputs/*/*/run.json")
    assert json.loads(record.read_text())["sessions"][-1]["isolation"] == {"fake/code": level}


HOSTILE = """```python
import os, signal, sys, threading
for fd in range(1024):
    for text in (b'confined\\\\npassed\\\\n', b'unconfined by force\\\\n', b'{secret}'):
        try: os.write(fd, text)
        except OSError: pass
for process in (1, os.getppid(), -1):
    try: os.kill(process, signal.SIGKILL)
    except OSError: pass
def double(x):
    os._exit(0)
```"""


def test_a_hostile_answer_changes_no_other_score(project: Project) -> None:
    answers = MODEL.replace("'# wrong'", f"'# silent': {HOSTILE.format(secret='SMUGGLED')!r},\n    '# wrong'")
    scores = []
    for model in (MODEL, answers):
        project.write_config(models=model, datasets=DATASET)
        done = project.run("run", "eval.py", "--allow-code-execution")
        assert done.returncode == 0, done.stderr
        results = json.loads(max(project.root.glob("outputs/*/*/results/fake/code.json")).read_text())
        scores.append({row["sample_id"]: row["values"] for row in results["details"] if row["extracted"] is not None})
        assert "SMUGGLED" not in done.stdout + done.stderr
    honest, attacked = scores
    [hostile] = attacked.keys() - honest.keys()
    assert attacked.pop(hostile)["accuracy"] == 0
    assert attacked == honest


def test_a_sandbox_of_the_user_is_tried_before_anything_is_asked(project: Project) -> None:
    project.write_config(models=MODEL, datasets=DATASET.replace("timeout=300", "sandbox='no-such-command --flag'"))
    done = project.run("run", "eval.py", "--allow-code-execution=unsafe", "-v")
    assert done.returncode == 3 or done.returncode == 2
    assert "no program runs behind `no-such-command --flag`" in done.stderr
    assert not (project.root / "outputs").exists()


def test_unsafe_is_passed_on(project: Project) -> None:
    done = project.run("run", "eval.py", "--allow-code-execution=unsafe", "-v")
    assert done.returncode == 0, done.stderr
    [again] = [line for line in done.stdout.splitlines() if "aisprompt score" in line]
    assert again.endswith(" --allow-code-execution=unsafe --audit")


def test_the_switch_takes_nothing_but_unsafe(project: Project) -> None:
    done = project.run("check", "--allow-code-execution=perhaps", "eval.py")
    assert done.returncode == 2
    assert "perhaps" in done.stderr
    assert project.run("check", "--allow-code-execution", "eval.py").returncode == 0


def test_scoring_again_needs_the_switch_again(project: Project) -> None:
    project.run("run", "eval.py", "-m", "infer", "--allow-code-execution")
    assert project.run("score", "eval").returncode == 2
    done = project.run("score", "eval", "--allow-code-execution")
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout


def test_prompts_are_shown_without_it(project: Project) -> None:
    done = project.run("view-prompt", "eval.py", "-n")
    assert done.returncode == 0, done.stderr
    assert "# right" in done.stdout
