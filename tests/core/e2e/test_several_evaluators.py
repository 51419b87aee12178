"""Several evaluators of a dataset: each scores every answer, and nothing is asked twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ais_prompt.report import SampleChunk, judgement_places
from ais_prompt.store import RunFolder, read_details, read_predictions
from tests.core.e2e.project import Project, read_lines

ROWS = [{"question": f"Q{number}", "answer": "4"} for number in range(5)]
MODEL = """dict(type='ScriptedModel', abbr='fake', answers={
    'Q0': '4', 'Q1': 'It is 4.', 'Q2': '5', 'Q3': '', 'Q4': dict(failure='http_500', message='down'),
})"""
JUDGE = "dict(type='ScriptedModel', abbr='judge', answers={'Answer: 4': 'A', 'Answer: It': 'no idea'}, default='B')"
LLM = f"""dict(type='GenericLLMEvaluator', judge_cfg={JUDGE},
    prompt_template=dict(type='PromptTemplate', template='%sAnswer: {{prediction}}'))"""
FIRST, SECOND = LLM % "", LLM % "Again. "
RULE = "dict(type='AccEvaluator')"
NUMBER = "dict(type='EMEvaluator', pred_postprocessor=dict(type='last_number_postprocess'))"


def write(project: Project, evaluator: str, more: str = "", models: str = MODEL) -> None:
    project.write_config(
        models=models,
        datasets=f"""dict(
            abbr='sums', path='data/sums.jsonl',
            reader_cfg=dict(input_columns=['question'], output_column='answer'),
            infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
                inferencer=dict(type='GenInferencer')),
            eval_cfg=dict(evaluator={evaluator}{more}),
        )""",
    )


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(ROWS)
    return project


def rows(project: Project) -> dict[str, tuple[Any, ...]]:
    """Metric → its score, and how many answers are in each state."""
    return {row["metric"]: (row["score"], row["scored"], row["unparsed"], row["failed"]) for row in project.summary()}


def replies(project: Project) -> dict[str, int]:
    """File of replies of a judge → number of its requests."""
    root = project.folder() / "judge" / "fake"
    return {path.relative_to(root).parts[1]: len(read_lines(path)) for path in root.rglob("journal/*/*.jsonl")}


def test_each_evaluator_has_its_own_score_and_states(project: Project) -> None:
    write(project, f"[{RULE}, {NUMBER}, {FIRST}, {SECOND}]")
    done = project.run("run", "eval.py", "--max-failures", "5")
    assert done.returncode == 0, done.stderr
    assert rows(project) == {
        "accuracy": (0.25, 3, 1, 1),
        "exact_match": (0.5, 3, 1, 1),
        "GenericLLMEvaluator.accuracy": (pytest.approx(1 / 3), 2, 1, 2),
        "GenericLLMEvaluator2.accuracy": (pytest.approx(1 / 3), 2, 1, 2),
    }
    assert replies(project) == {"GenericLLMEvaluator": 3, "GenericLLMEvaluator2": 3}
    assert "1 failed" in done.stdout
    assert "2 failed" in done.stdout
    # Exports and the page have all of them.
    exported = project.run("export", "eval", "--to", "csv", "-o", "tables")
    assert exported.returncode == 0, exported.stderr
    assert "GenericLLMEvaluator.accuracy" in (project.root / "tables" / "samples.csv").read_text().splitlines()[0]


def test_the_page_shows_the_values_of_all_and_the_verdict_of_each_judge(project: Project) -> None:
    write(project, f"[{RULE}, {FIRST}, dict({SECOND}, verdict_postprocessor=dict(type='judge_rating_postprocess'))]")
    assert project.run("run", "eval.py", "--max-failures", "9").returncode == 0
    folder = RunFolder(project.folder())
    places = list(judgement_places(folder, "fake", "sums"))
    chunk = SampleChunk()
    prediction = next(iter(read_predictions(folder.predictions("fake", "sums"))))
    detail = next(read_details(folder.results("fake", "sums")))
    chunk.add(prediction, detail, [(path, start) for sample, path, start in places if sample == detail.sample_id])
    [sample] = chunk.to_json()["samples"]
    assert sample["values"] == {"accuracy": 1.0, "GenericLLMEvaluator.accuracy": 1.0}
    assert sample["reason"] == "GenericLLMEvaluator2: failed, judge without verdict"
    assert len(sample["judgements"]) == 2


def test_a_dict_names_them_and_primary_chooses_the_headline(project: Project) -> None:
    write(project, f"dict(strict={RULE}, number={NUMBER}, loose=dict(type='ContainsEvaluator'))", ", primary='loose'")
    assert project.run("run", "eval.py", "--max-failures", "5").returncode == 0
    assert list(rows(project)) == ["accuracy", "strict.accuracy", "exact_match"]
    assert rows(project)["accuracy"][0] == 0.5
    assert rows(project)["strict.accuracy"][0] == 0.25


def test_an_old_run_gets_another_evaluator_and_nothing_is_asked_again(project: Project) -> None:
    write(project, FIRST)
    assert project.run("run", "eval.py", "--max-failures", "5").returncode == 0
    [before] = rows(project).values()
    asked = len(project.journal())
    write(project, f"[{SECOND}, {FIRST}]")
    done = project.run("score", "eval", "--config", "eval.py", "--max-failures", "5")
    assert done.returncode == 0, done.stderr
    assert rows(project)["GenericLLMEvaluator2.accuracy"] == before
    assert len(project.journal()) == asked
    # The judge that was there is asked nothing; the one that was added has questions of its own.
    assert replies(project).get("GenericLLMEvaluator2", 0) == 0
    assert replies(project)["GenericLLMEvaluator"] == 3


def test_an_evaluator_is_added_on_the_command_line(project: Project) -> None:
    write(project, RULE)
    assert project.run("run", "eval.py", "--max-failures", "5").returncode == 0
    for name in ("ContainsEvaluator", "EMEvaluator"):
        assert project.run("score", "eval", "--evaluator", f"+{name}", "--max-failures", "5").returncode == 0
    assert list(rows(project)) == ["accuracy", "ContainsEvaluator.accuracy", "exact_match"]
    assert project.run("score", "eval", "--evaluator", "EMEvaluator", "--max-failures", "5").returncode == 0
    assert list(rows(project)) == ["exact_match"]


def test_gates_and_compare_know_every_evaluator(project: Project) -> None:
    write(project, f"[{RULE}, {NUMBER}, dict(type='ContainsEvaluator')]")
    gates = (
        "--gate",
        "ContainsEvaluator.accuracy >= 40%",
        "--gate",
        "exact_match >= 40% @60%",
        "--gate",
        "accuracy >= 90%",
    )
    done = project.run("run", "eval.py", "--max-failures", "5", *gates)
    assert done.returncode == 1
    assert "ok    ContainsEvaluator.accuracy >= 40%" in done.stdout
    assert "????  exact_match >= 40% @60%" in done.stdout  # only 4 of 5 samples have an answer
    assert "FAIL  accuracy >= 90%" in done.stdout
    wrong = project.run("run", "eval.py", "--gate", "contains.accuracy >= 40%")
    assert "has the metric 'contains.accuracy'" in wrong.stderr
    write(project, f"[{RULE}, {NUMBER}]", models="dict(type='ScriptedModel', abbr='fake', default='4')")
    assert project.run("run", "eval.py").returncode == 0
    compared = json.loads(project.run("compare", "eval", "--json").stdout)
    assert [(one["metric"], one["before"]) for one in compared["comparisons"]] == [
        ("accuracy", 0.25),
        ("exact_match", 0.5),
    ]


def test_compare_has_the_mean_over_datasets_of_each_evaluator(project: Project) -> None:
    project.write_data([{"question": f"Q{number}", "answer": "4"} for number in range(10)])
    for answer in ("4", "It is 4"):
        write(
            project,
            f"dict(strict={RULE}, number={NUMBER})",
            models=f"dict(type='ScriptedModel', abbr='fake', default={answer!r})",
        )
        config = project.root / "eval.py"
        text = config.read_text() + "\ndatasets.append(dict(datasets[0], abbr='more'))\n"
        config.write_text(text)
        assert project.run("run", "eval.py").returncode == 0
    compared = json.loads(project.run("compare", "eval", "--json").stdout)
    means = [(one["metric"], one["datasets"], one["difference"]) for one in compared["means"]]
    assert means == [("mean", 2, -1.0), ("number.mean", 2, 0.0)]
    assert "number.mean" in project.run("compare", "eval").stdout


def test_baselines_and_drop_gates_know_every_evaluator(project: Project) -> None:
    project.write_data([{"question": f"Q{number}", "answer": "4"} for number in range(40)])
    evaluators = f"dict(strict={RULE}, number={NUMBER}, letters=dict(type='BleuEvaluator'))"
    write(project, evaluators, models="dict(type='ScriptedModel', abbr='fake', default='4')")
    assert project.run("run", "eval.py").returncode == 0
    done = project.run("baseline", "eval", "-o", "all.json")
    assert "40 samples of 1 dataset" in done.stdout
    tasks = json.loads((project.root / "all.json").read_text())["tasks"]
    assert [(one.get("evaluator"), one["metric"]) for one in tasks] == [
        (None, "accuracy"),
        ("number", "exact_match"),
        ("letters", "bleu"),
    ]
    # The number is still found, the answer alone is not.
    write(project, evaluators, models="dict(type='ScriptedModel', abbr='fake', default='It is 4')")
    gates = ("--gate", "number.drop < 10pt @95%", "--gate", "drop < 10pt @95%", "--gate", "number.each >= 1 of 1")
    done = project.run("run", "eval.py", "--baseline", "all.json", *gates)
    assert done.returncode == 1
    for verdict in (
        "ok    number.drop < 10pt @95%  fake/sums (number)  +0.0 points",
        "ok    number.each >= 1 of 1  fake/sums  40 of 40 samples keep to it",
        "ok    no significant drop  fake/sums (number)  exact_match +0.0 points",
        "ok    no significant drop  fake/sums (letters)  bleu +0",
        "FAIL  drop < 10pt @95%  fake/sums  +100.0 points",
        "FAIL  no significant drop  fake/sums  accuracy -100.0 points",
    ):
        assert verdict in done.stdout
    wrong = project.run("run", "eval.py", "--baseline", "all.json", "--gate", "strict.drop < 10pt @95%")
    assert "no dataset that it concerns has a further evaluator 'strict'" in wrong.stderr
    assert "further evaluators are number, letters" in wrong.stderr


def test_a_model_that_others_are_compared_with_has_the_scores_of_the_other_evaluators(project: Project) -> None:
    pairs = f"""dict(type='PairwiseEvaluator', judge_cfg={JUDGE}, baseline=dict(model='other'),
        prompt_template=dict(type='PromptTemplate', template='{{prediction}} or {{prediction2}}'))"""
    other = "dict(type='ScriptedModel', abbr='other', default='4')"
    write(project, f"[{RULE}, {pairs}]", models=f"{MODEL}, {other}")
    done = project.run("run", "eval.py", "--max-failures", "5")
    assert done.returncode == 0, done.stderr
    found = {(row["model"], row["metric"]) for row in project.summary()}
    assert {("fake", "accuracy"), ("fake", "win_rate"), ("other", "accuracy")} <= found
    assert ("other", "win_rate") not in found


def test_dialogues_are_scored_by_each_evaluator(project: Project) -> None:
    said = (("user", "1"), ("assistant", "4"), ("user", "2"), ("assistant", "5"))
    project.write_data([{"dialogue": [{"role": role, "content": content} for role, content in said]}])
    project.write_config(
        models="dict(type='ScriptedModel', abbr='fake', default='It is 4')",
        datasets=f"""dict(
            abbr='sums', path='data/sums.jsonl',
            reader_cfg=dict(input_columns=['dialogue'], output_column='dialogue'),
            infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{dialogue}}'),
                inferencer=dict(type='ChatInferencer', infer_mode='every')),
            eval_cfg=dict(evaluator=[{RULE}, dict(type='ContainsEvaluator')]),
        )""",
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    found = {name: row[0] for name, row in rows(project).items()}
    assert found == {
        "accuracy": 0.0,
        "dialogue_accuracy": 0.0,
        "ContainsEvaluator.accuracy": 0.5,
        "ContainsEvaluator.dialogue_accuracy": 0.0,
    }


@pytest.mark.parametrize(
    ("evaluator", "what"),
    [
        (f"[{RULE}, dict(type='NoEvaluator')]", "NoEvaluator"),
        (f"[{RULE}, dict(type='GenericLLMEvaluator')]", "needs a judge"),
        (f"[{RULE}, dict(type='EMEvaluator', pred_postprocessor=dict(type='none_such'))]", "none_such"),
    ],
)
def test_a_fault_names_the_evaluator(project: Project, evaluator: str, what: str) -> None:
    write(project, evaluator)
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert what in done.stderr
    assert "eval_cfg.evaluator[1]" in done.stderr


def test_a_single_evaluator_in_a_list_writes_the_same_files(project: Project) -> None:
    def written() -> dict[str, bytes]:
        [folder] = sorted((project.root / "outputs" / "eval").iterdir())[-1:]
        return {
            name: (folder / name).read_bytes()
            for name in ("results/fake/sums.json", "judge/fake/predictions/judge/sums.jsonl")
        }

    found = []
    for evaluator in (FIRST, f"[{FIRST}]", f"dict(only={FIRST})"):
        write(project, evaluator)
        assert project.run("run", "eval.py", "--max-failures", "5").returncode == 0
        found.append(written())
    assert found[0] == found[1] == found[2]
