"""Gates decide the exit code."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project


def test_thresholds_of_the_config_and_of_the_command_line(project: Project) -> None:
    project.write_data()
    project.write_config(more="gates = ['failed <= 0', 'sums: accuracy >= 20%']")
    done = project.run("run", "eval.py", "--gate", "accuracy >= 0.9", "--junit", "ci/j.xml", "--markdown", "ci/m.md")
    assert done.returncode == 1
    assert "FAIL  accuracy >= 0.9  fake/sums  25.0 %" in done.stdout
    assert done.stdout.count("ok  ") == 2
    assert ElementTree.parse(project.root / "ci/j.xml").getroot()[0].get("failures") == "1"
    assert "1 of 3 gates failed" in (project.root / "ci/m.md").read_text()
    assert project.run("run", "eval.py").returncode == 0


def test_a_gate_that_cannot_be_read_is_told_before_anything_is_asked(project: Project) -> None:
    project.write_data()
    project.write_config(more="gates = ['accuracy is good']")
    done = project.run("run", "eval.py")
    assert done.returncode == 2
    assert "'accuracy is good' is no condition" in done.stderr
    assert "where: gates[0] (eval.py:" in done.stderr
    project.write_config()
    for wrong in (
        ["--gate", "accuracy"],
        ["--baseline", "nothing.json"],
        ["--gate", "sumz: accuracy >= 80%"],
        ["--gate", "acuracy >= 80%"],
        ["--gate", "accuracy >= 80"],
        ["--gate", "accuracy >= 101%"],
        ["--gate", "accuracy > 100%"],
        ["--gate", "failed < 0"],
        ["--gate", "failed <= 0.5"],
        ["--gate", "accuracy >= 80%", "--gate", "sums: accuracy < 70%"],
        ["-m", "infer", "--gate", "accuracy >= 80%"],
    ):
        done = project.run("run", "eval.py", *wrong)
        assert done.returncode == 2, done.stderr
        assert not (project.root / "outputs").exists()


@pytest.mark.thorough
def test_a_drop_against_a_baseline_file(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(40)])
    project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", "{}"))
    assert project.run("run", "eval.py").returncode == 0
    made = project.run("baseline", str(project.folder()), "-o", "base.json")
    assert made.stdout.startswith("base.json: 40 samples of 1 dataset,")
    same = project.run("score", str(project.folder()), "--baseline", "base.json")
    assert same.returncode == 0
    assert "ok    no significant drop  fake/sums  accuracy +0.0 points on 40 common samples" in same.stdout
    project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", "{r'^1': 'It is 6.'}"))
    worse = project.run("run", "eval.py", "--baseline", "base.json")
    assert worse.returncode == 1
    assert "FAIL  no significant drop  fake/sums  accuracy -27.5 points" in worse.stdout
    tolerant = project.run("run", "eval.py", "--baseline", "base.json", "--min-drop", "0.5")
    assert tolerant.returncode == 0


def test_a_baseline_is_a_run_of_the_work_dir(project: Project) -> None:
    assert project.run("run", "eval.py", "-w", "there").returncode == 0
    [run] = (project.root / "there/eval").iterdir()
    held = project.run("run", "eval.py", "-w", "there", "--baseline", run.name)
    assert "ok    no significant drop" in held.stdout, held.stderr


@pytest.mark.thorough
def test_a_baseline_of_several_runs(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(40)])
    folders = []
    for number, answers in enumerate(("{}", "{r'^1': 'It is 6.'}", "{}")):
        project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", answers))
        assert project.run("run", "eval.py", "-w", f"w{number}").returncode == 0
        folders += [str(folder) for folder in (project.root / f"w{number}/eval").iterdir()]
    made = project.run("baseline", *folders, "-o", "base.json")
    assert made.returncode == 0, made.stderr
    assert "Values vary between the 3 runs in 1 of 1 dataset." in made.stdout
    text = (project.root / "base.json").read_text()
    assert '"runs": 3' in text
    assert '"0.66666666666666663": ' in text
    assert "18 of 365 nights" in project.run("baseline", folders[0], "-o", "one.json").stdout
    assert "none expected" in project.run("baseline", folders[0], folders[2], "-o", "two.json").stdout
    held = project.run("score", folders[1], "--baseline", "base.json")
    assert "accuracy -18.3 points on 40 common samples, p" in held.stdout
    project.write_config(
        models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", "{}"), datasets=DATASET.replace("Gsm8kE", "EME")
    )
    assert project.run("run", "eval.py", "-w", "other").returncode == 0
    [other] = (project.root / "other/eval").iterdir()
    refused = project.run("baseline", folders[0], str(other), "-o", "no.json")
    assert refused.returncode == 2
    assert "other models, datasets or metrics" in refused.stderr


@pytest.mark.thorough
def test_claims_need_evidence(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(60)])
    project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", "{r'^1': 'It is 6.'}"))  # 49 of 60 are right
    claims = ["--gate", "accuracy >= 70% @95%", "--gate", "accuracy >= 75% @95%", "--gate", "accuracy <= 85% @95%"]
    done = project.run("run", "eval.py", *claims)
    assert done.returncode == 1
    assert "ok    accuracy >= 70% @95%  fake/sums  81.7 %, with 95 % confidence at least 71.5 %" in done.stdout
    assert "FAIL  accuracy >= 75% @95%" in done.stdout
    assert "FAIL  accuracy <= 85% @95%" in done.stdout
    assert project.run("baseline", "eval", "-o", "base.json").returncode == 0
    for gate, code, words in (
        (
            "drop < 8pt @95%",
            0,
            "ok    drop < 8pt @95%  fake/sums  +0.0 points, with 95 % confidence at most +4.3 points",
        ),
        ("drop < 2pt @95%", 1, "FAIL"),
    ):
        held = project.run("score", "eval", "--gate", gate, "--baseline", "base.json")
        assert held.returncode == code, held.stderr
        assert words in held.stdout
    for wrong in (
        ["--gate", "drop < 1pt @95%"],
        ["--gate", "failed <= 1% @95%"],
        ["--gate", "accuracy >= 100% @95%"],
        ["--gate", "accuracy >= 70% @40%"],
        ["--gate", "drop >= 1pt @95%", "--baseline", "base.json"],
    ):
        refused = project.run("run", "eval.py", *wrong)
        assert refused.returncode == 2, refused.stdout


@pytest.mark.thorough
def test_check_says_how_many_samples_a_claim_needs(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(60)])
    project.write_config(more="gates = ['accuracy >= 99% @95%', 'accuracy >= 20%']")
    done = project.run("check", "eval.py", "--gate", "drop < 1pt @95%", "--gate", "accuracy >= 50% @95%")
    assert done.returncode == 0, done.stderr
    assert "accuracy >= 99% @95%  sums, 60 questions" in done.stdout
    assert "if every answer is in its favour: 299 samples" in done.stdout
    assert "60 questions can never show it" in done.stdout
    assert "60 questions are too few for that" in done.stdout
    assert "accuracy >= 20%" not in done.stdout
    assert project.run("check", "eval.py", "--gate", "acc >= 50% @95%").returncode == 2


def test_gates_are_checked_by_check(project: Project) -> None:
    project.write_config(more="gates = ['sumz: accuracy >= 20%', 'bleu >= 3']")
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "'sumz' matches no dataset" in done.stderr
    assert "has the metric 'bleu'" in done.stderr
    assert "eval.py:" in done.stderr


@pytest.mark.thorough
def test_what_is_no_evidence_is_no_baseline_and_passes_no_gate(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(40)])
    whole = project.run("run", "eval.py")
    assert whole.returncode == 0
    assert project.run("baseline", "eval", "-o", "base.json").returncode == 0
    # One of 40 samples is common.
    few = project.run("run", "eval.py", "--num-prompts", "1", "--baseline", "base.json", "--junit", "j.xml")
    assert few.returncode == 1
    assert "????  no significant drop  fake/sums  inconclusive: 1 of 40 samples are answered in both" in few.stdout
    assert ElementTree.parse(project.root / "j.xml").getroot()[0].get("errors") == "1"
    # Most requests fail.
    project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", "{r'^[1-9]': dict(failure='http_500')}"))
    failing = project.run("run", "eval.py", "--max-failures", "100%", "--baseline", "base.json")
    assert failing.returncode == 1
    assert "inconclusive" in failing.stdout
    refused = project.run("baseline", "eval", "-o", "other.json")
    assert refused.returncode == 2
    assert "too few for a baseline" in refused.stderr
    assert not (project.root / "other.json").exists()


def test_a_run_that_is_not_over_is_no_baseline(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "5"} for n in range(60)])
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='It is 4.', max_concurrency=1)")
    assert project.run("run", "eval.py", "--max-requests", "13").returncode == 4
    for args in (["baseline", "eval", "-o", "base.json"], ["run", "eval.py", "--baseline", str(project.folder())]):
        done = project.run(*args)
        assert done.returncode == 2
        assert "is no baseline: it is paused" in done.stderr


def test_each_sample_keeps_to_a_limit_of_its_answers(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(4)])
    answers = [*["4"] * 12, "4", "5", "4", "4"]
    model = MODEL.replace("{r'^3\\+3': 'It is 6.'}", f"{answers}, max_concurrency=1").replace(
        ", default='It is 4.'", ""
    )
    project.write_config(models=model, datasets=DATASET.replace("abbr='sums'", "abbr='sums', n=4"))
    done = project.run("run", "eval.py", "--gate", "each >= 3 of 4", "--gate", "sums: each >= 80%")
    assert done.returncode == 1, done.stderr
    assert "ok    each >= 3 of 4  fake/sums  4 of 4 samples keep to it" in done.stdout
    assert "FAIL  sums: each >= 80%  fake/sums  3 of 4 samples keep to it; not: " in done.stdout
    assert "(3 of 4)" in done.stdout
    for wrong in ("each >= 80", "each >= 5 of 4", "each > 4 of 4", "each >= 3 of 4 @95%", "each >= 3 of 0"):
        refused = project.run("run", "eval.py", "--gate", wrong)
        assert refused.returncode == 2, wrong
    gone = project.run("run", "eval.py", "--stop-early", "--gate", "each >= 3 of 4")
    assert (gone.returncode, "--sample ±2" in gone.stderr) == (2, True)


@pytest.mark.thorough
def test_runs_advise_gates_that_they_keep_to(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4"} for n in range(60)])
    folders = []
    for wrong in ("1", "2", "12"):
        project.write_config(models=MODEL.replace("{r'^3\\+3': 'It is 6.'}", f"{{r'^[{wrong}]\\d': 'It is 6.'}}"))
        assert project.run("run", "eval.py", "-w", f"w{wrong}").returncode == 0
        folders += [str(folder) for folder in (project.root / f"w{wrong}/eval").iterdir()]
    done = project.run("baseline", *folders, "--advise", "--alarms", "12")
    assert done.returncode == 0, done.stderr
    [gate] = re.findall(r"--gate '(.*)'", done.stdout)
    assert re.fullmatch(r"fake/sums: accuracy >= \d+\.\d%", gate)
    assert "is found in 80 %" in done.stdout
    for folder in folders:
        assert project.run("score", folder, "--gate", gate).returncode == 0
    advice = json.loads(project.run("baseline", *folders, "--advise", "--json").stdout)["advice"]
    assert advice[0]["questions"] == 60
    assert advice[0]["found"]["level"] == 1 / 365
    for arguments in ([*folders], [folders[0], "--advise"], [*folders, "--advise", "--alarms", "300"]):
        assert project.run("baseline", *arguments).returncode == 2
