"""From plain values to specs, and every fault of a config at once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.config import LoadedConfig, load_config, parse_run
from ais_prompt.errors import ConfigFaults
from ais_prompt.plan import Plan
from ais_prompt.types import EvalSpec, InferSpec, MetaTemplateSpec, PartSpec, ReaderSpec, RunSpec

Write = Callable[[str, str], Path]

MODEL: dict[str, Any] = {"type": "ScriptedModel", "abbr": "demo", "answers": ["4"]}
DATASET: dict[str, Any] = {
    "abbr": "sums",
    "type": "LocalDataset",
    "path": "sums.jsonl",
    "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
    "infer_cfg": {
        "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
        "inferencer": {"type": "GenInferencer"},
    },
    "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
}


def config(**changes: Any) -> dict[str, Any]:
    """A config without faults, some of whose values are changed: ``datasets__0__abbr``; ``...`` takes a key away."""
    values: dict[str, Any] = copy.deepcopy({"models": [MODEL], "datasets": [DATASET]})
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        inside: Any = values
        for step in steps:
            inside = inside[step]
        if value is ...:
            del inside[last]
        else:
            inside[last] = value
    return values


def parsed(**changes: Any) -> RunSpec:
    return parse_run(LoadedConfig(config(**changes), "eval"))


def faults(values: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Every fault as what, where and fix."""
    with pytest.raises(ConfigFaults) as caught:
        parse_run(LoadedConfig(values, "eval"))
    return [(fault.what, fault.where, fault.fix) for fault in caught.value.faults]


def test_a_config_without_faults(folder: Path) -> None:
    spec = parsed()
    assert (spec.name, spec.work_dir, spec.config_file) == ("eval", Path("outputs"), None)
    [model] = spec.models
    assert (model.abbr, model.meta_template, model.where) == ("demo", None, "models[0]")
    assert model.part == PartSpec("ScriptedModel", {"answers": ["4"]}, "models[0]")
    [dataset] = spec.datasets
    assert dataset.source == PartSpec("LocalDataset", {"path": "sums.jsonl"}, "datasets[0]")
    assert dataset.reader == ReaderSpec(("q",), "a", where="datasets[0].reader_cfg")
    assert dataset.infer == InferSpec(
        ice_template=None,
        prompt_template=PartSpec("PromptTemplate", {"template": "{q}"}, "datasets[0].infer_cfg.prompt_template"),
        retriever=PartSpec("ZeroRetriever", {}, "datasets[0].infer_cfg.retriever"),
        inferencer=PartSpec("GenInferencer", {}, "datasets[0].infer_cfg.inferencer"),
        where="datasets[0].infer_cfg",
    )
    assert dataset.eval == EvalSpec(
        PartSpec("AccEvaluator", {}, "datasets[0].eval_cfg.evaluator"), where="datasets[0].eval_cfg"
    )


def test_every_key_of_reader_cfg() -> None:
    reader: dict[str, Any] = {
        "input_columns": ("q", "context"),
        "output_column": None,
        "train_split": "dev",
        "test_split": "validation",
        "train_range": 0.5,
        "test_range": "[:10]",
        "media_roots": ("/srv/images", "https://example.org/images/"),
    }
    spec = parsed(datasets__0__reader_cfg=reader).datasets[0].reader
    assert spec == ReaderSpec(**reader, where="datasets[0].reader_cfg")
    assert spec.limit is None


def test_models_run_on_the_datasets_that_they_are_combined_with() -> None:
    models = [{**MODEL, "abbr": name} for name in ("a", "b")]
    datasets = [{**DATASET, "abbr": name} for name in ("x", "y", "z")]
    written = [{"models": ["a"], "datasets": ["x", datasets[1]]}, {"models": models[1:], "datasets": ["z"]}]
    spec = parsed(models=models, datasets=datasets, model_dataset_combinations=written)
    assert [task.name for task in spec.tasks] == ["a/x", "a/y", "b/z"]
    assert [task.name for task in Plan(spec).tasks] == ["a/x", "a/y", "b/z"]
    assert len(parsed(models=models, datasets=datasets).tasks) == 6


def test_columns_in_one_text_are_split_at_blanks() -> None:
    columns = {"q a": ("q", "a"), "q": ("q",), " q\ta ": ("q", "a"), "q,a": ("q,a",)}
    for text, expected in columns.items():
        assert parsed(datasets__0__reader_cfg__input_columns=text).datasets[0].reader.input_columns == expected


