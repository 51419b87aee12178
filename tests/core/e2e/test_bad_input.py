"""Whatever a user gets wrong: three lines, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from tests.core.e2e.project import COMMAND, DATASET, MODEL, Project

API = "dict(type='OpenAIChatModel', abbr='api', model='m', retry=0, base_url={url!r}, api_key={key!r})"


def fails(project: Project, code: int, *args: str) -> str:
    """Run what must fail with this code; what it says."""
    done = project.run(*args)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def one_error(project: Project, code: int, *args: str) -> str:
    """The same; the message is one error of at most three lines, and the number of faults below it."""
    message = fails(project, code, *args)
    lines = [line for line in message.splitlines() if line and not line.startswith("Run folder: ")]
    if lines[-1] == "1 fault in the config":
        lines = lines[:-1]
    assert len(lines) <= 3, message
    assert "Error: " in lines[0]
    return message


def test_a_missing_config(project: Project) -> None:
    message = one_error(project, 2, "run", "evl.py")
    assert "there is no config 'evl.py'" in message
    assert "eval.py" in message.splitlines()[-1]


def test_a_config_that_is_not_python(project: Project) -> None:
    (project.root / "eval.py").write_text("models = [dict(type='A'\n")
    assert "eval.py:1" in one_error(project, 2, "check", "eval.py")


def test_a_missing_data_file(project: Project) -> None:
    project.write_config(datasets=DATASET.replace("sums.jsonl", "sum.jsonl"))
    message = one_error(project, 2, "run", "eval.py")
    assert "sum.jsonl" in message
    assert "sums.jsonl" in message


def test_an_empty_data_file(project: Project) -> None:
    (project.root / "data/sums.jsonl").write_text("")
    assert "sums.jsonl" in one_error(project, 2, "run", "eval.py")


def test_a_broken_line_has_its_number(project: Project) -> None:
    path = project.root / "data/sums.jsonl"
    path.write_text(path.read_text() + '{"question": "1+1=?", "answer": \n')
    assert "data/sums.jsonl:9" in one_error(project, 2, "run", "eval.py")


def test_a_column_that_is_not_there(project: Project) -> None:
    project.write_config(datasets=DATASET.replace("['question']", "['questions']"))
    message = one_error(project, 2, "run", "eval.py")
    assert "'questions'" in message
    assert "'question'" in message


def test_two_data_sets_with_one_abbr(project: Project) -> None:
    project.write_config(datasets=f"{DATASET}, {DATASET}")
    assert "two datasets have the abbr 'sums'" in one_error(project, 2, "run", "eval.py")


def test_an_unknown_model_path(project: Project) -> None:
    project.write_config(models="dict(type='HuggingFaceBaseModel', abbr='hf', path='./no/such/model')")
    message = one_error(project, 3, "run", "eval.py")
    assert "the model folder does not exist" in message
    assert not (project.root / "outputs").exists()


def test_no_api_key(project: Project) -> None:
    project.environment["MY_KEY"] = None
    project.write_config(models=API.format(url="https://api.example.com/v1", key="MY_KEY"))
    message = one_error(project, 3, "run", "eval.py")
    assert "MY_KEY" in message
    assert not (project.root / "outputs").exists()


def test_a_key_in_the_config_is_refused_and_not_repeated(project: Project) -> None:
    secret = "sk-" + "0123456789abcdef" * 2
    project.write_config(models=API.format(url="https://api.example.com/v1", key=secret))
    for verb in (("run", "eval.py"), ("check", "eval.py"), ("run", "eval.py", "--debug")):
        done = project.run(*verb)
        assert done.returncode in (2, 3)
        assert secret not in done.stdout + done.stderr
    assert all(secret not in path.read_text() for path in project.root.glob("outputs/**/*") if path.is_file())


@pytest.mark.thorough
def test_a_server_that_is_not_there(project: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    project.write_config(models=API.format(url=f"http://127.0.0.1:{port}/v1", key=None))
    message = fails(project, 3, "run", "eval.py")
    assert "Connection refused" in message
    assert f"127.0.0.1:{port}" in message


def test_a_work_dir_that_cannot_be_written(project: Project) -> None:
    message = one_error(project, 2, "run", "eval.py", "-w", "/proc/outputs")
    assert "cannot make a run folder" in message
    assert "-w DIR" in message


@pytest.mark.process
def test_a_full_disk_stops_the_run_and_keeps_what_is_there(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(300)])
    limited = subprocess.run(
        [sys.executable, "-c", LIMITED, "20000", *COMMAND, "run", "eval.py"],
        cwd=project.root,
        env=project.variables() | {"PYTHONDONTWRITEBYTECODE": "1"},  # the limit would cut compiled modules short
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 3, limited.stderr
    assert "StoreError: cannot write" in limited.stderr
    assert "go on with -r" in limited.stderr
    kept = project.journal()
    assert len(kept) > 20
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert len({line["sample_id"] for line in project.journal()}) == len(project.journal()) == 300


# A limit on the size of files is what a full disk is to a program: writing fails in the middle of a line.
LIMITED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_all_faults_are_told_at_once_with_their_lines(project: Project) -> None:
    (project.root / "eval.py").write_text(
        f"models = [{MODEL.replace('default', 'defualt')}]\n"
        + "datasets = [\n"
        + DATASET.replace("'GenInferencer'", "'GenInferencr'")
        .replace("'Gsm8kEvaluator'", "'Gsm8kEvaluator', tolerance=1")
        .replace("['question']", "['qestion']")
        .replace("'ZeroRetriever'", "'FixKRetriever', fix_id_list=[0, 99]")
        + "\n]\n"
    )
    message = fails(project, 2, "check", "eval.py")
    assert "did you mean 'default'?" in message
    assert "models[0].defualt (eval.py:1)" in message
    assert "did you mean 'GenInferencer'?" in message
    assert "datasets[0].infer_cfg.inferencer.type (eval.py:11)" in message
    assert "Gsm8kEvaluator has no argument 'tolerance'" in message
    assert "no column 'qestion'" in message
    assert message.rstrip().endswith("faults in the config")
    assert fails(project, 2, "run", "eval.py") == message


def test_a_shot_that_is_out_of_range(project: Project) -> None:
    datasets = DATASET.replace("'ZeroRetriever'", "'FixKRetriever', fix_id_list=[0, 99]").replace(
        "prompt_template=dict(type='PromptTemplate', template='",
        "ice_template=dict(type='PromptTemplate', template='{question}{answer}'), "
        "prompt_template=dict(type='PromptTemplate', ice_token='</E>', template='</E>",
    )
    project.write_config(datasets=datasets)
    message = one_error(project, 2, "check", "eval.py")
    assert "99" in message


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["run"], "there is nothing to run"),
        (["run", "eval.py", "--models", "demo_chat", "--datasets", "demo_addition"], "not both"),
        (["run", "eval.py", "--set", "models.0"], "is not an override"),
        (["run", "eval.py", "--max-failures", "many"], "neither a number"),
        (["run", "--models", "demo_cat", "--datasets", "demo_addition"], "demo_chat"),
        (["view-prompt", "eval.py", "-p", "nothing"], "the config has: sums"),
        (["run", "eval.py", "--num-prompts", "0"], "Invalid value"),
        (["runn"], "There is no command 'runn': did you mean 'run'?"),
        (["list", "evaluator"], "There is no kind 'evaluator': did you mean 'evaluators'?"),
        (["list", "qwerty"], "No config of models, datasets and summarizers matches 'qwerty'"),
        (["list", "models", "qwerty"], "No config of models matches 'qwerty'"),
        (["run", "eval.py", "--baseline", "missing.json"], "write it: aisprompt baseline RUN -o missing.json"),
        (["/"], "There is no command '/': known: init, run"),
    ],
)
def test_a_wrong_command_line(project: Project, args: list[str], hint: str) -> None:
    assert hint in fails(project, 2, *args)


@pytest.mark.thorough
def test_a_broken_journal_and_record_are_no_loss(project: Project) -> None:
    project.run("run", "eval.py")
    folder = project.folder()
    (folder / "run.json").write_text("{broken")
    message = one_error(project, 3, "run", "eval.py", "-r")
    assert "run.json" in message
    (folder / "run.json").unlink()
    (folder / "predictions/fake/sums.jsonl").write_text(json.dumps({"id": 1}) + "\n")
    message = fails(project, 2, "run", "eval.py", "-m", "eval", "-r")
    assert "sums.jsonl:1" in message
    assert project.run("run", "eval.py", "-r").returncode == 0


def test_check_makes_each_model_of_the_users_own(project: Project) -> None:
    (project.root / "my_parts.py").write_text(
        "class Mine:\n    def __init__(self):\n        raise OSError('no weights')\n"
    )
    project.write_config(models="dict(type='my_parts.Mine', abbr='mine')")
    message = one_error(project, 2, "check", "eval.py")
    assert "my_parts.Mine cannot be made: OSError: no weights" in message
    assert "models[0] (eval.py:1) · my_parts.py:3" in message


def test_a_row_without_a_value_that_the_prompt_shows_is_not_asked(project: Project) -> None:
    rows = [{"question": "1+1=?", "answer": "4", "note": None}, {"answer": "4"}, {"question": None, "answer": "4"}]
    project.write_data(rows)
    project.write_config()
    done = project.run("run", "eval.py")
    assert done.returncode == 1
    assert "2 of 3 samples failed" in done.stderr
    assert "no_value 2" in done.stdout
    assert "row 1 has no value in the column 'question', which the prompt shows" in done.stderr
    found = project.predictions()
    assert [bool(one["completions"][0].get("failure")) for one in found] == [False, True, True]
    assert all(one["row"] for one in found)
    assert len(project.journal()) == 1


def test_no_error_lists_1500_names(project: Project) -> None:
    columns = {f"column{number}": number for number in range(1500)}
    project.write_data([{"question": "1+1=?", "answer": "2", **columns}])
    project.write_config(datasets=DATASET.replace("'question'", "'xyz'"))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "and 1,490 more" in done.stderr
    assert max(map(len, done.stderr.splitlines())) < 500
