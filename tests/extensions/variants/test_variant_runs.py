"""Prompts and options as variants of one run: what is asked, what is resumed, and what is compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ais_prompt
from tests.core.e2e.project import DATASET, Project, read_lines
from tests.support.servers import MockServer
from tests.support.waiting import wait_until
from tools.chromium import Page

pytestmark = pytest.mark.process

MODEL = "dict(type='OpenAIChatModel', abbr='m', model='mock', base_url={url!r})"
EFFORT = "models.*.generation_kwargs.reasoning_effort"
PROMPTS = DATASET[:-1] + "    prompts=dict(short='{question}', steps='Think. {question}'),\n)"
SCRIPT = (
    "dict(type='ScriptedModel', abbr='m', max_concurrency=2{more}, "
    "answers={{r'^Think': 'It is 6.', r'[02468]\\\\+': 'It is 4.'}}, default='no')"
)


@pytest.fixture
def served(project: Project, server: MockServer) -> Project:
    project.write_config(models=MODEL.format(url=server.base_url), datasets=PROMPTS)
    return project


def variants(folder: Path) -> dict[str, int]:
    """Task → requests in its journal."""
    return {
        f"{path.parent.name}/{path.stem}": len({line["key"] for line in read_lines(path)})
        for path in sorted(folder.glob("journal/*/*.jsonl"))
    }


def test_a_sweep_is_one_run_and_a_value_more_asks_only_that_one(served: Project, server: MockServer) -> None:
    done = served.run("run", "eval.py", "--sweep", f"{EFFORT}=low,high")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 2 * 2 * 8
    assert "none of 8 answers has thoughts, though reasoning_effort='high'" in done.stderr
    assert served.run("run", "eval.py", "-r", "--sweep", f"{EFFORT}=low,high").returncode == 0
    assert server.stats()["requests"] == 32, "the same points again"
    assert served.run("run", "eval.py", "-r", "--sweep", f"{EFFORT}=high,medium,low").returncode == 0
    assert server.stats()["requests"] == 48, "the new value alone"
    names = {f"m+reasoning_effort={effort}/sums+{prompt}" for effort in ("low", "medium", "high") for prompt in PS}
    assert variants(served.folder()) == dict.fromkeys(sorted(names), 8)
    rows = {(row["base_model"], row["base_dataset"], row["prompt"], row["options"]) for row in served.summary()}
    assert ("m", "sums", "steps", '{"reasoning_effort":"medium"}') in rows
    assert len(rows) == 6


PS = ("short", "steps")


def test_variants_share_a_cache(served: Project, server: MockServer) -> None:
    for _ in range(2):
        done = served.run("run", "eval.py", "--cache", "answers", "--sweep", f"{EFFORT}=low,high")
        assert done.returncode == 0, done.stderr
        assert "another run uses the cache" not in done.stderr
        assert server.stats()["requests"] == 32


def test_after_kill_9_a_sweep_goes_on(project: Project) -> None:
    project.write_config(models=SCRIPT.format(more=", delay=0.05"), datasets=PROMPTS)
    sweep = ("--sweep", "models.0.max_out_len=8,16,32")
    process = project.start("run", "eval.py", *sweep)
    wait_until(lambda: sum(variants(project.root / "outputs/eval/x").values()) or _answers(project) >= 9, "9 answers")
    process.kill()
    process.communicate()
    before = variants(project.folder())
    project.write_config(models=SCRIPT.format(more=""), datasets=PROMPTS)
    done = project.run("run", "eval.py", "-r", *sweep)
    assert done.returncode == 0, done.stderr
    assert 9 <= sum(before.values()) < 48
    assert set(variants(project.folder()).values()) == {8}
    lines = [line for path in project.folder().glob("journal/*/*.jsonl") for line in read_lines(path)]
    assert len(lines) == 48, "nothing was asked twice"


def _answers(project: Project) -> int:
    return sum(path.read_bytes().count(b"\n") for path in project.root.glob("outputs/eval/*/journal/*/*.jsonl"))


def test_prompts_of_a_file_from_command_line_and_python(project: Project) -> None:
    (project.root / "q.csv").write_text("question,answer\n" + "".join(f"{n}+{n}=?,{2 * n}\n" for n in range(8)))
    (project.root / "steps.txt").write_text("Think. {question}\n")
    (project.root / "app.py").write_text("def answer(prompt):\n    return '6' if 'Think' in prompt else '4'\n")
    project.write_config(models="dict(type='FunctionModel', abbr='f', function='app.answer')", datasets="")
    model = project.root / "model.py"
    model.write_text("models = [dict(type='ScriptedModel', abbr='s', answers={'^Think': '6'}, default='4')]\n")
    words = ("run", "--models", "model.py", "--data", "q.csv", "--prompt", "{question}", "--prompt", "@steps.txt")
    done = project.run(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(row["base_dataset"], row["prompt"]) for row in found["scores"]] == [("q", "question"), ("q", "steps")]
    [group] = found["variants"]
    assert (group["common"], group["questions"], len(group["variants"])) == (8, [], 2)
    twice = project.run(*words[:-2], "--prompt", "{question}")
    assert "two prompts are called 'question'" in twice.stderr

    run = ais_prompt.evaluate(
        [(f"{n}+{n}=?", str(2 * n)) for n in range(8)],
        model={"type": "ScriptedModel", "abbr": "s", "answers": {"^Think": "6"}, "default": "4"},
        prompts={"short": "{question}", "steps": "Think. {question}"},
        sweep={"models.0.max_out_len": [8, 16]},
        work_dir=project.root / "python",
        quiet=True,
    )
    [group] = run.variants(holdout=0.5)
    assert [one.title for one in group.variants][:2] == ["short, max_out_len=8", "steps, max_out_len=8"]
    assert group.holdout is not None
    table = run.scores(full=True, to="arrow").to_pylist()
    assert [(row["prompt"], row["options"]) for row in table] == [
        (prompt, f'{{"max_out_len":{size}}}') for size in (8, 16) for prompt in PS
    ]


def test_the_best_variant_decides(project: Project) -> None:
    (project.root / "data").mkdir(exist_ok=True)
    project.write_data([{"question": f"{n}: 2+2=?", "answer": "4"} for n in range(60)])
    models = "dict(type='ScriptedModel', abbr='m', answers={r'^Think': 'It is 4.', r'^[0-9]*[02468]: ': 'It is 4.'})"
    project.write_config(models=models, datasets=PROMPTS)
    gates = ("--gate", "sums: best >= 90%", "--gate", "best >= 99% @95%", "--gate", "sums: accuracy >= 45%")
    done = project.run("run", "eval.py", "--holdout", "0.5", *gates)
    assert done.returncode == 1, done.stderr
    assert "best: steps; better than short" in done.stdout
    assert "chosen on" in done.stdout
    assert "FAIL  best >= 99% @95%  m/sums" in done.stdout
    assert "ok    sums: best >= 90%  m/sums" in done.stdout
    assert done.stdout.count("ok    sums: accuracy >= 45%") == 2, "a gate of a dataset is about all of its variants"
    compared = project.run("compare", "eval", "--variants", "--json")
    [group] = json.loads(compared.stdout)["variants"]
    assert [one["verdict"] for one in group["variants"]] == ["worse", "best"]
    page = (project.folder() / "report.html").read_text("utf-8")
    shown = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["variants"]
    assert 'id="variants"' in shown
    assert "front-plot" in shown


@pytest.mark.browser
def test_the_report_has_a_tab_behind_the_samples(project: Project, chromium: Page) -> None:
    project.write_config(models=SCRIPT.format(more=""), datasets=PROMPTS)
    assert project.run("run", "eval.py").returncode == 0
    chromium.complaints.clear()
    chromium.open((project.folder() / "report.html").as_uri())
    chromium.wait_for("document.querySelector('[role=tab]')")
    tabs = chromium.texts("[role=tab]")
    assert tabs[1:3] == ["Samples", "Variants"]
    chromium.click("[role=tab]", tabs.index("Variants"))
    chromium.wait_for("document.querySelector('#panel-variants table')")
    assert chromium.texts("#variants h4 + table td.name") == ["short", "steps"]
    plots, circles = (
        chromium.value(f"document.querySelectorAll('#variants {one}').length") for one in (".front-plot", "circle")
    )
    assert circles == 2 * plots > 0
    assert not chromium.complaints


def test_gates_of_the_best_need_variants(project: Project) -> None:
    done = project.run("run", "eval.py", "--gate", "best >= 80%")
    assert done.returncode == 2
    assert "the run has no variants" in done.stderr
    assert project.run("run", "eval.py").returncode == 0
    none = project.run("compare", "eval", "--variants")
    assert none.returncode == 1
    assert "has no variants with scores" in none.stderr
