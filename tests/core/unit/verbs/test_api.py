"""The functions of the package, called as a program or a notebook calls them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ais_prompt
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from tests.support.cli import run_cli
from tests.support.waiting import wait_until

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(8)]
LETTERS = [{"question": "Ω?", "answer": ["a", "b"]}, {"question": "β?", "answer": ["c", "d"]}]


def longer(prediction: str, gold: str) -> dict[str, float]:
    """An evaluator of two metrics."""
    return {"longer": float(len(prediction) > len(gold)), "prompt": 0.5}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in LETTERS))
    return tmp_path


def dataset(abbr: str = "sums", **changes: Any) -> dict[str, Any]:
    return {
        "abbr": abbr,
        "path": f"{abbr}.jsonl",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": ais_prompt.PromptTemplate, "template": "{question} {answer}"},
            "inferencer": {"type": ais_prompt.GenInferencer},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
        **changes,
    }


def config(*datasets: dict[str, Any], **model: Any) -> dict[str, Any]:
    answers = {r"3\+3": "6", r"7\+7": {"failure": "http_500", "message": "busy"}}
    fake = {"type": ais_prompt.ScriptedModel, "abbr": "fake", "default": "4", "answers": answers, **model}
    return {"models": [fake], "datasets": list(datasets or [dataset()])}


def test_a_run_returns_its_scores_and_samples() -> None:
    run = ais_prompt.run(config())
    assert (run.status, run.errors, run.path.parent.name) == ("finished", {}, "python")
    scores = run.scores(full=True)
    assert tuple(scores.columns) == Row.__struct_fields__
    shown = ["dataset", "model", "metric", "score", "ci95_low", "ci95_high", "n"]
    assert run.scores().equals(scores[shown])
    assert run.scores(to="arrow").column_names == shown
    assert scores[["dataset", "model", "metric", "n", "failed"]].values.tolist() == [["sums", "fake", "accuracy", 8, 1]]
    assert scores.score[0] == pytest.approx(2 / 7)
    samples = run.samples()
    assert samples["id"].tolist() == [line["id"] for line in predictions(run)]
    assert samples["prediction"].tolist()[:7] == ["4", "4", "4", "6", "4", "4", "4"]
    assert samples["score"].tolist()[:7] == [0, 0, 1, 1, 0, 0, 0]
    assert samples["status"].tolist() == ["scored"] * 7 + ["failed"]
    assert samples["failure"][7] == "http_500: busy"
    assert json.loads(samples["prompt"][1]) == [{"role": "user", "content": "1+1=? "}]
    assert samples["score_accuracy"][:7].tolist() == samples["score"][:7].tolist()


def predictions(run: ais_prompt.Run) -> list[dict[str, Any]]:
    [path] = (run.path / "predictions").rglob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.process
def test_arrow_tables_hold_the_same_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    letters_scored = dataset("letters", eval_cfg={"evaluator": {"type": longer}})
    run = ais_prompt.run(config(dataset(), letters_scored, default="\ud800"))
    frames = run.scores(), run.samples()
    monkeypatch.setitem(sys.modules, "pandas", None)  # Python then refuses to import it
    tables = run.scores(to="arrow"), run.samples(to="arrow")
    for frame, table in zip(frames, tables, strict=True):
        assert isinstance(table, pa.Table)
        assert list(frame.columns) == table.column_names
        assert len(frame) == table.num_rows
    letters = run.samples(dataset="letters", to="arrow").to_pylist()
    assert [row["gold"] for row in letters] == ['["a", "b"]', '["c", "d"]']
    assert json.loads(letters[1]["prompt"]) == [{"role": "user", "content": "β? "}]
    assert letters[1]["prediction"] == r"\ud800", "Arrow holds UTF-8, in which a lone surrogate has no bytes"
    assert {(row["score"], row["score_longer"], row["score_prompt"]) for row in letters} == {(0, 0, 0.5)}
    assert isinstance(run.samples(), pa.Table)
    with pytest.raises(ais_prompt.MissingExtra, match=r"pip install pandas.*to='arrow'"):
        run.samples(to="pandas")


@pytest.mark.parametrize(
    ("arguments", "words"), [({"model": "no"}, "models: fake"), ({"dataset": "no"}, "datasets: sums")]
)
def test_samples_of_something_else_are_refused(arguments: dict[str, str], words: str) -> None:
    run = ais_prompt.run(config())
    assert len(run.samples(model="fake", dataset="sums")) == 8
    with pytest.raises(ais_prompt.ConfigError, match=words):
        run.samples(**arguments)


def test_a_run_can_be_made_where_an_event_loop_is_running() -> None:
    async def notebook() -> list[ais_prompt.Run]:
        here = ais_prompt.run(config())
        beside = asyncio.to_thread(ais_prompt.run, config(), reuse=here.path.name)
        return [here, await beside]

    first, second = asyncio.run(notebook())
    assert first.path == second.path
    assert second.scores().equals(first.scores())


def test_a_run_of_the_command_line_can_be_opened(folder: Path) -> None:
    (folder / "eval.py").write_text(f"models = {MODELS}\ndatasets = {DATASETS}\n")
    done = run_cli("run", "eval.py", folder=folder)
    assert done.returncode == 0, done.stderr
    run = ais_prompt.open_run("eval")
    assert run.name.startswith("eval/")
    assert str(run) in "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n" or run.rows
    assert len(run.samples()) == 8
    assert ais_prompt.open_run(run.path).rows == run.rows
    again = ais_prompt.run("eval.py", num_prompts=3, work_dir=folder / "elsewhere")
    assert len(again.samples()) == 3
    assert ais_prompt.open_run("eval", folder / "elsewhere").path == again.path
    found = ais_prompt.compare(run, again.path)
    assert [one.common for one in found.comparisons] == [3]


MODELS = "[dict(type='ScriptedModel', abbr='fake', default='4')]"
DATASETS = """[dict(abbr='sums', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question} {answer}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]"""


def raising(prediction: str, gold: str) -> float:
    raise ValueError(f"{prediction} is not {gold}")


@pytest.mark.process  # functions of users are scored in a process of their own
def test_a_task_that_fails_is_an_error_of_the_run_and_does_not_stop_the_others() -> None:
    broken = dataset("letters", eval_cfg={"evaluator": {"type": raising}})
    run = ais_prompt.run(config(broken, dataset()))
    assert list(run.errors) == ["fake/letters"]
    assert run.status == "failed"
    with pytest.raises(ais_prompt.AisPromptError):
        run.raise_errors()
    assert "1 task failed" in repr(run)
    assert "fake/letters" in run._repr_html_()
    by_dataset = run.scores().set_index("dataset")
    assert by_dataset.note["letters"].startswith("error: ")
    assert by_dataset.score["sums"] == pytest.approx(2 / 7)


def test_options_mean_what_they_mean_on_the_command_line(folder: Path) -> None:
    run = ais_prompt.run(
        config(),
        overrides={"models.0.default": "6", "datasets.0.eval_cfg.evaluator": {"type": ais_prompt.EMEvaluator}},
        num_prompts=4,
        work_dir=folder / "runs",
        report=False,
    )
    assert run.path.is_relative_to(folder / "runs")
    assert run.rows[0].metric != "accuracy"
    assert run.samples()["prediction"].tolist() == ["6"] * 4
    assert not (run.path / "report.html").exists()
    [session] = json.loads((run.path / "run.json").read_text())["sessions"]
    assert session["command"].startswith("ais_prompt.run(overrides=[")


def test_a_quiet_run_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    ais_prompt.run(config())
    assert "fake/sums" in capfd.readouterr().err
    ais_prompt.run(config(), quiet=True)
    assert capfd.readouterr() == ("", "")


def test_a_loaded_config_keeps_the_lines_of_its_faults(folder: Path) -> None:
    (folder / "eval.py").write_text(f"models = {MODELS}\ndatasets = {DATASETS}\n".replace("GenInf", "GenIf"))
    loaded = ais_prompt.load_config("eval.py", {"models.0.abbr": "mine"})
    assert loaded.values["models"][0]["abbr"] == "mine"
    with pytest.raises(ais_prompt.ConfigFaults) as caught:
        ais_prompt.check(loaded)
    assert "eval.py:5" in str(caught.value)
    assert "did you mean 'GenInferencer'?" in str(caught.value)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "nothing": (lambda: ais_prompt.run(), "there is nothing to run"),
    "no such file": (lambda: ais_prompt.check("evl"), "there is no config 'evl'"),
    "another name": (lambda: ais_prompt.check("their_config.py"), "give the path of a .py file, or a shipped one"),
    "no config": (lambda: ais_prompt.check(3), "this is not a config: 3"),  # type: ignore[arg-type]
    "faults": (lambda: ais_prompt.check({"models": []}), "the list is empty"),
    "two configs": (lambda: ais_prompt.run(config(), datasets=["demo_*"]), "not both"),
    "an option": (lambda: ais_prompt.run(config(), limit=3), "no option limit"),  # type: ignore[call-arg]
    "an override": (lambda: ais_prompt.run(config(), overrides={"models.4.a": 1}), "give a position"),
    "a mode": (lambda: ais_prompt.run(config(), mode="ask"), "modes: all, infer"),  # type: ignore[arg-type]
    "a model that is a dict": (lambda: ais_prompt.run(models=[{}], datasets=["x"]), "names of configs"),  # type: ignore[list-item]
    "a run": (lambda: ais_prompt.open_run("eval"), "there is no run 'eval'"),
    "a run to compare": (lambda: ais_prompt.compare("a", "b"), "there is no run 'a'"),
    "to resume": (lambda: ais_prompt.run(config(), reuse="latest"), "there is no earlier run"),
    "a kind of table": (lambda: ais_prompt.run(config()).scores(to="polars"), "to='pandas'"),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_of_the_tree_and_say_what_to_do(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(ais_prompt.AisPromptError) as caught:
        call()
    assert words in str(caught.value)
    assert "fix: " in "\n".join(caught.value.lines())


def test_a_method_says_which_extension_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ais_prompt.steps.extensions", list)
    monkeypatch.setattr("ais_prompt.extension.shipped", dict)
    with pytest.raises(ais_prompt.ConfigError, match="the extension 'variants' compares variants, and is not here"):
        ais_prompt.Run(tmp_path).variants()


def test_a_missing_function_says_which_extension_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ais_prompt.HOMES", {})
    monkeypatch.setattr("ais_prompt.extension.shipped", dict)
    with pytest.raises(AttributeError, match="the extension 'evidence' has it, and is not here"):
        _ = ais_prompt.check_lock


def test_errors_and_records_hold_no_secrets() -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz"
    own = config(api_key=secret)
    try:
        with pytest.raises(ais_prompt.ConfigFaults) as caught:
            ais_prompt.check(own)
        assert secret not in str(caught.value)
        headers = {"models.0.headers": {"authorization": secret}, "models.0.default": "4"}
        with pytest.raises(ais_prompt.AisPromptError) as caught_override:
            ais_prompt.run(config(), overrides=headers)
        assert secret not in str(caught_override.value)
    finally:
        SECRETS.clear()


def test_prompts_are_rendered() -> None:
    views = ais_prompt.render_prompts(config(), 3)
    assert [view.prompt[0].content for view in views] == ["0+0=? ", "1+1=? ", "2+2=? "]  # type: ignore[union-attr]


def test_a_run_that_is_not_scored_says_so() -> None:
    run = ais_prompt.run(config(), mode="infer")
    assert run.scores(full=True).note.tolist() == ["not scored: predictions only"]
    assert run.samples()["status"].tolist()[:7] == [None] * 7 or run.samples()["status"].isna()[:7].all()
    scored = ais_prompt.run(config(), mode="eval", reuse="latest")
    assert scored.path == run.path
    assert run.rows[0].score == pytest.approx(2 / 7)
    (run.path / "summary" / "summary.json").unlink()
    with pytest.raises(ais_prompt.StoreError, match="no summary yet"):
        run.scores()


@pytest.mark.process
def test_ctrl_c_ends_a_run_of_a_program_and_it_can_be_resumed(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import sys, ais_prompt, asyncio\n"
        f"config = dict(run_name='slow', models={MODELS.replace('default', 'delay=float(sys.argv[1]), default')},"
        f" datasets={DATASETS})\n"
        "config['models'][0]['max_concurrency'] = 1\n"
        "async def main():\n"
        "    return ais_prompt.run(config, reuse=sys.argv[2] if sys.argv[2:] else None)\n"
        "try:\n    print(asyncio.run(main()).status)\n"
        "except ais_prompt.Interrupted as error:\n    print(error)\n"
    )
    command = [sys.executable, "program.py"]
    process = subprocess.Popen([*command, "0.5"], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        wait_until(
            lambda: any(path.stat().st_size for path in folder.glob("outputs/slow/*/journal/*/*.jsonl")), "an answer"
        )
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    [run] = (folder / "outputs" / "slow").iterdir()
    assert f"reuse='{run.name}'" in out
    assert ais_prompt.open_run(run).status == "interrupted"
    before = sum(len(path.read_bytes().splitlines()) for path in run.glob("journal/*/*.jsonl"))
    assert 0 < before < 8
    done = subprocess.run([*command, "0", run.name], stdout=subprocess.PIPE, text=True, cwd=folder, check=True)
    assert done.stdout.strip() == "finished"
    after = sum(len(path.read_bytes().splitlines()) for path in run.glob("journal/*/*.jsonl"))
    assert after == 8


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_a_program_that_uses_the_package_is_type_checked(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "import ais_prompt\n"
        "from ais_prompt import Completion, EVALUATORS, Evaluator, ScriptedModel\n\n"
        "reveal_type(ais_prompt.run('eval', num_prompts=3))\n"
        "reveal_type(ais_prompt.render_prompts('eval'))\n"
        "reveal_type(ScriptedModel(default='4').max_out_len)\n"
        "reveal_type(ais_prompt.errors.ConfigError('no').fix)\n\n"
        "@EVALUATORS.register_module()\n"
        "def same(prediction: str, gold: str) -> bool:\n    return prediction == gold\n\n"
        "reveal_type(same)\n"
        "ais_prompt.run('eval', num_prompt=3)\n"
        "Completion(txt='')\n"
    )
    environment = {**os.environ, "MYPYPATH": str(Path(ais_prompt.__file__).parents[2])}
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "mine.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    revealed = [
        line.partition('Revealed type is "')[2].rstrip('"').replace("builtins.", "")
        for line in done.stdout.splitlines()
        if "Revealed" in line
    ]
    assert revealed == [
        "ais_prompt.verbs.open_run.Run",
        "list[ais_prompt.preview.preview.PromptView]",
        "int",
        "str",
        "def (prediction: str, gold: str) -> bool",
    ], done.stdout
    errors = [line for line in done.stdout.splitlines() if "error:" in line and line.startswith("mine.py")]
    assert len(errors) == 2, done.stdout