def test_gold_columns() -> None:
    assert parsed(datasets__0__reader_cfg__gold_columns=["a", "test"]).datasets[0].reader.gold_columns == ("a", "test")
    assert parsed().datasets[0].reader.gold_columns == ()


def test_every_key_of_infer_cfg_and_eval_cfg() -> None:
    parts = {
        key: {"type": key.title(), "n": 1} for key in ("ice_template", "prompt_template", "retriever", "inferencer")
    }
    scoring = {key: {"type": key.title()} for key in ("evaluator", "pred_postprocessor", "dataset_postprocessor")}
    dataset = parsed(datasets__0__infer_cfg=parts, datasets__0__eval_cfg=scoring).datasets[0]
    for key in parts:
        assert getattr(dataset.infer, key) == PartSpec(key.title(), {"n": 1}, f"datasets[0].infer_cfg.{key}")
    for key in scoring:
        assert getattr(dataset.eval, key) == PartSpec(key.title(), {}, f"datasets[0].eval_cfg.{key}")


@pytest.mark.parametrize("nothing", [..., None, {}])
def test_without_an_evaluator_there_are_only_predictions(nothing: Any) -> None:
    assert parsed(datasets__0__eval_cfg=nothing).datasets[0].eval.evaluator is None


@pytest.mark.parametrize(
    ("model", "abbr"),
    [
        ({"type": "a.b.MyModel"}, "MyModel"),
        ({"type": "A", "path": "org/Some-Model-7B"}, "Some-Model-7B"),
        ({"type": "A", "path": "/weights/v1.5/"}, "v1.5"),
        ({"type": "A", "model": "gpt-x"}, "gpt-x"),
        ({"type": "A", "path": "org/x", "abbr": "mine"}, "mine"),
    ],
)
def test_the_abbr_of_a_model(model: dict[str, Any], abbr: str) -> None:
    assert parsed(models=[model]).models[0].abbr == abbr


@pytest.mark.parametrize(
    ("path", "abbr"),
    [("data/gsm8k", "gsm8k"), ("sums.jsonl", "sums"), ("v1.5", "v1.5"), ("data/sums.xlsx#Sheet 1", "sums")],
)
def test_the_abbr_of_a_data_set(path: str, abbr: str) -> None:
    assert parsed(datasets__0__abbr=..., datasets__0__path=path).datasets[0].abbr == abbr


def test_a_data_set_is_local_unless_it_says_otherwise() -> None:
    assert parsed(datasets__0__type=...).datasets[0].source.type == "LocalDataset"


def test_meta_template_and_run_cfg_are_no_arguments_of_the_model() -> None:
    [model] = parsed(models=[{**MODEL, "meta_template": {"begin": 7}, "run_cfg": {"num_gpus": 1}}]).models
    assert model.meta_template == MetaTemplateSpec({"begin": 7}, begin=7)
    assert set(model.part.args) == {"answers"}


