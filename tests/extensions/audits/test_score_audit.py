"""`aisprompt score --audit`: whether scores depend on how answers are read."""

from __future__ import annotations

import json

from tests.core.e2e.project import Project
from tests.core.unit.report.web.reading import read_report


def test_a_higher_score_under_another_postprocessor_is_told(project: Project) -> None:
    text = "The answer is A. The answer is C."
    reads = {"evaluator": {"type": "AccEvaluator"}, "pred_postprocessor": {"type": "first_option_postprocess"}}
    project.write_data([{"question": f"q{n}", "answer": "C"} for n in range(8)])
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', default={text!r})")
    done = project.run("run", "eval.py", "--set", f"datasets.0.eval_cfg={reads}")
    assert done.returncode == 0, done.stderr
    assert "the score is higher if" not in done.stderr
    done = project.run("score", "eval", "--audit")
    assert "the score is higher if answers are read in another way: last_option_postprocess +100.0" in done.stderr
    results = json.loads((project.folder() / "results" / "fake" / "sums.json").read_text())
    found = results["extraction"]
    assert found["postprocessor"] == "first_option_postprocess"
    assert [(other["postprocessor"], other["score"]) for other in found["others"]] == [("last_option_postprocess", 1.0)]
    [reading] = results["details"][0]["readings"]
    assert text[reading["start"] : reading["end"]] == "A"


def test_wrong_answers_that_contain_the_gold_are_told(project: Project) -> None:
    project.write_data([{"question": f"q{n}", "answer": "6"} for n in range(8)])
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='It is 6.')")
    done = project.run("run", "eval.py", "--set", "datasets.0.eval_cfg={'evaluator': {'type': 'AccEvaluator'}}")
    assert (done.returncode, "0.0 %" in done.stdout, "--audit" in done.stdout + done.stderr) == (0, True, True)
    done = project.run("score", "eval", "--audit")
    assert "8 of 8 wrong answers contain the gold answer: pred_postprocessor=" in done.stderr
    doubt = json.loads((project.folder() / "results" / "fake" / "sums.json").read_text())["doubt"]
    assert doubt.endswith("pred_postprocessor=dict(type='gsm8k_postprocess') would give 100.0 %")
    [task] = read_report(project.folder() / "report.html").data["tasks"]
    assert task["doubt"] == doubt
