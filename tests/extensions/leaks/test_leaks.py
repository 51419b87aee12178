"""A leak in the data, as `check` reports it to a user."""

from __future__ import annotations

from random import Random

import pytest

from tests.core.e2e.project import DATASET, Project


@pytest.mark.thorough
def test_check_warns_of_a_gold_in_another_column_and_refuses_a_gold_column_in_the_prompt(project: Project) -> None:
    random = Random(1)
    rows = [{"question": f"What is question {number}?", "answer": str(random.randint(10, 99))} for number in range(100)]
    project.write_data([{**row, "source": f"page {row['answer']}", "tests": "x"} for row in rows])
    shown = DATASET.replace("{question}", "{question} ({source})")
    project.write_config(datasets=shown)
    done = project.run("check", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "Warning: the gold occurs in the column 'source', which the prompt shows, in 100.0% of 100" in done.stdout
    assert "  where: datasets[0].infer_cfg.prompt_template (eval.py:" in done.stdout
    assert done.stdout.splitlines()[-1] == "No faults: 1 model, 1 dataset."

    tests = "gold_columns=['tests', 'answer']"
    project.write_config(
        datasets=DATASET.replace("{question}", "{question} {tests}").replace(
            "column='answer'", f"column='answer', {tests}"
        )
    )
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "it changes with the gold in column 'tests'" in done.stderr


def test_check_proves_that_no_prompt_tells_its_answer(project: Project) -> None:
    project.write_data()
    raw = "dict(type='RawPromptTemplate', messages=[dict(role='user', content='{question} Is it {answer}?')])"
    leaking = DATASET.replace("dict(type='PromptTemplate', template='{question}\\nAnswer: {answer}')", raw)
    project.write_config(datasets=leaking)
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "the prompt tells the answer: it changes with the gold in column 'answer'" in done.stderr
    assert "eval.py:" in done.stderr
    assert "8 of 8 samples" in done.stderr
