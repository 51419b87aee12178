"""Several answers, thoughts, and examples that do not fit."""

from __future__ import annotations

import json

from tests.core.e2e.project import DATASET, Project

FEW_SHOTS = DATASET.replace(
    "retriever=dict(type='ZeroRetriever')",
    "retriever=dict(type='FixKRetriever', fix_id_list=[4, 5, 6], allow_overlap=True)",
).replace(
    "prompt_template=dict(type='PromptTemplate', template='{question}\\nAnswer: {answer}')",
    "ice_template=dict(type='PromptTemplate', template='</E>{question} Answer: {answer}', ice_token='</E>')",
)  # 3 words each, 2 in the question


def test_examples_that_do_not_fit_are_left_out_and_counted(project: Project) -> None:
    project.write_data()
    model = "dict(type='ScriptedModel', abbr='fake', default='It is 4.', max_seq_len=9)"
    project.write_config(models=model, datasets=FEW_SHOTS)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "8 of 8 prompts show fewer examples than retrieved, to keep to max_seq_len=9" in done.stderr
    assert {line["shots_used"] for line in project.predictions()} == {2}
    assert project.predictions()[0]["origin_prompt"][0]["content"].count("Answer:") == 3
    assert json.loads((project.folder() / "run.json").read_text())["tasks"]["fake/sums"]["shortened"] == 8
    seen = project.run("view-prompt", "eval.py", "-n", "-c", "1")
    assert "2 shots (1 left out): train rows 4, 5" in seen.stdout


def test_a_prompt_that_is_too_long_even_without_examples_is_a_failure(project: Project) -> None:
    rows = [{"question": "2+2=?", "answer": "4"}, {"question": "how much is two and two ?", "answer": "4"}]
    project.write_data(rows * 4)
    model = "dict(type='ScriptedModel', abbr='fake', default='It is 4.', max_seq_len=4)"
    project.write_config(models=model, datasets=FEW_SHOTS)
    done = project.run("run", "eval.py", "--max-failures", "4")
    assert done.returncode == 0, done.stderr
    failures = [line["completions"][0].get("failure") for line in project.predictions()]
    assert [failure and failure["kind"] for failure in failures] == [None, "too_long"] * 4


def test_several_answers_and_thoughts(project: Project) -> None:
    project.write_data()
    answers = "answers={'^3': '<think>three and'}, default='<think>hm</think>It is 4.'"
    dataset = DATASET.replace("dict(type='GenInferencer')", "dict(type='GenInferencer', n=2)")
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', {answers})", datasets=dataset)
    done = project.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    lines = project.predictions()
    assert lines[2]["prediction"] == ["It is 4.", "It is 4."]
    assert [completion["reasoning"] for completion in lines[2]["completions"]] == ["hm", "hm"]
    assert lines[3]["prediction"] == ["", ""]
    assert {completion["unclosed"] for completion in lines[3]["completions"]} == {True}
    again = project.run("run", "eval.py", "-m", "infer", "-r")
    assert "8 of 8 samples are answered already, 0 will be asked" in again.stderr