def test_names_and_folders(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert parsed(work_dir="~/out", run_name="nightly").work_dir == folder / "out"
    assert parsed(run_name="nightly").name == "nightly"
    spec = parse_run(LoadedConfig(config(work_dir="a"), "eval"), work_dir="b")
    assert spec.work_dir == Path("b")
    assert spec.resolved["work_dir"] == "b"


def test_paths_beside_the_config_are_found_and_kept_as_written(write: Write, folder: Path) -> None:
    write("run/sums.jsonl", "")
    values = config(models__0__tokenizer_path="org/hub-name")
    spec = parse_run(load_config(write("run/eval.py", "\n".join(f"{k} = {v!r}" for k, v in values.items()))))
    assert spec.datasets[0].source.args["path"] == str(folder / "run/sums.jsonl")
    assert spec.models[0].part.args["tokenizer_path"] == "org/hub-name"
    assert spec.resolved["datasets"][0]["path"] == "sums.jsonl"
    assert spec.resolved["paths_relative_to"] == str(folder / "run")


@pytest.mark.parametrize("k", [[5, 1], (1, 5, 5)])
def test_numbers_of_answers_stand_where_opencompass_has_them_or_where_they_are_used(k: Any) -> None:
    [there] = parsed(datasets__0__n=5, datasets__0__k=k).datasets
    [here] = parsed(datasets__0__infer_cfg__inferencer__n=5, datasets__0__eval_cfg__k=k).datasets
    assert (there.eval.k, there.infer.inferencer.args) == ((1, 5), {"n": 5})
    assert (here.eval, here.infer.inferencer) == (there.eval, there.infer.inferencer)
    [once] = parsed(datasets__0__n=1, datasets__0__k=1).datasets
    assert (once.eval.k, once.infer.inferencer.args, once.source.args) == ((1,), {}, {"path": "sums.jsonl"})
    [own] = parsed(datasets__0__n=5, datasets__0__infer_cfg__inferencer__n=2).datasets
    assert own.infer.inferencer.args == {"n": 2}


@pytest.mark.parametrize("k", ["5", 0, [1, 0], [1, "x"], True, [True]])
def test_numbers_of_tries_are_whole_and_positive(k: Any) -> None:
    [(_, where, fix)] = faults(config(datasets__0__eval_cfg__k=k))
    assert where.startswith("datasets[0].eval_cfg.k")
    assert "a number from 1" in fix


def test_helper_variables_are_not_kept() -> None:
    spec = parsed(helper=1, gsm8k_datasets=[])
    assert set(spec.resolved) == {"work_dir", "run_name", "paths_relative_to", "models", "datasets"}


# ------------------------------------------------------------------------------------------------------------- faults

TEMPLATE = "datasets[0].infer_cfg.prompt_template"
FAULTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    # changed value → what, where, fix
    "no models": ({"models": ...}, "the config has no 'models'", "", "add models = a list of models"),
    "no datasets": ({"datasets": ...}, "the config has no 'datasets'", "", "add datasets ="),
    "model": ({"models": ..., "model": []}, "the config has no 'models'", "model", "rename 'model' to 'models'"),
    "models no list": ({"models": MODEL}, "models is {", "models", "give a list of models"),
    "empty": ({"datasets": []}, "the config has no datasets: the list is empty", "datasets", "dict(...)"),
    "no dict": ({"models__0": "gpt"}, "models[0] is 'gpt' (str), not a dict", "models[0]", "model='gpt')"),
    "keys": ({"models__0": {1: 2}}, "has the key 1 (int), which is not a text", "models[0]", "names as keys"),
    "workdir": ({"workdir": "x"}, "'workdir' looks like a misspelling of 'work_dir'", "workdir", "rename"),
    "work_dir": ({"work_dir": 3}, "work_dir is 3 (int), not a folder", "work_dir", "give a folder"),
    "zero byte": (
        {"work_dir": "a\0b"},
        "it contains characters that cannot be printed",
        "work_dir",
        "give a folder",
    ),
    "run_name": ({"run_name": "a/b"}, "the run_name 'a/b' contains a path separator", "run_name", "names a folder"),
    "no type": ({"models__0__type": ...}, "models[0] has no 'type'", "models[0]", "add type ="),
    "empty type": (
        {"models__0__type": ""},
        "models[0].type is '' (str), not a class",
        "models[0].type",
        "registered name",
    ),
    "typ": (
        {"models__0": {"typ": "A"}},
        "models[0] has no 'type'",
        "models[0].typ",
        "rename 'typ' to 'type'",
    ),
    "type": ({"models__0__type": 3}, "models[0].type is 3 (int), not a class", "models[0].type", "a registered name"),
    "abbr": ({"models__0__abbr": None}, "models[0].abbr is None, not a short name", "models[0].abbr", "short name"),
    "slash": ({"models__0__abbr": "a/b"}, "contains a path separator", "models[0].abbr", "letters, digits"),
    "dots": ({"models__0__abbr": ".."}, "is not a name", "models[0].abbr", "letters, digits"),
    "long": ({"models__0__abbr": "é" * 101}, "is longer than 200 bytes", "models[0].abbr", "letters, digits"),
    "unseen": ({"models__0__abbr": "a\n"}, "cannot be printed", "models[0].abbr", "letters, digits"),
    "no abbr": (
        {"datasets__0__abbr": ..., "datasets__0__path": ...},
        "datasets[0] has no 'abbr'",
        "datasets[0]",
        "add abbr =",
    ),
    "meta": ({"models__0__meta_template": "x"}, "meta_template is 'x' (str)", "models[0].meta_template", "a dict"),
    "meta_tmplate": ({"models__0__meta_tmplate": {}}, "looks like a misspelling", "models[0].meta_tmplate", "rename"),
    "two models": ({"models": [MODEL, MODEL]}, "two models have the abbr 'demo'", "models[1]", "its own abbr"),
    "two": ({"datasets": [DATASET, DATASET]}, "two datasets have the abbr 'sums'", "datasets[1]", "its own abbr"),
    "no reader_cfg": ({"datasets__0__reader_cfg": ...}, "has no 'reader_cfg'", "datasets[0]", "add reader_cfg ="),
    "reader_cfg": ({"datasets__0__reader_cfg": 1}, "is 1 (int), not a dict", "datasets[0].reader_cfg", "dict(...)"),
    "no infer_cfg": ({"datasets__0__infer_cfg": ...}, "has no 'infer_cfg'", "datasets[0]", "add infer_cfg ="),
    "eval_cgf": ({"datasets__0__eval_cgf": {}, "datasets__0__eval_cfg": ...}, "misspelling", "eval_cgf", "rename"),
    "no columns": (
        {"datasets__0__reader_cfg__input_columns": ...},
        "has no 'input_columns'",
        "datasets[0].reader_cfg",
        "add input_columns",
    ),
    "columns": (
        {"datasets__0__reader_cfg__input_columns": 3},
        "is 3 (int), not a list of column names",
        "datasets[0].reader_cfg.input_columns",
        "",
    ),
    "a column": (
        {"datasets__0__reader_cfg__input_columns": ["q", 3]},
        "contains 3 (int)",
        "datasets[0].reader_cfg.input_columns[1]",
        "column names",
    ),
    "output": (
        {"datasets__0__reader_cfg__output_column": ["a"]},
        "is ['a'] (list), not the name of a column, or None",
        "datasets[0].reader_cfg.output_column",
        "",
    ),
    "no output": (
        {"datasets__0__reader_cfg__output_column": ...},
        "datasets[0].reader_cfg has no 'output_column'",
        "datasets[0].reader_cfg",
        "or None",
    ),
    "range": (
        {"datasets__0__reader_cfg__test_range": [1, 2]},
        "is [1, 2] (list), not a number of rows",
        "datasets[0].reader_cfg.test_range",
        "",
    ),
    "a flag": (
        {"datasets__0__reader_cfg__test_range": True},
        "is True (bool), not a number of rows",
        "datasets[0].reader_cfg.test_range",
        "",
    ),
    "split": (
        {"datasets__0__reader_cfg__test_split": None},
        "is None, not the name of a split",
        "datasets[0].reader_cfg.test_split",
        "",
    ),
    "unknown in reader_cfg": (
        {"datasets__0__reader_cfg__test_rang": 3},
        "has an unknown key 'test_rang'",
        "datasets[0].reader_cfg.test_rang",
        "'test_range'",
    ),
    "limit is no key": (
        {"datasets__0__reader_cfg__limit": 3},
        "has an unknown key 'limit'",
        "datasets[0].reader_cfg.limit",
        "",
    ),
    "unknown in infer_cfg": (
        {"datasets__0__infer_cfg__retreiver": {}},
        "has an unknown key 'retreiver'",
        "datasets[0].infer_cfg.retreiver",
        "'retriever'",
    ),
    "unknown in eval_cfg": (
        {"datasets__0__eval_cfg__evalutor": {}},
        "has an unknown key 'evalutor'",
        "datasets[0].eval_cfg.evalutor",
        "'evaluator'",
    ),
    "template without type": (
        {"datasets__0__infer_cfg__prompt_template": {"template": "x"}},
        f"{TEMPLATE} has no 'type'",
        TEMPLATE,
        "add type",
    ),
    "no inferencer": (
        {"datasets__0__infer_cfg__inferencer": ...},
        "has no 'inferencer'",
        "datasets[0].infer_cfg",
        "add inferencer",
    ),
    "retriever": (
        {"datasets__0__infer_cfg__retriever": "ZeroRetriever"},
        "is 'ZeroRetriever' (str), not a dict",
        "datasets[0].infer_cfg.retriever",
        "dict(type='ZeroRetriever')",
    ),
    "evaluator": (
        {"datasets__0__eval_cfg__evaluator": 3},
        "is 3 (int), not a dict",
        "datasets[0].eval_cfg.evaluator",
        "dict(...)",
    ),
    "no evaluators": (
        {"datasets__0__eval_cfg__evaluator": []},
        "is an empty list",
        "datasets[0].eval_cfg.evaluator",
        "give an evaluator",
    ),
    "one of several evaluators": (
        {"datasets__0__eval_cfg__evaluator": [{"type": "AccEvaluator"}, 3]},
        "is 3 (int), not a dict",
        "datasets[0].eval_cfg.evaluator[1]",
        "dict(...)",
    ),
    "the name of an evaluator": (
        {"datasets__0__eval_cfg__evaluator": {"a/b": {"type": "AccEvaluator"}}},
        "contains a path separator",
        "datasets[0].eval_cfg.evaluator.a/b",
        "use letters",
    ),
    "primary": (
        {"datasets__0__eval_cfg": {"evaluator": {"a": {"type": "AccEvaluator"}}, "primary": "b"}},
        "there is no evaluator 'b'",
        "datasets[0].eval_cfg.primary",
        "name one of a",
    ),
    "primary of one": (
        {"datasets__0__eval_cfg": {"evaluator": {"type": "AccEvaluator"}, "primary": "b"}},
        "chooses one of several",
        "datasets[0].eval_cfg.primary",
        "take it out",
    ),
    "eval_cfg": ({"datasets__0__eval_cfg": 3}, "is 3 (int), not a dict", "datasets[0].eval_cfg", "dict(...)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault(fault: str) -> None:
    changes, what, where, fix = FAULTS[fault]
    found = faults(config(**changes))
    assert len(found) == 1
    assert what in found[0][0]
    assert found[0][1] == where or (where and found[0][1].endswith(f".{where}"))
    assert fix in found[0][2]


def test_all_faults_at_once_each_with_its_line(write: Write) -> None:
    write(
        "parts.py",
        """
        my_datasets = [
            dict(abbr='a', path='a.jsonl', reader_cfg=dict(input_columns=['q'], output_column='a'),
                 infer_cfg=dict(prompt_template=dict(type='T'),
                                retreiver=dict(type='R'),
                                inferencer=dict(type='I'))),
            dict(abbr='b', reader_cfg=dict(input_columns=['q'], output_column='a',
                                           test_range={})),
        ]
        """,
    )
    path = write(
        "eval.py",
        """
        from mmengine.config import read_base
        with read_base():
            from .parts import my_datasets
        models = [
            dict(abbr='a/b', type='M'),
            dict(abbr='c'),
        ]
        datasets = my_datasets
        workdir = 'x'
        """,
    )
    with pytest.raises(ConfigFaults) as caught:
        parse_run(load_config(path))
    assert [fault.where for fault in caught.value.faults] == [
        "workdir (eval.py:9)",
        "models[0].abbr (eval.py:5)",
        "models[1] (eval.py:6)",
        "datasets[0].infer_cfg.retreiver (parts.py:4)",
        "datasets[1].reader_cfg.test_range (parts.py:7)",
        "datasets[1] (parts.py:6)",
    ]
    assert caught.value.lines()[-1] == "6 faults in the config"


def test_a_value_is_shown_in_one_short_line() -> None:
    [(what, _, _)] = faults(config(models__0="x" * 1000 + "\n"))
    assert len(what) < 100
    assert "\n" not in what


def test_a_helper_that_looks_like_a_key_is_no_misspelling_if_the_config_uses_it(tmp_path: Path) -> None:
    path = tmp_path / "eval.py"
    items = """
models = [dict(type='A', abbr='m')]
datasets = [dict(path=%s, reader_cfg=dict(input_columns=['q'], output_column=None),
                 infer_cfg=dict(inferencer=dict(type='GenInferencer')))]
"""
    path.write_text("workdir = 'data'\n" + items % "workdir + '/x.jsonl'")
    assert parse_run(load_config(path)).work_dir == Path("outputs")
    path.write_text("workdir = 'data'\n" + items % "'x.jsonl'")
    with pytest.raises(ConfigFaults, match="1 fault") as caught:
        parse_run(load_config(path))
    assert "looks like a misspelling of 'work_dir'" in caught.value.lines()[0]
