"""A stranger's package takes the steps of a run, and brings an option, without a change of this program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.config import find_shipped, list_shipped, load_config
from ais_prompt.data import find_data, require_data
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extension import STEPS, Step
from ais_prompt.registry import EVALUATORS
from ais_prompt.steps import first_answer, steps
from tests.support.cli import run_in_new_process

MANIFEST = """
from ais_prompt.extension import Extension

EXTENSION = Extension(
    options={"config": {"--strange": "acts:strange_option"}},
    variables={"STRANGE_HOME": ("folder", "where the stranger lives")},
    packages=("click",),
    steps={
        "array_index": "acts:array_index",
        "begin": "acts:begin",
        "benchmarks": "acts:benchmarks",
        "command_line": "acts:command_line",
        "compare": "acts:compare",
        "config_trees": "acts:config_trees",
        "entries": "acts:entries",
        "find_data": "acts:find_data",
        "finished": "acts:finished",
        "foreign_name": "acts:foreign_name",
        "known_values": "acts:known_values",
        "model": "acts:model",
        "open_log": "acts:open_log",
        "pages": "acts:pages",
        "shown": "acts:shown",
        "source": "acts:source",
        "status": "acts:status",
        "translate": "acts:translate",
    },
)
"""
ACTS = """
from dataclasses import replace
from pathlib import Path

import click

from ais_prompt.config import ConfigTree, Note
from ais_prompt.errors import ConfigError
from ais_prompt.store import RunFolder, read_predictions

HERE = Path(__file__).parent
strange_option = click.option("--strange", metavar="FILE")


def array_index(environment):
    return None


def begin(folder, plan, mode):
    print("beginning", folder.root, mode)


def benchmarks():
    return "Strange benchmarks", []


def compare(before, after):
    return None


def entries(name):
    return []


def command_line(args, command):
    return ["--strange" if word == "--odd" else word for word in args]


def config_trees():
    return [ConfigTree("stranger", ("trees",), HERE, {}, "install it")]


def find_data(path):
    return ([HERE / path], "ask the stranger") if path.startswith("strange") else None


def foreign_name(kind, name, known):
    return ConfigError(f"{name} is strange", fix=f"write one of {sorted(known)[:1]}") if "strange" in name else None


def finished(folder, results):
    print("finished", folder)



def shown(root, console):
    pass

def known_values(root, model, dataset):
    found = read_predictions(RunFolder(root).predictions(model, dataset))
    return "strangeness", {one.sample_id: 0.25 for one in found}


def model(spec, built):
    return None


def open_log(path):
    return None


def pages(*args):
    return {}


def source(named):
    infer = {
        "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
        "inferencer": {"type": "GenInferencer"},
    }
    reader = {"input_columns": ["question"], "output_column": "answer"}
    path = {"type": "LocalDataset", "path": named.options["strange"]}
    return replace(named, dataset={"abbr": "odd", **path, "reader_cfg": reader, "infer_cfg": infer})


def status(folder):
    return []


def translate(values, options, *, foreign_summary, folder, place):
    if values["models"] != ["odd"]:
        return values, ()
    values = {**values, "models": [{"type": "ScriptedModel", "abbr": "odd"}]}
    return values, (Note("models are strange", "models"),)
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an installed package with an extension."""
    package = tmp_path / "stranger"
    (package / "trees/datasets").mkdir(parents=True)
    (package / "__init__.py").write_text(MANIFEST)
    (package / "acts.py").write_text(ACTS)
    (tmp_path / "stranger-1.dist-info").mkdir()
    (tmp_path / "stranger-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    entry = "[ais_prompt.extensions]\nstranger = stranger:EXTENSION\n"
    (tmp_path / "stranger-1.dist-info/entry_points.txt").write_text(entry)
    (package / "trees/datasets/strange_quiz.py").write_text("datasets = []\n")
    (package / "strange.csv").write_text("question,answer\n1+1=?,2\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield package
    for name in set(sys.modules) - before:
        if name.startswith("stranger"):
            del sys.modules[name]


def test_each_step_has_its_function(stranger: Path) -> None:
    names: list[Step] = [*STEPS]
    assert all("stranger.acts" in {function.__module__ for function in steps(name)} for name in names)


def test_configs_of_a_stranger_are_named_and_imported(stranger: Path) -> None:
    file = stranger / "trees/datasets/strange_quiz.py"
    assert find_shipped("datasets", "strange_quiz") == find_shipped("datasets", "stranger/strange_quiz") == file
    assert file not in [one.path for one in list_shipped("datasets")]
    config = stranger / "eval.py"
    config.write_text("with read_base():\n    from stranger.trees.datasets.strange_quiz import datasets\n")
    assert load_config(config).values["datasets"] == []
    config.write_text("with read_base():\n    from stranger.trees.datasets.missing import datasets\n")
    with pytest.raises(ConfigError, match=r"stranger\.trees\.datasets\.missing"):
        load_config(config)


def test_data_are_where_a_stranger_says(stranger: Path) -> None:
    assert find_data("strange.csv") == stranger / "strange.csv"
    with pytest.raises(DataError) as caught:
        require_data("strange/missing.csv")
    assert "ask the stranger" in caught.value.fix
    assert find_data("nowhere.csv") is None


def test_names_of_a_stranger_are_answered(stranger: Path) -> None:
    with pytest.raises(ConfigError, match=r"strange\.Evaluator is strange"):
        EVALUATORS.get("strange.Evaluator")
    assert first_answer("foreign_name", "option", "--strange", ["b", "a"]).fix == "write one of ['a']"


@pytest.mark.process
def test_a_stranger_brings_an_option_and_translates(stranger: Path) -> None:
    template = "dict(type='PromptTemplate', template='{question}')"
    infer = f"dict(prompt_template={template}, inferencer=dict(type='GenInferencer'))"
    reader = "dict(input_columns=['question'], output_column='answer')"
    dataset = f"dict(type='LocalDataset', abbr='d', path='strange.csv', reader_cfg={reader}, infer_cfg={infer})"
    (stranger / "eval.py").write_text(f"models = ['odd']\ndatasets = [{dataset}]\n")
    commands = [
        "run --help-all",
        "view-prompt --odd strange.csv",
        "check eval.py",
        "run eval.py",
        "describe STRANGE_HOME",
    ]
    shown = run_in_new_process([line.split() for line in commands], stranger, stranger.parent)
    helped, viewed, checked, asked, described = (done.stdout + done.stderr for done in shown)
    assert "--strange FILE" in helped
    assert "any-chat-model/odd" in viewed
    assert "models are strange" in checked
    assert "d: strangeness" in asked
    assert "25.0 %" in asked
    assert "where the stranger lives" in " ".join(described.split())
