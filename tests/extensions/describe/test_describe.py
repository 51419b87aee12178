"""``aisprompt describe``, and the schemas of the files that a run writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ais_prompt.extensions.describe.file_entries import FILES, FileKind, schema_of
from ais_prompt.extensions.describe.lookup import entries, entry_text
from tests.core.e2e.project import DATASET, Project
from tests.core.e2e.test_strangers import counting as counting
from tests.support.cli import ROOT, run_cli, run_in_new_process
from tests.support.servers import MockServer

WITH_SCHEMA = [file for file in FILES if file.shape is not None]

ASKED = {
    "FixKRetriever": [
        "FixKRetriever (retriever)",
        "fix_id_list  list of int, required",
        "row numbers in the train split",
    ],
    "fixkretriever": ["FixKRetriever (retriever)"],
    "first-capital": ["first_capital_postprocess (postprocessor)"],
    "HuggingFaceDataset": ["revision  str or None, default None", "branch, tag or commit on the hub."],
    "reader_cfg": ["test_range='[10:20]'       # rows 10 to 19, from 0", "allow_missing"],
    "reader_cfg.test_range": ["test_range  number of rows, a slice such as '[:10]', or None, default all"],
    "dtype": ["model_kwargs", "'bfloat16'"],
    "device_map": ["'auto' spreads the layers"],
    "offline": ["HF_HUB_OFFLINE=1"],
    "StoreError": ["exit code: 3", "is a: AisPromptError"],
    "run.json": ["schema_version  int", "version: 2", "aisprompt describe run.json --schema"],
    "--num-prompts": ["run (command)", "--num-prompts, --limit  N"],
    "ais_prompt.open_run": ["open_run (function)", "from ais_prompt import open_run"],
    "Sampling": ["temperature  float or None, default 0.0", "sampling=dict(...)"],
    "provider": ["openai  address", "https://api.openai.com/v1, key in OPENAI_API_KEY"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ASKED)
def test_a_name_is_described(name: str) -> None:
    done = run_cli("describe", name, environment={"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    for words in ASKED[name]:
        assert words in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FixRetriever", "FixKRetriever"),
        ("reader_cgf", "reader_cfg"),
        ("test_rage", "test_range"),
        ("StorError", "StoreError"),
    ],
)
def test_near_names_are_offered(name: str, near: str) -> None:
    done = run_cli("describe", name)
    assert done.returncode == 2
    assert re.search(rf"did you mean .*\b{near}\b", done.stderr)


@pytest.mark.thorough
def test_no_text_is_wider_than_the_terminal() -> None:
    for entry in entries():
        for line in entry_text(entry, 80).splitlines():
            is_code = line.startswith("      ") or ">>>" in line or not line.strip().count(" ")
            assert len(line) <= 80 or is_code, f"{entry.name}: {line}"


@pytest.mark.thorough
@pytest.mark.parametrize("file", WITH_SCHEMA, ids=lambda file: file.name)
def test_a_schema_is_one(file: FileKind) -> None:
    printed = json.loads(run_cli("describe", file.name, "--schema").stdout)
    assert printed == schema_of(file)
    jsonschema.Draft202012Validator.check_schema(printed)


def test_files_without_a_schema_are_named() -> None:
    done = run_cli("describe", "config.py", "--schema")
    assert done.returncode == 2
    assert "run.json" in done.stderr


OUTSIDE = {"baseline": "base.json", "prompt-lock": "eval.lock"}
"""Kind of file that is not in the run folder → where the test below writes it."""


def strict(schema: Any) -> Any:
    """A schema that forbids keys that it does not name."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    return {**made, "additionalProperties": False} if "properties" in made and "type" in made else made


def contents(file: FileKind, folder: Path) -> list[Any]:
    """What the files of a kind hold; each line of those with lines."""
    found = []
    for path in folder.glob(re.sub(r"MODEL|DATASET", "*", file.path)):
        text = path.read_text("utf-8")
        found += [json.loads(line) for line in text.splitlines()] if file.lines else [json.loads(text)]
    return found


@pytest.mark.process
def test_what_a_run_writes_is_as_its_schemas_say(project: Project, server: MockServer) -> None:
    project.write_config(more="run_name = 'clean'")
    assert project.run("run", "eval.py").returncode == 0
    assert project.run("baseline", "clean", "-o", "base.json").returncode == 0
    assert project.run("lock", "eval.py").returncode == 0
    answers = "{r'^3': dict(failure='http_500', message='no'), r'^2': '<think>a</think>4'}"
    model = f"dict(type='ScriptedModel', abbr='fake', answers={answers}, default='4')"
    often = DATASET.replace("'sums',", "'often',", 1).replace("eval_cfg", "n=3, eval_cfg")
    served = f"dict(type='OpenAIChatModel', model='mock', abbr='served', base_url='{server.base_url}', api_key=None)"
    project.write_config(
        models=f"{model}, {served}", datasets=f"{DATASET}, {often}", more="budget = dict(max_requests=1000)"
    )
    done = project.run("run", "eval.py", "--max-failures", "100%")
    assert done.returncode == 0, done.stderr
    for file in WITH_SCHEMA:
        if file.name in OUTSIDE:
            values = [json.loads((project.root / OUTSIDE[file.name]).read_text())]
        else:
            values = contents(file, project.folder())
        assert values, file.name
        validator = jsonschema.Draft202012Validator(strict(schema_of(file)))
        for value in values:
            errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
            assert not errors, (file.name, errors[:3])


@pytest.mark.thorough
def test_a_document_has_all_entries(tmp_path: Path) -> None:
    [entry] = described("FixKRetriever", folder=tmp_path)["entries"]
    assert entry["usage"].startswith("type='FixKRetriever'")
    assert "fix_id_list" in [argument["name"] for argument in entry["arguments"]]
    assert described("FixKRetreiver", folder=tmp_path)["errors"][0]["what"]
    assert "## Commands" in described("SKILL.md", folder=tmp_path)["entries"][0]["text"]
    for words, said in ((["run.json", "--schema"], "--schema prints JSON as it is: leave --json out"), ([], "'NAME'")):
        [wrong] = described(*words, folder=tmp_path)["errors"]
        assert said in wrong["what"]
        assert wrong["fix"].endswith("describe --help")


def described(*words: str, folder: Path) -> dict[str, Any]:
    """Return the document of ``describe``, which is valid by the committed schema."""
    done = run_cli("describe", *words, "--json", folder=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schemas/describe.json").read_text())).validate(found)
    assert found["exit_code"] == done.returncode
    return found


def test_a_name_that_no_config_has_may_be_a_part() -> None:
    assert "for a part write aisprompt describe NAME" in run_cli("list", "models", "FixKRetriever").stderr


@pytest.mark.process
def test_what_an_installed_package_brings_is_described(counting: Project) -> None:
    section, variable = run_in_new_process(
        [["describe", "counting"], ["describe", "COUNT_FROM"]], counting.root, counting.root / "site"
    )
    assert "How questions are counted." in section.stdout
    assert "the first number" in variable.stdout
