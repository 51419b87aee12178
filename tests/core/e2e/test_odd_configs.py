"""Configs that are no configs, and parts of the wrong kind: three lines and exit code 2, never a bug of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main
from tests.core.e2e.project import DATASET, MODEL, Project
from tests.support.parts import write_rows

GOOD = f"models = [{MODEL}]\ndatasets = [{DATASET}]\n"
OWN = "class Own(BaseException):\n    pass\n"
FILES: dict[str, bytes] = {
    "binary": bytes(range(256)),
    "null": b"models = 1\0",
    "utf16": GOOD.encode("utf-16"),
    "deep": b"x = " + b"[" * 5000 + b"]" * 5000,
    # Each version of Python parses another depth, and functions of ours or of mmengine walk through another one.
    **{f"{depth} minus": b"x = " + b"-" * depth + b"1" for depth in (600, 2000, 5000, 20_000)},
    **{f"{depth} names": b"x" + b"[0]" * depth + b" = 1" for depth in (600, 2000, 5000)},
    **{f"{depth} bases": b"_base_ = " + b"-" * depth + b"1" for depth in (600, 2000, 5000)},
    "contains itself": b"x = []\nx.append(x)\nmodels = x\ndatasets = x\n",
    **{
        f"raises {name}": f"{OWN}raise {name}\n{GOOD}".encode()
        for name in ("SystemExit(3)", "KeyboardInterrupt", "MemoryError", "GeneratorExit", "StopIteration", "Own('x')")
    },
    "recursion": f"def f():\n    return f()\nf()\n{GOOD}".encode(),
    "custom import": f"custom_imports = dict(imports=['odd_module'])\n{GOOD}".encode(),
    "dotted": GOOD.replace("'ScriptedModel'", "'odd_module.Model'").encode(),
}
KINDS = ("ScriptedModel", "LocalDataset", "PromptTemplate", "ZeroRetriever", "GenInferencer", "Gsm8kEvaluator")
WRONG = (
    *("ais_prompt.models.ScriptedModel", "ais_prompt.prompts.PromptTemplate", "ais_prompt.evaluators.AccEvaluator"),
    *("os.path", "os.sep", "builtins.int", "builtins.dict", "collections.abc.Sized", "a..b", ".", "x.", "\ud800.x"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_rows(tmp_path / "data/sums.jsonl", [{"question": "1+1=?", "answer": "2"}])
    return tmp_path


def refused(config: str) -> str:
    """What check and run say of a config with one fault or more."""
    said = [CliRunner().invoke(main, [verb, config]) for verb in ("check", "run")]
    for done in said:
        assert done.exit_code == 2, done.output
        assert "Traceback" not in done.output
        assert "Error: " in done.output
        assert "  where: " in done.output
    return said[0].output


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_config(folder: Path, name: str) -> None:
    (folder / "odd_module.py").write_text(f"{OWN}raise Own(1)\n")
    (folder / "eval.py").write_bytes(FILES[name])
    assert "eval.py" in refused("eval.py") or name in ("custom import", "dotted")


@pytest.mark.process
@pytest.mark.parametrize("more", [r"note = '\d s3cret'", "note = 's3cret' is 's3cret'", r"_base_ = ['./\d.py']"])
def test_lines_of_a_config_are_not_printed_with_the_warnings_of_python(project: Project, more: str) -> None:
    (project.root / "\\d.py").write_text(f"models = [{MODEL}]\n")
    project.write_config(more=more)
    done = project.run_process("check", "eval.py")
    assert "SyntaxWarning" not in done.stderr
    assert (done.returncode, "s3cret" in done.stdout + done.stderr) == (0, False), done.stderr


def test_what_is_no_file(folder: Path) -> None:
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "gone.py").symlink_to("nothing.py")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    assert "Too many levels of symbolic links" in refused("loop.py")
    assert "No such file" in refused("gone.py")
    assert "is a folder, not a file" in refused("folder.py")
    refused("pipe.py")


def test_a_config_that_nobody_may_read(folder: Path) -> None:
    (folder / "eval.py").write_text(GOOD)
    (folder / "eval.py").chmod(0)
    if os.access(folder / "eval.py", os.R_OK):
        pytest.skip("root may read everything")
    assert "cannot be read" in refused("eval.py")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_part_of_the_wrong_kind(folder: Path, kind: str) -> None:
    for wrong in WRONG:
        same = {"ScriptedModel": "models", "PromptTemplate": "prompts", "Gsm8kEvaluator": "evaluators"}.get(kind, "-")
        if f".{same}." not in wrong:
            (folder / "eval.py").write_text(GOOD.replace(f"'{kind}'", ascii(wrong)))
            assert "eval.py:" in refused("eval.py"), wrong


def test_a_path_that_is_too_long(folder: Path) -> None:
    (folder / "eval.py").write_text(GOOD.replace("data/sums.jsonl", "x" * 5000))
    assert "File name too long" in refused("eval.py")


@pytest.mark.parametrize("ids", ["'</s>'", "1.5", "True", "[[1]]", "-1", "dict(a=1)"])
def test_eos_token_id_of_the_wrong_type(folder: Path, ids: str) -> None:
    frame = f"dict(round=[dict(role='HUMAN'), dict(role='BOT', generate=True)], eos_token_id={ids})"
    more = f"models[0].update(prompt_style='text', meta_template={frame})"
    (folder / "eval.py").write_text(f"{GOOD}{more}\n")
    assert "a token id or a list of them" in refused("eval.py")
