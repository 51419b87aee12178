"""What a person would want to know of the prompts: said by every verb, and it stops none."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project

LOST = DATASET.replace(
    "template='{question}\\nAnswer: {answer}'",
    "template=dict(begin='Mind the sum!', round=[dict(role='HUMAN', prompt='{quesion} {question}')])",
)
MISSPELT = "Misspelt placeholder: {quesion}. No column has this name, so the model is sent the braces."
TWO = ["not sent: 'Mind the sum!'", "{quesion} is sent as it is"]


@pytest.fixture
def odd(project: Project) -> Project:
    project.write_config(datasets=LOST, models=f"{MODEL}, {MODEL.replace('fake', 'other')}")
    return project


def test_check_tells_each_once_with_its_place(odd: Project) -> None:
    done = odd.run("check", "eval.py")
    assert done.returncode == 0
    assert done.stderr == ""
    assert [done.stdout.count(what) for what in TWO] == [1, 1]
    assert done.stdout.count("  where: datasets[0].infer_cfg.prompt_template (eval.py:") == 2
    assert done.stdout.splitlines()[-2:] == ["No faults: 2 models, 1 dataset.", MISSPELT]


def test_run_tells_them_once_at_its_start_and_in_its_log(odd: Project) -> None:
    done = odd.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert [done.stderr.count(what) for what in TWO] == [1, 1]
    assert done.stderr.index(TWO[1]) < done.stderr.index("[fake/sums]")
    assert done.stderr.splitlines()[-1] == MISSPELT
    assert MISSPELT not in odd.run("run", "eval.py", "-q", "-w", "quiet").stderr
    log = (odd.folder() / "logs" / "run.log").read_text()
    assert [log.count(what) for what in TWO] == [1, 1]


def test_scores_alone_need_no_warnings(odd: Project) -> None:
    assert odd.run("run", "eval.py").returncode == 0
    done = odd.run("run", "eval.py", "-m", "eval", "-r")
    assert done.returncode == 0
    assert TWO[0] not in done.stderr


def test_view_prompt_shows_them_below_the_prompt_and_a_misspelt_placeholder_above(odd: Project) -> None:
    done = odd.run("view-prompt", "eval.py", "-n")
    assert done.returncode == 0
    assert [done.stdout.count(what) for what in TWO] == [1, 1]
    assert done.stdout.index(TWO[1]) < done.stdout.index("As sent") < done.stdout.index(TWO[0])
    [view] = json.loads(odd.run("view-prompt", "eval.py", "-n", "--json").stdout)
    assert [warning["where"] for warning in view["warnings"]] == [
        "datasets[0].infer_cfg.prompt_template (eval.py:8)"
    ] * 2


def test_a_clean_config_is_quiet(project: Project) -> None:
    lines = project.run("check", "eval.py").stdout.splitlines()
    assert lines == [
        "Extraction of sums: 30 of 30 ordinary phrasings give back the answer (gsm8k_postprocess, 8 golds)",
        "A run asks 8 questions, 8 requests, about 32 tokens in, at most 2,048 out",
        "No faults: 1 model, 1 dataset.",
    ]
    assert "WARNING" not in project.run("run", "eval.py").stderr


def test_check_finds_questions_among_their_own_examples(project: Project) -> None:
    project.write_data()
    shots = DATASET.replace(
        "retriever=dict(type='ZeroRetriever')", "retriever=dict(type='FixKRetriever', fix_id_list=[2])"
    )
    shots = (
        shots.replace("prompt_template=", "ice_template=")
        .replace("template='", "template='</E>")
        .replace("{answer}')", "{answer}', ice_token='</E>')")
    )
    project.write_config(datasets=shots)
    for verb in ("check", "run", "view-prompt"):
        done = project.run(verb, "eval.py")
        assert done.returncode == 2, verb
        assert "1 of 8 questions are among the rows that they may be shown as examples" in done.stderr
        assert "test row 2 is train row 2" in done.stderr
        assert "allow_overlap=True" in done.stderr
        assert not (project.root / "outputs").exists()
    project.write_config(datasets=shots.replace("fix_id_list=[2]", "fix_id_list=[2], allow_overlap=True"))
    accepted = project.run("check", "eval.py")
    assert accepted.returncode == 0
    assert "1 of 8 questions are among" in accepted.stdout
    assert project.run("run", "eval.py").returncode == 0
