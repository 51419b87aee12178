"""The main path: from a config to predictions, scores and a summary."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project


def test_a_run_leaves_everything_behind(project: Project) -> None:
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    folder = project.folder()
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {
        ".lock",
        ".lock.holder",
        ".made-here",
        "config.py",
        "run.json",
        "journal/fake/sums.jsonl",
        "predictions/fake/sums.jsonl",
        "results/fake/sums.json",
        "summary/summary.txt",
        "summary/summary.csv",
        "summary/summary.md",
        "summary/summary.json",
        "report.html",
        "view/prompts.json",
        "logs/run.log",
    }
    assert str(folder.relative_to(project.root)) in done.stdout
    # 2+2 and 3+3 are right, six others are not.
    assert "25.0 %" in done.stdout
    [row] = project.summary()
    assert (row["score"], row["n"], row["scored"], row["failed"]) == (0.25, 8, 8, 0)


def test_predictions_hold_prompt_answer_and_gold_in_the_order_of_the_data(project: Project) -> None:
    project.run("run", "eval.py")
    predictions = project.predictions()
    assert [line["index"] for line in predictions] == list(range(8))
    third = predictions[3]
    assert third["origin_prompt"] == [{"role": "user", "content": "3+3=?\nAnswer: "}]
    assert (third["prediction"], third["gold"]) == ("It is 6.", "6")


def test_the_record_says_what_was_run(project: Project) -> None:
    project.run("run", "eval.py")
    record = json.loads((project.folder() / "run.json").read_text())
    assert record["status"] == "finished"
    assert record["sessions"][0]["command"] == "aisprompt run eval.py"
    facts = record["tasks"]["fake/sums"]
    assert facts["samples"] == 8
    assert len(facts["data_digest"]) >= 32
    assert facts["data_files"] == [str(project.root / "data/sums.jsonl")]
    assert record["versions"]["ais-prompt"]


def test_the_stored_config_runs_again_with_the_same_prompts(project: Project) -> None:
    project.run("run", "eval.py")
    first = project.folder()
    again = project.run("run", str(first / "config.py"), "-w", "again")
    assert again.returncode == 0, again.stderr
    [second] = (project.root / "again" / "eval").iterdir()
    assert (second / "predictions/fake/sums.jsonl").read_text() == (first / "predictions/fake/sums.jsonl").read_text()


def test_modes_split_the_work(project: Project) -> None:
    inferred = project.run("run", "eval.py", "-m", "infer")
    assert inferred.returncode == 0, inferred.stderr
    assert not (project.folder() / "results").exists()
    scored = project.run("run", "eval.py", "-m", "eval", "-r")
    assert scored.returncode == 0, scored.stderr
    assert "25.0 %" in scored.stdout
    shown = project.run("run", "eval.py", "-m", "viz", "-r", project.folder().name)
    assert "25.0 %" in shown.stdout
    assert len(project.journal()) == 8


def test_scoring_alone_needs_a_run(project: Project) -> None:
    done = project.run("run", "eval.py", "-m", "eval")
    assert done.returncode == 2
    assert "add -r" in done.stderr


def test_overrides_and_limits_of_the_command_line(project: Project) -> None:
    done = project.run("run", "eval.py", "--set", "models.0.default='7'", "--num-prompts", "2", "-w", "elsewhere")
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / "elsewhere" / "eval").iterdir()
    lines = (folder / "predictions/fake/sums.jsonl").read_text().splitlines()
    assert [json.loads(line)["prediction"] for line in lines] == ["7", "7"]


def test_a_dry_run_asks_nothing(project: Project) -> None:
    done = project.run("run", "eval.py", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "fake/sums: 8 questions" in done.stdout
    assert not (project.root / "outputs").exists()


@pytest.mark.thorough
def test_configs_by_name(project: Project) -> None:
    for kind, name, text in (("models", "my_model", MODEL), ("datasets", "my_sums", DATASET)):
        folder = project.root / "configs" / kind
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(f'"""One of ours."""\n\n{kind} = [{text}]\n')
    listed = project.run("list", "models")
    assert "my_model" in listed.stdout
    assert "One of ours." in listed.stdout
    done = project.run("run", "--models", "my_model", "--datasets", "my_sums", "demo_addition")
    assert done.returncode == 0, done.stderr
    rows = [
        row for path in project.root.glob("outputs/*/*/summary/summary.json") for row in json.loads(path.read_text())
    ]
    assert [row["dataset"] for row in rows] == ["sums", "demo-addition"]


def test_an_unparsed_answer_is_counted_and_scores_zero(project: Project) -> None:
    project.write_config(models=MODEL.replace("It is 6.", "I do not know."))
    project.run("run", "eval.py")
    [row] = project.summary()
    assert (row["scored"], row["unparsed"], row["score"]) == (7, 1, 0.125)


def test_a_truncated_answer_is_counted(project: Project) -> None:
    done = project.run("run", "eval.py", "--set", "models.0.max_out_len=2")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert row["truncated"] == 8


@pytest.mark.thorough
def test_a_failed_request_is_no_wrong_answer_and_decides_the_exit_code(project: Project) -> None:
    models = MODEL.replace("'It is 6.'", "dict(failure='http_500', message='out of order')")
    project.write_config(models=models)
    done = project.run("run", "eval.py")
    assert done.returncode == 1
    [row] = project.summary()
    assert (row["failed"], row["scored"], row["n"]) == (1, 7, 8)
    assert abs(row["score"] - 1 / 7) < 1e-9
    assert "1 of 8 samples failed; " in done.stderr
    assert project.predictions()[3]["prediction"] is None
    for limit in ("1", "12.5%"):
        accepted = project.run("run", "eval.py", "-r", "--max-failures", limit)
        assert accepted.returncode == 0, accepted.stderr


def test_a_failed_task_says_its_cause_and_the_others_go_on(project: Project) -> None:
    project.write_config(
        models=f"dict(type='ScriptedModel', abbr='dead', fail_after=0), {MODEL}",
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert "1 of 2 tasks failed, with 8 samples:\nModelError: all 8 requests so far failed: connection" in done.stderr
    assert "\n  tasks: dead/sums\n" in done.stderr
    rows = {row["model"]: row for row in project.summary()}
    assert rows["fake"]["score"] == 0.25
    assert rows["dead"]["score"] is None
    assert rows["dead"]["note"].startswith("error: ModelError: all 8 requests so far failed")


def test_a_model_that_never_answers_is_given_up(project: Project) -> None:
    project.write_data([{"question": f"{n}", "answer": "1"} for n in range(200)])
    project.write_config(models="dict(type='ScriptedModel', abbr='dead', fail_after=0)")
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "all 10 requests so far failed: connection" in done.stderr
    assert len(project.journal("dead")) < 20
