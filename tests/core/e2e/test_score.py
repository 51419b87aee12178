"""`aisprompt score`: score stored answers without a model."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project
from tests.core.unit.report.web.reading import read_report


@pytest.mark.thorough
def test_a_run_is_scored_again_with_its_own_config(project: Project) -> None:
    assert project.run("run", "eval.py", "-m", "infer").returncode == 0
    folder = project.folder()
    kept = {path: path.read_bytes() for kind in ("predictions", "journal") for path in folder.glob(f"{kind}/*/*")}
    (project.root / "eval.py").unlink()
    (project.root / "data" / "sums.jsonl").unlink()
    for name in (str(folder), "eval", f"eval/{folder.name}", folder.name):
        done = project.run("score", name)
        assert done.returncode == 0, done.stderr
        assert "25.0 %" in done.stdout
    assert {path: path.read_bytes() for path in kept} == kept
    [row] = project.summary()
    assert (row["score"], row["n"]) == (0.25, 8)
    record = json.loads((folder / "run.json").read_text())
    assert record["sessions"][-1]["command"] == f"aisprompt score {folder.name}"


def test_a_run_is_scored_with_another_config(project: Project) -> None:
    project.run("run", "eval.py")
    changed = DATASET.replace("Gsm8kEvaluator", "AccEvaluator").replace(
        "gsm8k_postprocess", "first_capital_postprocess"
    )
    (project.root / "changed.py").write_text(f"models = [{MODEL}]\ndatasets = [{changed}]\nrun_name = 'eval'\n")
    done = project.run("score", "eval", "--config", "changed.py")
    assert done.returncode == 0, done.stderr
    assert [row["score"] for row in project.summary()] == [0.0]
    overridden = project.run("score", "eval", "--set", "datasets.0.eval_cfg.evaluator.ignore_case=True")
    assert overridden.returncode == 0, overridden.stderr
    assert len(project.journal()) == 8


def test_faults_of_scoring_are_found_before_anything_is_written(project: Project) -> None:
    project.run("run", "eval.py")
    before = (project.folder() / "config.py").read_bytes()
    done = project.run("score", "eval", "--set", "datasets.0.eval_cfg.evaluator.type='AccEvaluatr'")
    assert done.returncode == 2
    assert "did you mean 'AccEvaluator'?" in done.stderr
    assert (project.folder() / "config.py").read_bytes() == before


def test_a_run_that_is_not_there(project: Project) -> None:
    done = project.run("score", "eval")
    assert done.returncode == 2
    assert "there is no run 'eval'" in done.stderr


def test_scoring_counts_failures_as_the_run_did(project: Project) -> None:
    project.write_config(models=MODEL.replace("'It is 6.'", "dict(failure='http_500', message='out of order')"))
    assert project.run("run", "eval.py").returncode == 1
    assert project.run("score", "eval").returncode == 1
    assert project.run("score", "eval", "--max-failures", "1").returncode == 0


@pytest.mark.parametrize("place", ["n=3, k=[1, 2], ", ""])
def test_several_answers_to_a_question(project: Project, place: str) -> None:
    dataset = DATASET.replace("abbr='sums',", f"abbr='sums', {place}")
    if not place:
        dataset = dataset.replace("dict(type='GenInferencer')", "dict(type='GenInferencer', n=3)")
        dataset = dataset.replace("eval_cfg=dict(", "eval_cfg=dict(k=[1, 2],")
    project.write_config(datasets=dataset)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    rows = {row["metric"]: row for row in project.summary()}
    assert list(rows)[:5] == ["accuracy", "pass@1", "pass@2", "pass^2", "cons@3"]
    assert list(rows)[5:] == ["same_text", "same_answer", "same_verdict"]
    shares = [row["score"] for row in rows.values()]
    assert {row["n"] for row in rows.values()} == {24}
    assert shares == [0.25] * 5 + [1.0] * 3
    results = json.loads((project.folder() / "results/fake/sums.json").read_text())
    details, repeated = results["details"], results["repeatability"]
    assert (repeated["unstable"], repeated["variance_within_questions"]) == ([], 0.0)
    assert list(repeated["half_width"]) == ["1", "3", "6", "12", "any number"]
    assert [len(detail["repeats"]) for detail in details] == [3] * 8


def test_repeated_questions_say_how_many_answers_a_narrower_interval_needs(project: Project) -> None:
    dataset = DATASET.replace("abbr='sums',", "abbr='sums', n=4,")
    # The answers come in turn: to most questions, some of the four are right and some are wrong.
    replies = [f"It is {right if turn % 3 else 1}." for turn, right in enumerate([0, 2, 4, 6, 8, 10, 12, 14] * 4)]
    model = f"dict(type='ScriptedModel', abbr='fake', answers={replies!r}, max_concurrency=1)"
    project.write_config(models=model, datasets=dataset)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    folder = project.folder()
    results = json.loads((folder / "results/fake/sums.json").read_text())
    precision, needed = results["scores"][0]["precision"], results["repeatability"]["repeats_needed"]
    row = project.summary()[0]
    assert row["half_width"] == precision["half_width"] == results["repeatability"]["half_width"]["4"]
    assert row["target_half_width"] == precision["target"] < row["half_width"]
    assert row["repeats_needed"] == precision["repeats"] == next(iter(needed.values()))
    assert len(needed) == 3
    wanted = row["repeats_needed"]
    said = f"needs {f'{wanted:,} answers to each question' if wanted else 'more questions'} (now 4: ±"
    [shown] = read_report(folder / "report.html").data["precision"]
    for text in (done.stdout, (folder / "summary/summary.md").read_text(), shown):
        assert said in text
    assert "precision" not in results["scores"][1]


def test_more_tries_than_answers_are_a_fault(project: Project) -> None:
    project.write_config(datasets=DATASET.replace("eval_cfg=dict(", "eval_cfg=dict(k=8,"))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "pass@8 needs 8 answers to each question, and there is 1" in done.stderr
    assert "datasets[0].eval_cfg.k (eval.py:" in done.stderr


def test_answers_made_elsewhere(project: Project) -> None:
    lines = [{"index": number, "prediction": f"It is {2 * number}."} for number in range(6)]
    lines += [{"index": 5, "prediction": "It is 1."}, {"index": 99, "prediction": "lost"}]
    (project.root / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (project.root / "eval.py").write_text(f"datasets = [{DATASET}]\n")
    done = project.run("score", "--predictions", "theirs.jsonl", "--config", "eval.py")
    assert done.returncode == 1, done.stderr
    assert "3 of 8 samples failed" in done.stderr
    assert "missing 2, doubled 1" in done.stdout
    for remark in ("2 questions have no answer", "1 questions have several answers", "theirs.jsonl:8"):
        assert remark in done.stderr
    [row] = project.summary()
    assert (row["model"], row["score"], row["n"], row["failed"]) == ("theirs", 1.0, 8, 3)
    assert (row["bound_low"], row["bound_high"]) == (5 / 8, 1.0)
    assert row["unscored"] == "3 failed (missing 2, doubled 1)"
    assert "theirs.jsonl:8" in (project.folder() / "logs/run.log").read_text()
    again = project.run("score", "eval", "--max-failures", "3")
    assert again.returncode == 0, again.stderr


def test_predictions_of_another_run_are_answers_made_elsewhere(project: Project) -> None:
    project.run("run", "eval.py")
    stored = project.folder() / "predictions/fake/sums.jsonl"
    options = ["--predictions", str(stored), "--config", "eval.py", "--model", "again", "-w", "other"]
    done = project.run("score", *options, "--dataset", "sums")
    assert done.returncode == 0, done.stderr
    [copied] = (project.root / "other").rglob("predictions/again/sums.jsonl")
    assert copied.read_text() == stored.read_text()
    wrong = project.run("score", *options, "--dataset", "summs")
    assert wrong.returncode == 2
    assert "give --dataset with one of: sums" in wrong.stderr


@pytest.mark.parametrize("args", [[], ["--predictions", "data/sums.jsonl"], ["eval", "--model", "m"]])
def test_it_is_clear_what_is_to_be_scored(project: Project, args: list[str]) -> None:
    done = project.run("score", *args)
    assert done.returncode == 2
    assert "--config" in done.stderr


@pytest.mark.thorough
def test_groups_and_models_side_by_side(project: Project) -> None:
    other = DATASET.replace("abbr='sums'", "abbr='more'")
    groups = "summary_groups=[dict(name='all', subsets=['sums', 'more'], weights=dict(sums=3, more=1))]"
    project.write_config(
        models=f"{MODEL}, dict(type='ScriptedModel', abbr='four', default='4')",
        datasets=f"{DATASET}, {other}",
        more=f"summarizer = dict(dataset_abbrs=['all', 'sums'], {groups})",
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.strip().split("\n\n")[:2]
    caption, *table = [line.split() for part in shown for line in part.splitlines()]
    assert " ".join(caption) == "accuracy in % ± half of the 95 % interval · n = 8 · averages of groups first"
    assert table[0] == ["dataset", "metric", "fake", "four"]
    assert [line[:3] for line in table[1:]] == [
        ["all", "naive_average", "25.0"],
        ["all", "weighted_average", "25.0"],
        ["sums", "accuracy", "25.0"],
    ]
    assert len(project.summary()) == 8
    again = project.run("score", "eval")
    assert again.stdout.strip().split("\n\n")[:2] == shown
    project.write_config(more="summarizer = dict(summary_groups=[dict(name='all', subsets=['sums', 'mroe'])])")
    wrong = project.run("check", "eval.py")
    assert wrong.returncode == 2
    assert "summarizer.summary_groups[0].subsets[1] (eval.py:" in wrong.stderr


@pytest.mark.thorough
def test_predictions_that_were_lost_are_missed(project: Project) -> None:
    project.run("run", "eval.py")
    path = project.folder() / "predictions/fake/sums.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:7]))
    done = project.run("score", "eval")
    assert "[fake/sums] 8 questions were asked, but there are 7 predictions" in done.stderr
    path.write_text("".join([*lines, lines[0]]))
    done = project.run("score", "eval")
    assert done.returncode == 2
    assert "1 id given more than once" in done.stderr
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert path.read_text() == "".join(lines)


@pytest.mark.thorough
def test_hostile_answers_reach_neither_terminal_nor_score(project: Project) -> None:
    evil = ["\ud800 4", "\x1b[2J\x07 4", "x" * 200_000 + " 4", "\u202e4", "", "\x00", "4\u2028", "$4"]
    lines = [json.dumps({"index": number, "prediction": text}) for number, text in enumerate(evil)]
    (project.root / "ev\u202eil.jsonl").write_text("\n".join(lines))
    project.write_data([{"question": f"{n}", "answer": "4"} for n in range(8)])
    done = project.run("score", "--predictions", "ev\u202eil.jsonl", "--config", "eval.py", "--model", "theirs")
    assert done.returncode == 0, done.stderr
    assert not set("\x1b\x07\x00\u202e") & set(done.stdout + done.stderr)
    [row] = project.summary()
    assert (row["score"], row["unparsed"]) == (0.75, 2)
    assert [line["prediction"] for line in project.predictions("theirs")] == evil


def test_golds_that_cannot_be_used_count_for_max_failures(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": "4" if n else "unknown"} for n in range(4)])
    done = project.run("run", "eval.py")
    assert done.returncode == 1
    assert "1 of 4 samples failed" in done.stderr
    assert "1 no gold" in done.stdout
    assert "ask the failed ones again" not in done.stdout
    assert project.run("score", "eval", "--max-failures", "1").returncode == 0


@pytest.mark.thorough
def test_clusters_widen_the_interval_and_can_be_named_later(project: Project) -> None:
    rows = [{"question": f"{n}+{n}=?", "answer": "4", "passage": f"p{n // 4}"} for n in range(40)]
    data = project.write_data(rows)
    project.write_config(
        models="dict(type='ScriptedModel', abbr='fake', answers={r'^1?[0-9][+]': 'It is 4.'}, default='It is 5.')"
    )
    clustered = ("--set", "datasets.0.eval_cfg.cluster=passage")
    assert project.run("run", "eval.py").returncode == 0
    [alone] = project.summary()
    assert project.run("score", "eval", *clustered).returncode == 0
    [later] = project.summary()
    assert later["score"] == alone["score"] == 0.5
    assert later["stderr"] > 1.5 * alone["stderr"]
    # A run that knows its clusters can be scored again without the data.
    assert project.run("run", "eval.py", "-r", *clustered).returncode == 0
    data.unlink()
    assert project.run("score", "eval", *clustered).returncode == 0
    assert project.summary() == [later]


def test_a_cluster_column_that_is_not_there(project: Project) -> None:
    project.write_config()
    for verb in ("check", "run"):
        done = project.run(verb, "eval.py", "--set", "datasets.0.eval_cfg.cluster=chapter")
        assert done.returncode == 2
        assert "no column 'chapter'" in done.stderr
