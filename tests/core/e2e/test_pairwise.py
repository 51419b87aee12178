"""Answers of two models that judges compare in both orders, and judges that decide together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines

ROWS = [{"question": f"Q{number}", "other": "weak" if number < 3 else "strong"} for number in range(6)]
NEW = """dict(type='ScriptedModel', abbr='new', answers={
    'Q0': 'strong', 'Q1': 'even', 'Q2': 'vague', 'Q3': 'weak',
}, default='mute')"""
OLD = "dict(type='ScriptedModel', abbr='old', answers={'Q[012]': 'weak'}, default='strong')"
TEMPLATE = "dict(type='PromptTemplate', template='{question} First: {prediction}. Second: {prediction2}. Verdict?')"


def judge(abbr: str = "judge", vague: str = "[[A]]") -> str:
    """Return a judge that finds strong answers better, and knows only the place of vague ones."""
    return f"""dict(type='ScriptedModel', abbr={abbr!r}, answers={{
        'even': 'They are the same. [[C]]', 'vague': {vague!r}, 'mute': 'I cannot tell.',
        'First: strong': '[[A]]', 'Second: strong': '[[B]]',
    }})"""


def dataset(baseline: str, judges: str = judge(), more: str = "") -> str:
    return f"""dict(
        abbr='pairs',
        path='data/pairs.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column=None),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='{{question}}'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(
            type='PairwiseEvaluator', judge_cfg={judges}, prompt_template={TEMPLATE}, baseline={baseline}{more},
        )),
    )"""


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(ROWS, "pairs.jsonl")
    return project


def results(project: Project, model: str = "new", work_dir: str = "outputs") -> dict[str, Any]:
    [folder] = (project.root / work_dir / "eval").iterdir()
    found: dict[str, Any] = json.loads((folder / "results" / model / "pairs.json").read_text())
    return found


def values(project: Project, model: str = "new", work_dir: str = "outputs") -> dict[str, Any]:
    return {score["metric"]: score["value"] for score in results(project, model, work_dir)["scores"]}


EXPECTED = {"win_rate": pytest.approx(0.5), "wins": 0.25, "ties": 0.5, "order_changed": 0.25}
"""Q0 is won, Q1 even, Q2 depends on the order, Q3 is lost; the judge says nothing about Q4 and Q5."""


@pytest.mark.thorough
@pytest.mark.parametrize("order", [f"{NEW}, {OLD}", f"{OLD}, {NEW}"])
def test_a_model_of_the_run_is_the_baseline(project: Project, order: str) -> None:
    project.write_config(models=order, datasets=dataset("dict(model='old')"))
    done = project.run("run", "eval.py", "--max-failures", "2")
    assert done.returncode == 0, done.stderr
    assert values(project) == EXPECTED
    assert "old/pairs: not scored: the others are compared with it" in done.stdout
    details = results(project)["details"]
    assert [one["status"] for one in details] == ["scored"] * 4 + ["failed"] * 2
    assert details[4]["reason"] == "judge without verdict"
    assert details[2]["verdicts"] == [{"judge": "judge", "vote": 0.5, "orders": ["first", "first"]}]
    said = read_lines(project.folder() / "judge" / "new" / "predictions" / "judge" / "pairs.jsonl")
    assert [one["origin_prompt"][0]["content"] for one in said[:2]] == [
        "Q0 First: strong. Second: weak. Verdict?",
        "Q0 First: weak. Second: strong. Verdict?",
    ]


@pytest.mark.thorough
def test_a_column_and_an_earlier_run_give_the_same_scores(project: Project) -> None:
    answers_only = dataset("dict(column='other')").split("eval_cfg")[0] + ")"
    project.write_config(models=OLD, datasets=answers_only)
    assert project.run("run", "eval.py").returncode == 0
    earlier = project.folder().relative_to(project.root)
    baselines = [
        "dict(column='other')",
        f"dict(path='{earlier}')",
        f"dict(path='{project.root / earlier}', model='old')",
        f"dict(path='{earlier}/predictions/old/pairs.jsonl')",
    ]
    for number, baseline in enumerate(baselines):
        project.write_config(models=NEW, datasets=dataset(baseline))
        done = project.run("run", "eval.py", "--max-failures", "2", "-w", f"run{number}")
        assert done.returncode == 0, done.stderr
        assert values(project, work_dir=f"run{number}") == EXPECTED


def test_the_win_rates_of_two_models_are_mirrored(project: Project) -> None:
    for baseline in ("old", "new"):
        project.write_config(models=f"{NEW}, {OLD}", datasets=dataset(f"dict(model={baseline!r})"))
        assert project.run("run", "eval.py", "--max-failures", "2", "-w", baseline).returncode == 0
    ours, theirs = values(project, "new", "old"), values(project, "old", "new")
    assert ours["win_rate"] + theirs["win_rate"] == pytest.approx(1)
    assert ours["order_changed"] == theirs["order_changed"]


def test_scoring_again_asks_nothing(project: Project) -> None:
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset("dict(model='old')"))
    project.run("run", "eval.py", "--max-failures", "2")
    journal = project.folder() / "judge" / "new" / "journal" / "judge" / "pairs.jsonl"
    before = journal.read_bytes()
    done = project.run("score", "eval", "--max-failures", "2")
    assert done.returncode == 0, done.stderr
    assert journal.read_bytes() == before
    assert values(project) == EXPECTED


def test_a_baseline_that_fails_takes_its_comparisons_along(project: Project) -> None:
    down = "dict(type='ScriptedModel', abbr='old', default=dict(failure='http_500', message='down', fatal=True))"
    project.write_config(models=f"{NEW}, {down}", datasets=dataset("dict(model='old')"))
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert "old/pairs, which these answers are compared with: every request would fail" in done.stderr
    assert len(read_lines(project.folder() / "predictions" / "new" / "pairs.jsonl")) == 6


def test_a_question_without_an_answer_of_the_baseline_fails(project: Project) -> None:
    down = OLD.replace("'Q[012]'", "'Q1': dict(failure='http_500', message='down'), 'Q[02]'")
    project.write_config(models=f"{NEW}, {down}", datasets=dataset("dict(model='old')"))
    project.run("run", "eval.py")
    assert results(project)["details"][1]["reason"] == "judge no_baseline_answer"


def test_several_judges_decide_and_their_agreement_is_shown(project: Project) -> None:
    judges = f"[{judge('one')}, {judge('two')}, {judge('three', vague='[[C]]')}]"
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset("dict(model='old')", judges))
    done = project.run("run", "eval.py", "--max-failures", "2")
    assert done.returncode == 0, done.stderr
    found = values(project)
    assert found == {
        **EXPECTED,
        "order_changed": pytest.approx(2 / 3 / 4),
        **dict.fromkeys((f"win_rate by {abbr}" for abbr in ("one", "two", "three")), 0.5),
        "krippendorff_alpha": 1.0,  # a verdict that changes with the order is a tie, as that of the third judge
    }
    assert "krippendorff_alpha" in done.stdout
    assert [one["judge"] for one in results(project)["details"][0]["verdicts"]] == ["one", "two", "three"]


def test_judges_that_disagree_leave_a_question_undecided(project: Project) -> None:
    strict = judge("strict").replace("'First: strong': '[[A]]'", "'Q0': '[[C]]', 'First: strong': '[[A]]'")
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset("dict(model='old')", f"[{judge('one')}, {strict}]"))
    done = project.run("run", "eval.py", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    first = results(project)["details"][0]
    assert (first["status"], first["reason"]) == ("failed", "judges undecided")
    assert [one["vote"] for one in first["verdicts"]] == [1.0, 0.5]
    found = values(project)
    assert found["krippendorff_alpha"] < 1
    assert found["win_rate"] == pytest.approx(1 / 3)  # Q1 is even, Q2 depends on the order, Q3 is lost
    assert (found["win_rate by one"], found["win_rate by strict"]) == (0.5, pytest.approx(1.5 / 4))


def test_ratings_of_several_judges_have_a_mean(project: Project) -> None:
    judges = ", ".join(
        f"dict(type='ScriptedModel', abbr='{abbr}', default='[[{n}]]')" for abbr, n in (("a", 6), ("b", 9))
    )
    rated = dataset("None", f"[{judges}]").replace("'PairwiseEvaluator'", "'LLMRatingEvaluator'")
    project.write_config(models=NEW, datasets=rated.replace(", baseline=None", "").replace("{prediction2}", ""))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert values(project)["rating"] == 7.5


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ("dict(column='othr')", "there is no column 'othr' to compare with (there are question, other)"),
        ("dict(model='odl')", "the run has no model 'odl' to compare with (there are new, old)"),
        ("dict(path='outputs/nothing')", "there is no run"),
        ("dict(path='data')", "there is no run"),
        ("dict(colum='other')", "has an unknown key 'colum'"),
        ("dict()", "baseline names no answers"),
        ("dict(column='other', model='old')", "baseline names answers of more than one kind"),
        ("'other'", "the run has no model 'other' to compare with (there are new, old)"),
        ("1", "is 1 (int), not a dict"),
    ],
)
def test_a_wrong_baseline_is_a_fault(project: Project, baseline: str, message: str) -> None:
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset(baseline))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert message in done.stderr


def test_evaluator_and_baseline_go_together(project: Project) -> None:
    project.write_config(models=NEW, datasets=dataset("0").replace(", baseline=0", ""))
    done = project.run("check", "eval.py")
    assert "PairwiseEvaluator needs a baseline" in done.stderr
    project.write_config(models=NEW, datasets=dataset("dict(column='other')").replace("judge_cfg", "judge"))
    done = project.run("check", "eval.py")
    assert "PairwiseEvaluator needs a judge" in done.stderr
    assert "1 fault in the config" in done.stderr
    other = dataset("dict(column='other')").replace("PairwiseEvaluator", "GenericLLMEvaluator")
    project.write_config(models=NEW, datasets=other)
    assert "GenericLLMEvaluator compares nothing with a baseline" in project.run("check", "eval.py").stderr
    project.write_config(models=NEW, datasets=dataset("dict(column='other')", f"[{judge()}, {judge()}]"))
    assert "two judges have the abbr 'judge'" in project.run("check", "eval.py").stderr
    project.write_config(models=NEW, datasets=dataset("dict(column='other')", "[]"))
    assert "is an empty list" in project.run("check", "eval.py").stderr


@pytest.mark.thorough
def test_gates_and_comparisons_leave_the_baseline_out(project: Project) -> None:
    judges = f"[{judge('one')}, {judge('two')}]"
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset("dict(model='old')", judges))
    gates = ("--gate", "win_rate >= 40%", "--gate", "failed <= 50%", "--gate", "krippendorff_alpha >= 0.9")
    done = project.run("run", "eval.py", "--max-failures", "2", *gates)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    run = str(project.folder())
    compared = project.run("compare", run, run)
    assert "win_rate" in compared.stdout
    assert "cannot be compared" not in compared.stdout + compared.stderr
    assert project.run("run", "eval.py", "-r", "-m", "viz", "--max-failures", "2").returncode == 0


@pytest.mark.process
def test_shards_compare_with_a_model_of_the_run(project: Project) -> None:
    project.write_config(models=f"{NEW}, {OLD}", datasets=dataset("dict(model='old')"))
    for shard in ("0/2", "1/2"):
        project.run_process("run", "eval.py", "-r", "together", "--shard", shard, "--max-failures", "2")
    assert project.run("merge", "eval/together", "--max-failures", "2").returncode == 0
    assert values(project) == EXPECTED


TURNS = [{"questions": [f"Q{number}", "And then?"], "golds": ["", ""]} for number in range(4)]
SPEAKER = """dict(type='ScriptedModel', abbr='{abbr}', answers={{'And then': '{second}'}}, default='{first}')"""
WHOLE_PAIR = (
    "A was asked {conversation} and said: {prediction}. B was asked {conversation2} and said: {prediction2}. Verdict?"
)


def dialogues(baseline: str, judge: str) -> str:
    return f"""dict(
        abbr='pairs',
        path='data/pairs.jsonl',
        reader_cfg=dict(input_columns=['questions'], output_column='golds'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate', turn_columns=['questions'],
                template=dict(round=[dict(role='HUMAN', prompt='{{questions}}'), dict(role='BOT', prompt='')]),
            ),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
        ),
        eval_cfg=dict(evaluator=dict(
            type='PairwiseEvaluator', judge_cfg={judge}, baseline={baseline},
            prompt_template=dict(type='PromptTemplate', template={WHOLE_PAIR!r}),
        )),
    )"""


def test_whole_dialogues_are_compared_turn_by_turn(project: Project) -> None:
    project.write_data(TURNS, "pairs.jsonl")
    # In the second turn, new is better in Q0, and in Q1 only if it comes first.
    judge = r"""dict(type='ScriptedModel', abbr='judge', answers={
        'A was asked User: Q0[^B]*Assistant: new one[^B]*new two': '[[A]]',
        'B was asked User: Q0[^B]*Assistant: new one[^B]*new two': '[[B]]',
        'Q1[^B]*And then': '[[A]]',
        'Q3[^B]*And then': 'Both are fine.',
        'A was asked[^B]*said: new one': '[[A]]', 'B was asked[^B]*said: new one': '[[B]]',
    }, default='[[C]]')"""
    models = ", ".join(SPEAKER.format(abbr=abbr, first=f"{abbr} one", second=f"{abbr} two") for abbr in ("new", "old"))
    project.write_config(models=models, datasets=dialogues("dict(model='old')", judge))
    done = project.run("run", "eval.py", "--max-failures", "1", "-m", "all")
    assert done.returncode == 0, done.stderr
    said = read_lines(project.folder() / "judge" / "new" / "predictions" / "judge" / "pairs.jsonl")
    asked = [one["origin_prompt"][0]["content"] for one in said[:4]]
    assert asked[0] == "A was asked User: Q0 and said: new one. B was asked User: Q0 and said: old one. Verdict?"
    assert asked[3] == (
        "A was asked User: Q0\n\nAssistant: old one\n\nUser: And then? and said: old two. "
        "B was asked User: Q0\n\nAssistant: new one\n\nUser: And then? and said: new two. Verdict?"
    )
    details = results(project)["details"]
    assert [one["values"].get("win_rate") for one in details] == [1.0, 0.75, 0.75, None]
    assert details[3]["reason"] == "judge without verdict in a turn"
    assert details[1]["verdicts"] == [
        {"judge": "judge", "vote": 1.0, "orders": ["first", "second"]},
        {"judge": "judge", "vote": 0.5, "orders": ["first", "first"]},
    ]
    found = values(project)
    assert found["win_rate"] == pytest.approx(2.5 / 3)
    assert found["dialogue_wins"] == pytest.approx(1 / 3)
    assert found["order_changed"] == pytest.approx(0.5 / 3)
    page = (project.folder() / "report.html").read_text()
    assert "new two" in page


@pytest.mark.thorough
def test_dialogues_are_compared_with_those_of_an_earlier_run(project: Project) -> None:
    project.write_data(TURNS, "pairs.jsonl")
    judge = "dict(type='ScriptedModel', abbr='judge', answers={'A was asked[^B]*new': '[[A]]'}, default='[[B]]')"
    old, new = (SPEAKER.format(abbr=abbr, first=f"{abbr} one", second=f"{abbr} two") for abbr in ("old", "new"))
    project.write_config(models=old, datasets=dialogues("dict(model='old')", judge).split("eval_cfg")[0] + ")")
    assert project.run("run", "eval.py").returncode == 0
    earlier = project.folder().relative_to(project.root)
    project.write_config(models=new, datasets=dialogues(f"dict(path='{earlier}')", judge))
    assert project.run("run", "eval.py", "-w", "again").returncode == 0
    assert values(project, work_dir="again")["dialogue_win_rate"] == 1.0


def test_a_column_has_no_conversations_to_compare_with(project: Project) -> None:
    project.write_data(TURNS, "pairs.jsonl")
    model = SPEAKER.format(abbr="new", first="one", second="two")
    project.write_config(models=model, datasets=dialogues("dict(column='golds')", judge()))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "a column has no conversations that dialogues could be compared with" in done.stderr
