"""What people write who come from other programs, and the sentence that helps them."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import DATASET, Project

MODEL = "dict(type='OpenAIChatModel', model='m', base_url='http://127.0.0.1:9/v1', {})"
MESSAGES = "[dict(role='user', content='{question}')]"
TEMPLATE = "'{question}\\nAnswer: {answer}'"
CONFIGS = {
    "temperature=0.7": "write generation_kwargs=dict(temperature=...)",
    "max_tokens=5": "write max_out_len=...",
    "stop=['x']": "write stop_words=[...]",
    "n=4": "write n into the dataset",
    "api_base='http://x/v1'": "write base_url='http://…/v1'",
    "key='K'": "write api_key='NAME_OF_A_VARIABLE'",
    "system_prompt='Be short.'": "role='SYSTEM'",
    "max_retries=3": "write retry=...",
    "stream=true": "write True",
    "api_key=null": "write None",
}
"""Argument of a model → part of the fix."""
DATASETS = {
    (TEMPLATE, "dict(round=[dict(role='user', prompt='{question}')])"): "write role='HUMAN'",
    (TEMPLATE, "dict(round=[dict(role='HUMAN', content='{question}')])"): "write prompt='...'",
    (TEMPLATE, MESSAGES): "write dict(type='RawPromptTemplate', messages=[...])",
    (f"dict(type='PromptTemplate', template={TEMPLATE})", MESSAGES): "messages=[...]",
    (TEMPLATE, "f'{question}'"): "remove the f in front of the text",
    ("'GenInferencer'", "GenInferencer"): "write its name as a text, 'GenInferencer', or import it",
    ("dict(type='Gsm8kEvaluator')", "'Gsm8kEvaluator'"): "write dict(type='Gsm8kEvaluator')",
    ("'Gsm8kEvaluator'", "'exact_match'"): "did you mean 'EMEvaluator'?",
    ("'gsm8k_postprocess'", "'final_number_postprocess'"): "did you mean 'gsm8k_postprocess'?",
}
"""Text of a dataset, and what is in its place → part of the fix."""
WHOLE = {
    "models = models,": "remove the comma behind the list",
    "models = (one for one in models)": "make a list of it: models = list(...)",
    "models = ['gpt-4o']": "write dict(type='OpenAIChatModel', model='gpt-4o')",
}
"""Last line of a config → part of the fix."""
LINES = {
    "--temperature 0.5 eval.py": "--set models.0.generation_kwargs.temperature=",
    "run --tasks gsm8k": "--datasets NAME…, or --data FILE",
    "run -c eval.py": "the config needs no option",
    "run data/sums.jsonl": "--data data/sums.jsonl",
    "run --url localhost:9 --data data/sums.jsonl": "http://localhost:9/v1/models",
    "run --url http://127.0.0.1:9/v1 --model m --data data/sums.jsonl --few-shot 8": "needs 9 rows",
    "evaluate eval.py": "did you mean 'run'?",
    "--models demo_chat": "a model is named, and no dataset",
    "--datasets demo_chat_sums": "datasets are named, and no model",
}
"""Command line → part of the error."""


@pytest.mark.thorough
@pytest.mark.parametrize("argument", CONFIGS)
def test_other_words_in_a_model(project: Project, argument: str) -> None:
    project.write_config(models=MODEL.format(argument))
    done = project.run("check", "eval.py")
    assert (done.returncode, CONFIGS[argument] in fixes(done.stderr)) == (2, True), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("change", DATASETS)
def test_other_words_in_a_dataset(project: Project, change: tuple[str, str]) -> None:
    assert change[0] in DATASET
    project.write_config(models=MODEL.format(""), datasets=DATASET.replace(*change))
    done = project.run("check", "eval.py")
    assert (done.returncode, DATASETS[change] in fixes(done.stderr)) == (2, True), done.stderr


@pytest.mark.parametrize("line", WHOLE)
def test_lists_that_are_none(project: Project, line: str) -> None:
    project.write_config(more=line)
    done = project.run("check", "eval.py")
    assert (done.returncode, WHOLE[line] in fixes(done.stderr)) == (2, True), done.stderr


@pytest.mark.parametrize("line", LINES)
def test_command_lines_of_others(project: Project, line: str) -> None:
    done = project.run(*line.split())
    assert (done.returncode in (2, 3), LINES[line] in done.stderr) == (True, True), done.stderr


def test_several_imports_a_line_are_read(project: Project) -> None:
    project.write_config(more="import json, os\ndatasets[0]['abbr'] = os.path.join('a')")
    done = project.run("check", "eval.py")
    assert done.returncode == 0, done.stderr


def test_help_and_version_are_words_too(project: Project) -> None:
    for words, option in ((("help",), "--help"), (("version",), "--version")):
        assert project.run(*words).stdout == project.run(option).stdout
    assert project.run("help", "score").stdout == project.run("score", "--help").stdout


def test_common_options_of_a_described_model_are_understood(project: Project) -> None:
    described = ("--url", "http://127.0.0.1:9/v1", "--model", "m", "--data", "data/sums.jsonl")
    done = project.run(
        "run", *described, "--temperature", "0.5", "--top-p=0.9", "--max-tokens", "9", "--save-config", "s.py"
    )
    assert done.returncode == 0, done.stderr
    saved = (project.root / "s.py").read_text()
    assert "generation_kwargs=dict(temperature=0.5, top_p=0.9)" in saved
    assert "max_out_len=9" in saved


def fixes(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.startswith("  fix:"))
