"""``aisprompt compare``: two runs, paired by sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import DATASET, ROWS, Project

RIGHT = "{r'^0': 'It is 0.', r'^1': 'It is 2.', r'^2': 'It is 4.', r'^3': 'It is 6.', r'^4': 'It is 8.'}"
WRONG = RIGHT.replace("'It is 2.'", "'It is 3.'").replace("'It is 8.'", "dict(failure='http_500')")


def model(answers: str, abbr: str = "fake") -> str:
    return f"dict(type='ScriptedModel', abbr='{abbr}', answers={answers}, default='It is 10.')"


def run(project: Project, name: str, *args: str) -> str:
    done = project.run("run", "eval.py", "-w", name, "--max-failures", "8", *args)
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / name / "eval").iterdir()
    return str(folder.relative_to(project.root))


def compared(project: Project, *runs: str, code: int = 0) -> dict[str, Any]:
    done = project.run("compare", *runs, "--json")
    assert done.returncode == code, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.thorough
def test_what_changed_and_on_which_samples(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_config(models=model(WRONG, "new"))
    after = run(project, "b")
    found = compared(project, before, after)
    [one] = found["comparisons"]
    assert (one["model"], one["n"], one["worse"], one["better"], one["failed_after"]) == ("fake → new", 7, 1, 0, 1)
    assert (one["before"], one["after"], one["both_right"]) == (5 / 7, 4 / 7, 4)
    assert one["p"] == one["p_adjusted"] == 1.0
    [flip] = one["flips"]
    assert (flip["index"], flip["answers"], flip["extracted"]) == (1, ["It is 2.", "It is 3."], ["2", "3"])
    assert flip["same_prompt"]
    assert "model" in [change["part"] for change in one["changes"]]
    text = project.run("compare", before, after).stdout
    assert "-14.3" in text
    assert "left out: 1 sample without an answer in the second run" in text
    assert "It is 2. → 2" in text


@pytest.mark.thorough
def test_the_share_of_extraction_is_told_apart(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    worse_reader = DATASET.replace("gsm8k_postprocess", "first_capital_postprocess")
    project.write_config(models=model(WRONG.replace("dict(failure='http_500')", "'It is 8.'")), datasets=worse_reader)
    after = run(project, "b")
    [one] = compared(project, before, after)["comparisons"]
    shares = {share["cause"]: share["difference"] for share in one["shares"]}
    assert set(shares) == {"extraction", "model"}
    assert sum(shares.values()) == one["difference"] == -6 / 8
    # Read with the first run's postprocessor one answer is lost, read with the second's none is left to lose.
    assert shares["model"] == -0.5 / 8


@pytest.mark.thorough
def test_other_samples_other_metrics_and_unfinished_runs_are_told(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_data(ROWS[2:])
    after = run(project, "b")
    [one] = compared(project, before, after)["comparisons"]
    assert (one["n"], one["only_before"], one["only_after"]) == (6, 2, 0)
    assert "data" in [change["part"] for change in one["changes"]]

    record = project.root / after / "run.json"
    record.write_text(record.read_text().replace('"status": "finished"', '"status": "interrupted"'))
    [note] = compared(project, before, after)["notes"]
    assert note.endswith("is not finished: it is interrupted")

    project.write_config(models=model(RIGHT), datasets=DATASET.replace("Gsm8kEvaluator", "EMEvaluator"))
    other = run(project, "c")
    found = compared(project, before, other, code=1)
    assert not found["comparisons"]
    assert "different metrics" in found["notes"][0]

    project.write_config(models=model(RIGHT), datasets=DATASET.replace("'sums'", "'others'"))
    nothing = compared(project, before, run(project, "d"), code=1)
    assert not nothing["comparisons"]
    assert "the runs have no dataset in common: fake/sums and fake/others" in nothing["notes"][-1]


@pytest.mark.thorough
def test_a_cut_and_changed_golds_are_named(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_config(models=model(RIGHT).replace("answers", "max_out_len=1, answers"))
    after = run(project, "b")
    [one] = compared(project, before, after)["comparisons"]
    assert [(share["cause"], share["difference"]) for share in one["shares"]] == [("truncation", -6 / 8)]

    project.write_data([{**row, "answer": "-1"} if number < 2 else row for number, row in enumerate(ROWS)])
    project.write_config(models=model(RIGHT))
    [one] = compared(project, before, run(project, "c"))["comparisons"]
    assert [(share["cause"], share["difference"]) for share in one["shares"]] == [("data", -2 / 8)]
    assert one["interval"][0] < -2 / 8 < one["interval"][1]


@pytest.mark.thorough
def test_samples_are_paired_by_the_columns_that_both_runs_name(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_data([{**row, "hint": "think"} for row in ROWS])
    project.write_config(models=model(WRONG), datasets=DATASET.replace("['question']", "['question', 'hint']"))
    [one] = compared(project, before, run(project, "b"))["comparisons"]
    assert (one["n"], one["worse"], one["failed_after"]) == (7, 1, 1)
    project.write_config(models=model(WRONG))
    project.write_data([{"question": f"another {n}", "answer": "1"} for n in range(8)])
    found = compared(project, before, run(project, "c"), code=1)
    assert "no answered sample in common" in found["notes"][0]


def test_failures_have_a_share_of_their_own(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_config(models=model(RIGHT.replace("'It is 2.'", "dict(failure='http_500')")))
    [one] = compared(project, before, run(project, "b"))["comparisons"]
    assert one["difference"] == 0
    assert one["reported_difference"] == pytest.approx(5 / 7 - 6 / 8)
    [share] = one["shares"]
    assert (share["cause"], share["samples"]) == ("failures", 1)
    assert abs(share["difference"] - one["reported_difference"]) < 1e-12


def test_a_run_against_itself(project: Project) -> None:
    project.write_data()
    project.write_config()
    before = run(project, "a")
    [one] = compared(project, before, before)["comparisons"]
    assert (one["difference"], one["flips"], one["changes"]) == (0.0, [], [])
    assert Path(project.root / before / "results").exists()


def test_the_page_holds_every_changed_sample_and_no_markup_of_theirs(project: Project) -> None:
    hostile = "</script><script>alert(1)</script>\\u2028"
    project.write_data()
    project.write_config(models=model(RIGHT))
    before = run(project, "a")
    project.write_config(models=model(RIGHT.replace("'It is 2.'", f"'{hostile}'")))
    after = run(project, "b")
    done = project.run("compare", before, after, "--html", "pages/changes.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\npages/changes.html: every changed sample, for a browser\n")
    page = (project.root / "pages/changes.html").read_text()
    assert page.count("</script>") == 3  # of the data, of the labels, and of the page's own script
    assert "default-src 'none'" in page
    data = page.split('id="data">')[1].split("</script>")[0]
    [one] = json.loads(data)["comparisons"]
    assert one["flips"][0]["answers"][1].startswith("</script><script>")


BLEU = DATASET.replace("Gsm8kEvaluator", "BleuEvaluator").replace(
    "pred_postprocessor=dict(type='gsm8k_postprocess'),", ""
)
CATS = [{"question": f"q{n}", "answer": "the cat sat on the mat " * (1 + n % 7)} for n in range(30)]


@pytest.mark.thorough
def test_bleu_is_that_of_the_corpus_which_the_run_reports(project: Project) -> None:
    project.write_data(CATS)
    scores, folders = [], []
    for name, answers in (("a", "{}"), ("b", "{r'^q1': 'the cat sat'}")):
        models = f"dict(type='ScriptedModel', abbr='fake', answers={answers}, default='the cat sat on the mat the cat')"
        project.write_config(models=models, datasets=BLEU)
        folders.append(run(project, name))
        [row] = json.loads((project.root / folders[-1] / "summary" / "summary.json").read_text())
        scores.append(row["score"])
    [one] = compared(project, *folders)["comparisons"]
    assert (one["before"], one["after"]) == tuple(scores)
    assert one["interval"][0] <= one["difference"] <= one["interval"][1]
    [share] = one["shares"]
    assert abs(share["difference"] - one["difference"]) < 1e-9
    assert project.run("baseline", folders[0], "-o", "base.json").returncode == 0
    twice = project.run("baseline", folders[0], folders[0], "-o", "twice.json")
    assert twice.returncode == 2
    assert "is given twice" in twice.stderr
    held = project.run("score", folders[1], "--baseline", "base.json")
    assert held.returncode == 1
    assert f"bleu {scores[1] - scores[0]:+.4g} on 30 common samples" in held.stdout
    same = project.run("score", folders[0], "--baseline", "base.json")
    assert same.returncode == 0
    assert "nothing changed" in same.stdout


@pytest.mark.thorough
def test_shares_of_bleu_add_up_to_the_difference(project: Project) -> None:
    project.write_data(CATS)
    folders = []
    for name, template, more in (
        ("a", "{question}", ""),
        ("b", "{question}\\n" * 2, "pred_postprocessor=dict(type='first_capital_postprocess'),"),
    ):
        datasets = BLEU.replace("template='{question}", f"template='{template}").replace(
            "eval_cfg=dict(", f"eval_cfg=dict({more}"
        )
        answers = "{r'^q1\\nA': 'A cat sat'}"
        models = f"dict(type='ScriptedModel', abbr='fake', answers={answers}, default='the Cat sat on the mat')"
        project.write_config(models=models, datasets=datasets)
        folders.append(run(project, name))
    [one] = compared(project, *folders)["comparisons"]
    assert {share["cause"] for share in one["shares"]} == {"extraction", "prompt"}
    assert abs(sum(share["difference"] for share in one["shares"]) - one["difference"]) < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [None, "60", "80", "200"])
def test_the_table_in_a_pipe_has_every_column(project: Project, columns: str | None) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT, "a-model-with-quite-a-long-name-小学数学"))
    name = run(project, "a")
    project.environment["COLUMNS"] = columns
    done = project.run("compare", name, name)
    verdict, header, line = done.stdout.splitlines()[:3]
    assert "no difference is shown" in verdict
    assert header.split() == (
        "dataset model metric before after difference 95 % interval p (Holm) n worse better".split()
    )
    assert "a-model-with-quite-a-long-name-小学数学  accuracy" in line
    assert line.split()[-3:] == ["8", "0", "0"]


@pytest.mark.thorough
def test_two_models_of_one_run_are_compared_as_two_runs_are(project: Project) -> None:
    project.write_data()
    project.write_config(models=model(RIGHT, "one"))
    runs = [run(project, "a")]
    project.write_config(models=model(WRONG, "two"))
    runs.append(run(project, "b"))
    project.write_config(models=f"{model(RIGHT, 'one')}, {model(WRONG, 'two')}")
    both = run(project, "both")
    [expected] = compared(project, *runs)["comparisons"]
    for options in ((), ("--models", "one", "two"), ("--models", "one", "wo")):
        done = project.run("compare", both, *options, "--json", "--html", "page.html")
        assert done.returncode == 0, done.stderr
        [found] = json.loads(done.stdout)["comparisons"]
        assert found == expected
    assert "<title>one → two</title>" in (project.root / "page.html").read_text()
    [back] = json.loads(project.run("compare", both, "--models", "two", "one", "--json").stdout)["comparisons"]
    assert (back["model"], back["difference"]) == ("two → one", -expected["difference"])
    [across] = json.loads(project.run("compare", both, runs[1], "--models", "one", "two", "--json").stdout)[
        "comparisons"
    ]
    assert across == expected
    same = json.loads(project.run("compare", both, runs[1], "--models", "two", "--json").stdout)["comparisons"]
    assert [one["difference"] for one in same] == [0]


def test_what_two_models_are_compared_must_be_clear(project: Project) -> None:
    project.write_data()
    project.write_config(models=", ".join(model(RIGHT, name) for name in ("small", "large", "larger")))
    name = run(project, "a")
    for options, words in (
        ((), "there is nothing to compare the run with"),
        (("--models", "small"), "there is nothing to compare the run with"),
        (("--models", "small", "large", "larger"), "3 models are given"),
        (("--models", "small", "larg"), "large, larger match 'larg'"),
        (("--models", "small", "tiny"), "there is no model 'tiny'"),
    ):
        done = project.run("compare", name, *options)
        assert done.returncode == 2
        assert words in done.stderr
        assert "small, large, larger" in done.stderr or len(options) == 4
    assert project.run("compare", name, "--models", "small", "large").returncode == 0


@pytest.mark.thorough
def test_models_and_datasets_of_one_run_only_are_a_line_and_means_are_over_all_datasets(project: Project) -> None:
    project.write_data()
    many = ", ".join(DATASET.replace("'sums'", f"'sums-{number}'") for number in range(6))
    project.write_config(models=", ".join(model(RIGHT, name) for name in ("one", "two", "three")), datasets=many)
    before = run(project, "a")
    few = ", ".join(DATASET.replace("'sums'", f"'sums-{number}'") for number in range(2))
    project.write_config(models=", ".join(model(WRONG, name) for name in ("one", "two", "four")), datasets=few)
    after = run(project, "b")
    found = compared(project, before, after)
    assert found["notes"] == [
        f"only in {before[2:]}: 1 model (three), 4 datasets (sums-2, sums-3, sums-4, … and 1 more)",
        f"only in {after[2:]}: 1 model (four)",
    ]
    assert [(one["model"], one["datasets"], one["n"]) for one in found["means"]] == [("one", 2, 14), ("two", 2, 14)]
    [first, *_] = found["comparisons"]
    mean = found["means"][0]
    assert mean["difference"] == pytest.approx(first["difference"])
    # Both datasets have the same questions, so the mean is no surer than one of them.
    assert mean["interval"] == pytest.approx(first["interval"], abs=0.01)


@pytest.mark.thorough
def test_a_run_with_two_models_ends_with_their_difference(project: Project) -> None:
    project.write_data()
    many = ", ".join(DATASET.replace("'sums'", f"'sums-{number}'") for number in range(2))
    project.write_config(models=f"{model(RIGHT, 'one')}, {model(WRONG, 'two')}", datasets=many)
    text = project.run("run", "eval.py", "-w", "a", "--max-failures", "8").stdout
    lines = text[text.index("two − one, 95 % intervals for all 3 together") :].splitlines()
    [expected, _] = compared(project, str(next(project.root.glob("a/eval/2*"))))["comparisons"]
    shown = [line.split() for line in lines[1:4]]
    assert [words[:-3] for words in shown] == [
        ["mean", "of", "2", "datasets", "-14.3"],
        *(["sums-" + name, "-14.3"] for name in "01"),
    ]
    for *_, low, _, high in shown:  # wider than the interval of each alone
        assert float(low[1:]) < 100 * expected["interval"][0]
        assert float(high[:-1]) > 100 * expected["interval"][1]
    [document] = project.root.glob("a/eval/2*")
    scored = json.loads(project.run("score", str(document), "--max-failures", "8", "--json").stdout)["differences"]
    assert [(one["dataset"], one["datasets"], one["interval"]) for one in scored] == [
        ("sums-0", 1, expected["interval"]),
        ("sums-1", 1, expected["interval"]),
        ("", 2, pytest.approx(expected["interval"], abs=0.01)),
    ]
    project.write_config(models=model(RIGHT, "one"), datasets=many)
    assert "−" not in project.run("run", "eval.py", "-w", "b").stdout


def test_a_name_means_its_last_two_runs_with_scores(project: Project) -> None:
    for default in ("It is 4.", "It is 6.", "It is 8."):
        project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', default={default!r})")
        done = project.run("run", "eval.py")
        assert done.returncode == 0, done.stderr
    assert "compare with the run before: aisprompt compare eval" in done.stdout
    assert "changed since then: default: 'It is 6.' → 'It is 8.'" in done.stdout
    assert "(default: 'It is 6.' → 'It is 8.'), eval/2" in project.run("compare", "elsewhere").stderr
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', fail_after=0)")
    assert project.run("run", "eval.py").returncode == 3
    found = project.run("compare", "eval")
    assert found.returncode == 0, found.stderr
    assert "'It is 6.'" in found.stdout
    assert "'It is 8.'" in found.stdout
    assert "'It is 4.'" not in found.stdout


def test_a_changed_template_is_told_as_a_lock_tells_it_and_a_missing_gold_is_no_missing_answer(
    project: Project,
) -> None:
    project.write_data([*ROWS, {"question": "1+0", "answer": ""}])
    for end in ("", " Be brief."):
        project.write_config(datasets=DATASET.replace("{question}", "{question}" + end))
        done = project.run("run", "eval.py", "--max-failures", "1")
        assert done.returncode == 0, done.stderr
    found = project.run("compare", "eval")
    assert found.returncode == 0, found.stderr
    assert "template differs: ` Be brief.` added before `Answer:`" in found.stdout
    assert "left out: 1 sample without a gold answer" in found.stdout
    assert "without an answer in" not in found.stdout


def test_the_version_of_a_package_that_no_part_used_is_no_cause(project: Project) -> None:
    project.write_config()
    for torch, aisprompt in (("2.0", "0.1"), ("2.1", "0.1"), ("2.1", "0.2")):
        assert project.run("run", "eval.py").returncode == 0
        path = max((project.root / "outputs" / "eval").iterdir()) / "run.json"
        record = json.loads(path.read_text())
        record["versions"] |= {"torch": torch, "ais-prompt": aisprompt}
        path.write_text(json.dumps(record))
        names = sorted(folder.name for folder in (project.root / "outputs" / "eval").iterdir())
        if len(names) == 2:
            assert "versions differs" not in project.run("compare", "eval").stdout
    found = project.run("compare", "eval").stdout
    assert "versions differs" in found
    assert "torch" not in found
