"""``--url … --data FILE``: from a file with questions to a score, without a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main
from tests.support.cli import run_cli
from tests.support.servers import MockServer

ROWS = "question,answer\nWhat is 1+1?,2\nWhat is 3+4?,7\nWhat is 9+9?,19\n"
SERVER = ("--url", "http://127.0.0.1:9/v1", "--model", "m")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "questions.csv").write_text(ROWS)
    return tmp_path


@pytest.mark.process
def test_one_line_asks_and_scores(folder: Path, server: MockServer) -> None:
    done = run_cli("run", "--url", server.base_url, "--data", "questions.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "questions.csv · 3 rows · {question} → {answer}, " in done.stderr
    assert "WARNING" not in done.stderr
    [run] = folder.glob("outputs/mock__questions/*")
    [row] = json.loads((run / "summary" / "summary.json").read_text())
    assert (row["dataset"], round(row["score"], 3)) == ("questions", 0.667)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--few-shot", "2"),
        ("--prompt", 'Q: {question}\\nReply as {"a": 1}.', "--postprocessor", "general_postprocess"),
    ],
)
def test_the_saved_config_gives_the_same_prompts(folder: Path, options: tuple[str, ...]) -> None:
    described = (*SERVER, "--data", "questions.csv", *options)
    saved = run_cli("run", *described, "--save-config", "eval.py", folder=folder)
    assert saved.returncode == 0, saved.stderr
    show = ("view-prompt", "--all", "--count", "3", "--json")
    before, after = (run_cli(*show, *words, folder=folder) for words in (described, ("eval.py",)))
    assert before.returncode == 0, before.stderr
    assert len(json.loads(before.stdout)) == 3
    assert before.stdout == after.stdout
    assert run_cli("check", "eval.py", folder=folder).returncode == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((*SERVER, "--prompt", "{question}"), "--prompt describes the file of --data"),
        ((*SERVER, "--data", "question.csv"), "did you mean 'questions.csv'?"),
        (("eval.py", "--data", "questions.csv"), "either a config, or"),
        (SERVER, "--data FILE"),
        ((*SERVER, "--data", "questions.csv", "--answer", "answer", "--answer", "question"), "it is given 2 times"),
        ((*SERVER, "--data", "questions.csv", "--data", "questions.csv"), "it is given 2 times"),
    ],
)
def test_what_cannot_be_meant(folder: Path, words: tuple[str, ...], what: str) -> None:
    done = run_cli("check", *words, folder=folder)
    assert done.returncode == 2
    assert what in done.stderr


def test_a_file_is_checked_and_shown_without_a_model_or_a_server_that_answers(folder: Path) -> None:
    assert "datasets are named, and no model" in run_cli("run", "--data", "questions.csv", folder=folder).stderr
    for words in ((), ("--url", "http://127.0.0.1:9/v1")):
        checked = run_cli("check", "--data", "questions.csv", *words, folder=folder)
        assert (checked.returncode, "No faults" in checked.stdout) == (0, True), checked.stderr
        shown = run_cli("view-prompt", "--data", "questions.csv", *words, folder=folder)
        assert shown.returncode == 0
        assert "these are messages for a chat model" in shown.stderr


def test_init_asks_four_questions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    asked = CliRunner().invoke(main, ["init"], input="weights/x\nquestions.csv\n\nmine\n")
    assert asked.exit_code == 0, asked.output
    text = (folder / "mine.py").read_text()
    assert "HuggingFaceChatModel" in text
    assert "gsm8k_postprocess" in text


def test_init_asks_for_the_question_of_columns_without_known_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "odd.csv").write_text("land,stadt,fluss\nPeru,Lima,Rímac\n")
    asked = CliRunner().invoke(
        main, ["init", "--model", "weights/x", "--data", "odd.csv", "--answer", "stadt"], "{land}?\n\n\n"
    )
    assert asked.exit_code == 0, asked.output
    assert "input_columns=['land']" in (folder / "odd.py").read_text()


def test_init_takes_all_answers_as_options(folder: Path) -> None:
    words = ("--model", "http://127.0.0.1:9/v1", "--name", "m", "--data", "questions.csv", "--kind", "text", "mine.py")
    done = run_cli("init", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    assert run_cli("check", "mine.py", folder=folder).returncode == 0
    assert "--force" in run_cli("init", *words, folder=folder).stderr
    assert run_cli("init", *words, "--force", folder=folder).returncode == 0
    function = run_cli("init", "--model", "app.answer", *words[4:], "--force", folder=folder)
    assert function.returncode == 0, function.stderr
    assert "dict(type='FunctionModel', function='app.answer')" in (folder / "mine.py").read_text()
    (folder / "app.py").write_text("def answer(text):\n    return '2'\n")
    assert run_cli("check", "mine.py", folder=folder).returncode == 0


def test_init_takes_each_option_once(folder: Path) -> None:
    done = run_cli("init", "--data", "questions.csv", "--prompt", "{question}", "--prompt", "{answer}", folder=folder)
    assert done.returncode == 2
    assert "Invalid value for '--prompt': it is given 2 times" in done.stderr


def test_without_an_answer_init_names_the_option(folder: Path) -> None:
    done = run_cli("init", folder=folder)
    assert (done.returncode, "standard input has no answer; give --model" in done.stderr) == (2, True)


@pytest.mark.parametrize("verb", ["run", "check", "view-prompt", "score"])
def test_help_shows_the_first_options_and_help_all_the_others(verb: str) -> None:
    shown = [one for one in main.verbs()[verb].params if not getattr(one, "hidden", False)]
    options = [name for parameter in shown for name in parameter.opts if name.startswith("--")]
    short, long = (run_cli(verb, flag).stdout for flag in ("--help", "--help-all"))
    assert sum(line.startswith("  -") for line in short.splitlines()) <= 21
    assert f"aisprompt {verb} --help-all" in short
    assert [name for name in options if name not in long] == []
