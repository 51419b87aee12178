"""Truncated answers are asked again alone, both answers are kept, and the score of the finished answers is shown."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import Project, read_lines

LONG = "one two three four five six seven eight nine and so it is 14."
ANSWERS = "answers={r'^[0-3][+]': 'It is 4.'}"
CUT = f"dict(type='ScriptedModel', abbr='fake', max_out_len=6, {ANSWERS}, default={LONG!r})"
DIALOGUE = """dict(
    abbr='sums',
    type='LocalDataset',
    path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(
            type='MultiTurnPromptTemplate',
            template=dict(round=[dict(role='HUMAN', prompt='{{question}}'), dict(role='BOT', prompt='{{answer}}')]),
        ),
        inferencer=dict(type='MultiTurnGenInferencer', max_out_len={limits}),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
RETRY = ("run", "eval.py", "-r", "--retry-truncated")


def run_with_cut_answers(project: Project, *args: str) -> str:
    """Ask 8 questions; the answers to the last 4 are truncated."""
    project.write_data()
    project.write_config(models=CUT)
    done = project.run("run", "eval.py", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_truncated_answers_are_asked_again_and_both_are_kept(project: Project) -> None:
    out = run_with_cut_answers(project)
    assert "4 cut at max_out_len=6 … -r --retry-truncated max_out_len=12" in " ".join(out.split())
    [before] = project.summary()
    assert (before["truncated"], before["score"], before["finished"]) == (4, 1 / 8, 1 / 4)
    assert "1 right · 3 wrong · 4 cut" in out
    done = project.run(*RETRY, "max_out_len=64")
    assert done.returncode == 0, done.stderr
    assert "4 of 8 samples are answered already, 4 will be asked; 4 truncated answers are asked again" in done.stderr
    [after] = project.summary()
    assert (after["truncated"], after["score"], after["finished"]) == (0, 2 / 8, None)
    journal = project.journal()
    assert len(journal) == 12
    cut, longer = journal[4:8], journal[8:]
    assert [line["retries"] for line in longer] == [line["key"] for line in cut]
    assert all(line["completion"]["finish_reason"] == "length" for line in cut)
    assert [one["completions"][0].get("retried_with") for one in project.predictions()] == [None] * 4 + [64] * 4
    assert "--retry-truncated" not in done.stdout


@pytest.mark.thorough
def test_the_longer_answers_stay_without_the_option_and_are_not_asked_twice(project: Project) -> None:
    run_with_cut_answers(project)
    project.run(*RETRY, "max_out_len=64")
    predictions = project.predictions()
    for again in (("run", "eval.py", "-r"), (*RETRY, "max_out_len=64"), (*RETRY, "max_out_len=6")):
        done = project.run(*again)
        assert done.returncode == 0, done.stderr
        assert project.predictions() == predictions
        assert "stored answers belong to other prompts" not in done.stderr
    assert len(project.journal()) == 12


@pytest.mark.thorough
def test_an_answer_that_is_truncated_again_can_be_asked_a_third_time(project: Project) -> None:
    run_with_cut_answers(project)
    for limit, truncated, lines in (("7", 4, 12), ("7", 4, 12), ("64", 0, 16)):
        assert project.run(*RETRY, f"max_out_len={limit}").returncode == 0
        assert (project.summary()[0]["truncated"], len(project.journal())) == (truncated, lines)


def test_a_retry_that_fails_leaves_the_truncated_answer(project: Project) -> None:
    run_with_cut_answers(project)
    before = project.predictions()
    project.write_config(models=CUT.replace("max_out_len", "fail_after=3, max_concurrency=1, max_out_len"))
    done = project.run(*RETRY, "max_out_len=64")
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["truncated"], row["failed"]) == (1, 0)
    assert project.predictions()[7] == before[7]


@pytest.mark.thorough
def test_a_cache_gives_other_runs_the_answers_that_they_ask_for(project: Project) -> None:
    run_with_cut_answers(project, "--cache", "cache")
    assert project.run(*RETRY, "max_out_len=64", "--cache", "cache").returncode == 0
    done = project.run("run", "eval.py", "--cache", "cache", "-w", "other")
    assert done.returncode == 0, done.stderr
    [path] = project.root.glob("other/eval/*/summary/summary.json")
    assert json.loads(path.read_text())[0]["truncated"] == 4
    [journal] = project.root.glob("other/eval/*/journal/fake/sums.jsonl")
    assert not any("retries" in line for line in read_lines(journal))


def test_of_repeated_questions_the_finished_answers_are_scored(project: Project) -> None:
    project.write_data()
    project.write_config(models=CUT)
    several = "datasets.0.infer_cfg.inferencer.n=3", "datasets.0.eval_cfg.k=[1,3]"
    done = project.run("run", "eval.py", *(word for one in several for word in ("--set", one)))
    assert done.returncode == 0, done.stderr
    rows = project.summary()
    assert (rows[0]["truncated"], rows[0]["finished"]) == (12, 1 / 4)
    assert not any(row["finished"] for row in rows[1:])


@pytest.mark.thorough
def test_many_truncated_answers_are_told_after_the_first_ones(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(200)])
    project.write_config(models=CUT)
    done = project.run("run", "eval.py")
    [line] = [line for line in done.stderr.splitlines() if "of the first 20 answers" in line]
    assert "[fake/sums]" in line
    assert "max_out_len=6" in line
    assert project.run("run", "eval.py", "--set", "models.0.max_out_len=64").stderr.count("of the first 20") == 0


@pytest.mark.parametrize("limits", [5, (3, 5)])
def test_the_offered_limit_is_twice_the_longest_of_a_dialogue(project: Project, limits: object) -> None:
    project.write_data([{"question": ["1+1=?", "8+8=?"], "answer": ["2", "16"]}])
    project.write_config(models=CUT, datasets=DIALOGUE.format(limits=limits))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "--retry-truncated max_out_len=10" in " ".join(done.stdout.split())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--retry-truncated", "max_out_len=64"), "fix:   add -r"),
        (("-r", "--retry-truncated", "max_out_len=64", "-m", "eval"), "leave out the mode"),
        (("-r", "latest", "--retry-truncated", "max_out_len=64", "--shard", "0/2"), "shards do not ask"),
        (("-r", "--retry-truncated", "max_out_len=0"), "is not max_out_len=N"),
        (("-r", "--retry-truncated", "8192"), "is not max_out_len=N"),
    ],
)
def test_nothing_to_ask_again_is_one_error(project: Project, args: tuple[str, ...], words: str) -> None:
    run_with_cut_answers(project)
    before = project.journal()
    done = project.run("run", "eval.py", *args)
    assert done.returncode == 2
    assert words in done.stderr
    assert project.journal() == before
