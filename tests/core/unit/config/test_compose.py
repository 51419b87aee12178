"""``--models … --datasets …``: named configs made into one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.config import compose_config, parse_run
from ais_prompt.errors import ConfigError, ConfigFaults

Write = Callable[[str, str], Path]

DATASET = (
    "dict(abbr={abbr!r}, path={path!r}, reader_cfg=dict(input_columns=['q'], output_column='a'),"
    " infer_cfg=dict(prompt_template=dict(type='T', template='x'), inferencer=dict(type='I')))"
)


def dataset(abbr: str, path: str = "nowhere") -> str:
    return DATASET.format(abbr=abbr, path=path)


def abbrs(items: list[dict[str, str]]) -> list[str]:
    return [item["abbr"] for item in items]


def test_the_lists_of_named_configs_are_joined(write: Write) -> None:
    write("configs/models/one.py", "models = [dict(type='M', abbr='m1'), dict(type='M', abbr='m2')]")
    write("configs/models/two.py", "my_models = [dict(type='M', abbr='m3')]")
    write("configs/datasets/x/a.py", f"a_datasets = [{dataset('a1')}]\nb_datasets = [{dataset('a2')}]")
    write("configs/datasets/x/b.py", f"parts = []\nb_datasets = [{dataset('hidden')}]\ndatasets = [{dataset('b1')}]")
    loaded = compose_config(["one", "two"], ["a", "b"])
    assert abbrs(loaded.values["models"]) == ["m1", "m2", "m3"]
    assert abbrs(loaded.values["datasets"]) == ["a1", "a2", "b1"]
    assert (loaded.name, loaded.path) == ("one+1__a+1", None)
    spec = parse_run(loaded)
    assert spec.name == "one+1__a+1"
    assert [dataset.abbr for dataset in spec.datasets] == ["a1", "a2", "b1"]


def test_patterns_and_repetitions(write: Write) -> None:
    for name in ("a_zero", "a_few"):
        write(f"configs/datasets/{name}.py", f"datasets = [{dataset(name)}]")
    write("configs/models/m.py", "models = [dict(type='M')]")
    loaded = compose_config(["m"], ["a_*", "a_few"])
    assert abbrs(loaded.values["datasets"]) == ["a_few", "a_zero"]
    assert loaded.name == "m__a_+1"
    assert compose_config(["m"], ["*_few"]).name == "m___few"


def test_overrides(write: Write) -> None:
    write("configs/models/m.py", "models = [dict(type='M', abbr='m')]")
    write("configs/datasets/d.py", f"datasets = [{dataset('d')}]")
    loaded = compose_config(["m"], ["d"], ["models.m.n=3", "work_dir=there"])
    assert loaded.values["models"] == [{"type": "M", "abbr": "m", "n": 3}]
    assert parse_run(loaded).work_dir == Path("there")


def test_files_beside_a_named_config_are_found(write: Write, folder: Path) -> None:
    write("configs/datasets/d/d.jsonl", "{}")
    write("configs/datasets/d/d.py", f"datasets = [{dataset('d', 'd.jsonl')}]")
    write("configs/models/m.py", "models = [dict(type='M', path='org/hub')]")
    spec = parse_run(compose_config(["m"], ["d"]))
    assert spec.datasets[0].source.args["path"] == str(folder / "configs/datasets/d/d.jsonl")
    assert spec.models[0].part.args["path"] == "org/hub"


def test_custom_imports_of_named_configs(write: Write) -> None:
    write("configs/models/composed_part.py", "models = []\nLOADED = True")
    write("configs/models/m.py", "custom_imports = dict(imports='composed_part')\nmodels = [dict(type='M')]")
    write("configs/datasets/d.py", f"custom_imports = None\ndatasets = [{dataset('d')}]")
    assert compose_config(["m"], ["d"]).values["custom_imports"] == {"imports": ["composed_part"]}
    assert sys.modules["composed_part"].LOADED


def test_a_fault_has_the_line_in_the_named_config(write: Write) -> None:
    write("configs/models/m.py", "models = [dict(type='M')]")
    write("configs/datasets/a.py", f"a_datasets = [{dataset('a')}]")
    write("configs/datasets/b.py", "b_datasets = [\n    dict(abbr='x/y',\n         reader_cfg=3)]")
    with pytest.raises(ConfigFaults) as caught:
        parse_run(compose_config(["m"], ["a", "b"]))
    assert [fault.where for fault in caught.value.faults] == [
        "datasets[1].abbr (configs/datasets/b.py:2)",
        "datasets[1].reader_cfg (configs/datasets/b.py:3)",
        "datasets[1] (configs/datasets/b.py:2)",
    ]


def test_a_config_without_any_list(write: Write) -> None:
    write("configs/models/m.py", "model = dict(type='M')")
    with pytest.raises(ConfigError, match="no list of models") as caught:
        compose_config(["m"], [])
    assert caught.value.where == "configs/models/m.py"


@pytest.mark.parametrize("name", ["none_like_this", "none_*"])
def test_an_unknown_name(write: Write, name: str) -> None:
    with pytest.raises(ConfigError, match="no model config named"):
        compose_config([name], [])
