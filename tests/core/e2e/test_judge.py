"""Answers that a model judges: its failures are not the answers', and what it said is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines

ROWS = [{"question": f"Q{number}", "answer": "4"} for number in range(6)]
MODEL = """dict(type='ScriptedModel', abbr='fake', answers={
    'Q0': '4', 'Q1': 'four', 'Q2': 'five', 'Q3': 'hmm', 'Q4': 'late', 'Q5': dict(failure='http_500', message='down'),
})"""
JUDGE = """dict(type='ScriptedModel', abbr='judge', answers={
    'Answer: 4': 'A', 'Answer: four': 'A', 'Answer: five': 'Verdict: B', 'Answer: hmm': 'I cannot tell.',
    'Answer: late': dict(failure='timeout', message='too slow'),
})"""
TEMPLATE = (
    "dict(type='PromptTemplate', template='Question: {question}\\nGold: {gold}\\nAnswer: {prediction}\\nA or B?')"
)
LLM = f"dict(type='GenericLLMEvaluator', judge_cfg={JUDGE}, prompt_template={TEMPLATE})"
CASCADE = f"dict(type='CascadeEvaluator', rule_evaluator=dict(type='AccEvaluator'), llm_evaluator={LLM})"


def dataset(evaluator: str, more: str = "") -> str:
    return f"""dict(
        abbr='sums',
        path='data/sums.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='{{question}}{{answer}}'),
            inferencer=dict(type='GenInferencer'{more}),
        ),
        eval_cfg=dict(evaluator={evaluator}),
    )"""


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(ROWS)
    project.write_config(models=MODEL, datasets=dataset(LLM))
    return project


def scores(project: Project) -> dict[str, float]:
    return {row["metric"]: row["score"] for row in project.summary()}


def details(project: Project) -> list[dict[str, Any]]:
    results = json.loads((project.folder() / "results" / "fake" / "sums.json").read_text())
    found: list[dict[str, Any]] = results["details"]
    return found


def judged(project: Project, kind: str = "predictions") -> list[dict[str, Any]]:
    return read_lines(project.folder() / "judge" / "fake" / kind / "judge" / "sums.jsonl")


def test_a_judge_scores_answers(project: Project) -> None:
    done = project.run("run", "eval.py", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    assert scores(project) == {"accuracy": pytest.approx(2 / 3)}
    found = [(one["status"], one.get("reason"), one["values"].get("accuracy")) for one in details(project)]
    assert found == [
        ("scored", None, 1.0),
        ("scored", None, 1.0),
        ("scored", None, 0.0),
        ("failed", "judge without verdict", None),
        ("failed", "judge timeout", None),
        ("failed", "http_500", None),
    ]
    assert [one["extracted"] for one in details(project)] == ["4", "four", "five", "hmm", "late", None]
    [first, *_] = judged(project)
    assert first["origin_prompt"][0]["content"] == "Question: Q0\nGold: 4\nAnswer: 4\nA or B?"
    assert first["prediction"] == "A"
    assert len(judged(project)) == 5


def test_what_has_no_verdict_counts_for_max_failures(project: Project) -> None:
    done = project.run("run", "eval.py", "--max-failures", "2")
    assert done.returncode == 1
    assert "3 of 6 samples failed; --max-failures is 2" in done.stderr
    assert "judge without verdict 1, judge timeout 1, http_500 1" in done.stdout
    seen_again = project.run("run", "eval.py", "-m", "viz", "-r", "--max-failures", "2")
    assert seen_again.returncode == 1


def test_a_judge_without_any_verdict_is_the_reason(project: Project) -> None:
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='hmm')", datasets=dataset(LLM))
    done = project.run("run", "eval.py")
    assert done.returncode == 1
    assert "6 of 6 samples failed" in done.stderr
    assert "judge without verdict 6" in done.stdout
    assert "every request failed" not in done.stdout
    assert "every sample failed" in project.summary()[0]["note"]


def test_a_rule_comes_first(project: Project) -> None:
    project.write_config(models=MODEL, datasets=dataset(CASCADE))
    done = project.run("run", "eval.py", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    # The rule scored all five answers, also the two about which the judge said nothing.
    assert scores(project) == {"accuracy": pytest.approx(2 / 3), "rule_accuracy": pytest.approx(1 / 5)}
    assert [one["prediction"] for one in judged(project)] == ["A", "Verdict: B", "I cannot tell.", None]


def test_scoring_again_asks_only_what_has_no_verdict(project: Project) -> None:
    project.run("run", "eval.py")
    assert len(judged(project, "journal")) == 5
    done = project.run("score", "eval", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    assert "4 of 5 samples are answered already, 1 will be asked" in done.stderr
    assert scores(project) == {"accuracy": pytest.approx(2 / 3)}
    assert len(judged(project, "journal")) == 6
    assert len(project.journal()) == 6  # the models themselves were not asked


@pytest.mark.thorough
def test_a_cache_has_the_verdicts_of_another_run(project: Project) -> None:
    project.run("run", "eval.py", "--cache", "answers")
    done = project.run("run", "eval.py", "--cache", "answers", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    # The judge fails once, which is no answer: it is asked again.
    assert "4 of 5 samples are answered already, 1 will be asked; 4 answers come from the cache" in done.stderr
    assert "66.7" in done.stdout
    # Another model gives the same answers. The questions about them are cached apart: they may be asked side by side.
    project.write_config(models=MODEL.replace("'fake'", "'other'"), datasets=dataset(LLM))
    done = project.run("run", "eval.py", "--cache", "answers")
    assert "[judge/sums] 5/5" in done.stderr
    assert len(list((project.root / "answers").glob("sums@*.jsonl"))) == 2


@pytest.mark.process
def test_a_postprocessor_that_ends_its_process_costs_only_its_own_task(project: Project) -> None:
    (project.root / "ending.py").write_text(
        "import os\n\n\ndef fatal(text):\n    if text == 'four':\n        os._exit(7)\n    return text\n"
    )
    own = dataset(LLM).replace("evaluator=", "pred_postprocessor=dict(type='ending.fatal'), evaluator=")
    harmless = own.replace("'sums'", "'others'").replace("data/sums", "data/others")
    project.write_data([row for row in ROWS if row["question"] != "Q1"], "others.jsonl")
    project.write_config(models=MODEL, datasets=f"{own}, {harmless}, {dataset(CASCADE).replace('sums', 'third', 1)}")
    done = project.run("run", "eval.py")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("PartError: the process that read the answers of this task ended") == 1
    assert "1 of 3 tasks failed" in done.stderr
    found = {(row["dataset"], row["metric"]): row["score"] for row in project.summary()}
    assert found[("sums", None)] is None
    assert found[("others", "accuracy")] == pytest.approx(1 / 2)
    assert found[("third", "accuracy")] == pytest.approx(2 / 3)


def test_a_judge_that_cannot_be_used_leaves_the_answers(project: Project) -> None:
    broken = LLM.replace("dict(failure='timeout', message='too slow')", "'A'").replace(
        "'Answer: 4': 'A'", "'Question': dict(failure='http_401', message='no key', fatal=True)"
    )
    project.write_config(models=MODEL, datasets=dataset(broken))
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "no key" in done.stderr
    assert len(project.predictions()) == 6


def test_several_answers_are_judged_one_by_one(project: Project) -> None:
    model = "dict(type='ScriptedModel', abbr='fake', default='four')"
    project.write_config(models=model, datasets=dataset(LLM, more=", n=2"))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(project)["accuracy"] == 1.0
    assert len(judged(project)) == 6  # both answers are the same: one verdict is enough


@pytest.mark.parametrize(
    ("evaluator", "fault"),
    [
        (LLM.replace(f"judge_cfg={JUDGE}, ", ""), "GenericLLMEvaluator needs a judge"),
        (f"dict(type='GenericLLMEvaluator', judge_cfg={JUDGE})", "prompt_template"),
        (LLM.replace("ScriptedModel", "ScriptedMode"), "did you mean 'ScriptedModel'?"),
        (LLM.replace("GenericLLMEvaluator", "AccEvaluator"), "asks no judge"),
        ("dict(type='GenericLLMEvaluator')", "needs a judge"),
        (CASCADE.replace("'AccEvaluator'", "'AccEvaluatr'"), "did you mean 'AccEvaluator'?"),
        (CASCADE.replace("GenericLLMEvaluator", "LLMRatingEvaluator"), "cannot be put together"),
    ],
)
def test_faults_are_found_before_anything_is_asked(project: Project, evaluator: str, fault: str) -> None:
    project.write_config(models=MODEL, datasets=dataset(evaluator))
    done = project.run("run", "eval.py")
    assert done.returncode == 2
    assert fault in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.root / "outputs").exists()


def test_a_column_that_the_judges_prompt_lacks_is_a_fault(project: Project) -> None:
    project.write_config(models=MODEL, datasets=dataset(LLM.replace("{prediction}", "{predicton}")))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "{predicton} would be sent as it is" in done.stderr
    assert "did you mean {prediction}?" in done.stderr


def test_ratings(project: Project) -> None:
    judge = "dict(type='ScriptedModel', abbr='judge', answers={'Q0': 'Rating: [[9]]', 'Q1': '[[11]]'}, default='[[6]]')"
    rating = f"dict(type='LLMRatingEvaluator', judge_cfg={judge}, prompt_template={TEMPLATE})"
    project.write_config(models=MODEL, datasets=dataset(rating))
    done = project.run("run", "eval.py", "--max-failures", "2")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["metric"], row["score"], row["failed"]) == ("rating", pytest.approx((9 + 6 + 6 + 6) / 4), 2)


def test_a_judge_sees_the_conversation_before_each_turn(project: Project) -> None:
    """The answers to both turns are equal: only what was said before tells the judge which one it is about."""
    project.write_data([{"turns": ["First?", "Second?"], "golds": ["", ""]}], "talk.jsonl")
    answers = {
        "^User: First.\\n\\nAssistant: Yes.\\n\\nUser: Second. ## Yes.$": "[[9]]",
        "^User: First. ## Yes.$": "[[4]]",
    }
    judge = f"dict(type='ScriptedModel', abbr='judge', default='[[1]]', answers={answers!r})"
    talk = f"""dict(
        abbr='talk',
        path='data/talk.jsonl',
        reader_cfg=dict(input_columns=['turns'], output_column='golds'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{{turns}}'), dict(role='BOT', prompt='')]),
                turn_columns=['turns'],
            ),
            inferencer=dict(type='MultiTurnGenInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(
            type='LLMRatingEvaluator', judge_cfg=[{judge}, {judge.replace("'judge'", "'other'")}],
            prompt_template=dict(type='PromptTemplate', template='{{conversation}} ## {{prediction}}'),
        )),
    )"""
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='Yes.')", datasets=talk)
    for command in (["run", "eval.py"], ["score", "eval"]):
        done = project.run(*command)
        assert done.returncode == 0, done.stderr
        by_judge = {"rating by judge": 6.5, "rating by other": 6.5}
        assert scores(project) == {"rating": 6.5, "dialogue_rating": 4.0, **by_judge, "krippendorff_alpha": 1.0}
    results = json.loads((project.folder() / "results" / "fake" / "talk.json").read_text())
    assert [one["vote"] for one in results["details"][0]["verdicts"]] == [4.0, 4.0, 9.0, 9.0]


def test_texts_of_a_model_and_of_a_judge_go_through_their_own_postprocessors(project: Project) -> None:
    first = "pred_postprocessor=dict(type='first_line_postprocess')"
    model = f"dict(type='ScriptedModel', abbr='fake', default='4\\n5', {first})"
    judge = f"dict(type='ScriptedModel', abbr='judge', answers={{'Answer: 4\\nA or B': 'A\\nVerdict: B'}}, {first})"
    evaluator = f"dict(type='GenericLLMEvaluator', judge_cfg={judge}, prompt_template={TEMPLATE})"
    project.write_config(models=model, datasets=dataset(evaluator))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(project) == {"accuracy": 1.0}
    lines = read_lines(project.folder() / "predictions/fake/sums.jsonl")
    assert {line["prediction"] for line in lines} == {"4\n5"}


OWN = '''
from statistics import fmean

from ais_prompt.metrics import mean_scores


class Parts:
    """One question about each half of the gold, such as "short, polite"."""

    metrics = ("share",)
    compares = False
    judge_prompt = "{prediction} is {part}?"

    def parts(self, gold):
        return [{"part": part} for part in gold.split(", ")]

    def verdict(self, text):
        return text if text in ("yes", "no") else None

    def vote(self, verdicts):
        return None if None in verdicts else " ".join(verdicts)

    def marks(self, vote, gold):
        return [None if vote is None else float(one == "yes") for one in (vote or gold).split()]

    def said(self, vote, gold):
        return list(zip(gold.split(", "), self.marks(vote, gold)))

    def marks_by_name(self, answer):
        return dict(self.said(answer.verdicts[0].vote, answer.gold))

    def decide(self, panel, gold):
        each = [fmean(self.marks(one.vote, gold)) for one in panel if one.vote is not None]
        return {"share": fmean(each)} if each else None

    def score(self, extracted, gold):
        return {"share": fmean(self.marks(extracted, gold))}

    def without_judge(self, extracted, gold):
        return None

    def aggregate(self, scores):
        return mean_scores(self.metrics, scores)
'''


@pytest.mark.process
def test_an_evaluator_of_a_user_asks_about_each_part(project: Project) -> None:
    (project.root / "own.py").write_text(OWN)
    project.write_data([{"question": f"Q{number}", "answer": "short, polite"} for number in range(3)])
    judges = ", ".join(
        f"dict(type='ScriptedModel', abbr={name!r}, answers={answers!r}, default='no')"
        for name, answers in {"a": {"short": "yes", "five is polite": "hm"}, "b": {"4 is": "yes"}}.items()
    )
    parts = dataset(f"dict(type='own.Parts', judge_cfg=[{judges}])")
    project.write_config(models=MODEL, datasets=parts)
    assert "up to 12 requests to the judges" in project.run("check", "eval.py").stdout
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    found = scores(project)
    # a: 1/2, 1/2, nothing of the third; b: 1, 0, 0
    assert found["share"] == pytest.approx((3 / 4 + 1 / 4 + 0) / 3)
    assert (found["share by a"], found["share by b"]) == (pytest.approx(1 / 2), pytest.approx(1 / 3))
    assert found["krippendorff_alpha"] < 1
