"""Configs in every style that people write, and what is said when one cannot be read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.config import list_shipped, load_config, shipped_root
from ais_prompt.errors import ConfigError

Write = Callable[[str, str], Path]
REPOSITORY = Path(__file__).parents[4]


def failure(path: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return caught.value


def test_a_config_without_any_import(write: Write) -> None:
    loaded = load_config(
        write("plain.py", "models = [dict(type='A', n=1, rest=(1, 2.5, None, True))]\nwork_dir = 'out'")
    )
    assert loaded.values == {"models": [{"type": "A", "n": 1, "rest": (1, 2.5, None, True)}], "work_dir": "out"}
    assert loaded.name == "plain"
    assert type(loaded.values["models"][0]) is dict


def test_imported_classes_become_dotted_names_without_being_imported(write: Write) -> None:
    config = write(
        "lazy.py",
        """
        from ais_prompt.models import HuggingFaceChatModel
        from not_there.parts import Mine as Yours
        import not_there.deep.parts
        import not_there.other as other
        models = [
            dict(type=HuggingFaceChatModel),
            dict(type=Yours),
            dict(type=not_there.deep.parts.Outer.Inner),
            dict(type=other.Part),
        ]
        """,
    )
    assert [model["type"] for model in load_config(config).values["models"]] == [
        "ais_prompt.models.HuggingFaceChatModel",
        "not_there.parts.Mine",
        "not_there.deep.parts.Outer.Inner",
        "not_there.other.Part",
    ]


def test_an_imported_constant_has_its_value(write: Write) -> None:
    write(
        "consts_of_test_load.py",
        """
        PROMPT = "Solve {question}"
        LIMIT, NESTED, KIND = 7, {"a": ["x", ("y", 1.5)]}, "ScriptedModel"
        class Names:
            first = "one"
        def loud(text):
            return text.upper()
        """,
    )
    config = write(
        "constants.py",
        """
        from consts_of_test_load import PROMPT, LIMIT as most, NESTED, KIND, Names, loud
        import consts_of_test_load
        import consts_of_test_load as consts
        models = [dict(type=KIND, max_out_len=most, more=[PROMPT, (most, NESTED)])]
        datasets = [
            dict(text=f"{PROMPT}!", called=loud("q"), plus=PROMPT + consts.PROMPT, name=Names.first),
            dict(whole=consts_of_test_load.NESTED["a"], type=loud, part=consts.Names),
        ]
        """,
    )
    values = load_config(config).values
    nested = {"a": ["x", ("y", 1.5)]}
    prompt = "Solve {question}"
    assert values["models"] == [{"type": "ScriptedModel", "max_out_len": 7, "more": [prompt, (7, nested)]}]
    assert values["datasets"] == [
        {"text": f"{prompt}!", "called": "Q", "plus": prompt + prompt, "name": "one"},
        {"whole": nested["a"], "type": "consts_of_test_load.loud", "part": "consts_of_test_load.Names"},
    ]


def test_a_constant_that_is_not_there_is_named_with_its_line(write: Write) -> None:
    write("consts_without.py", "PROMPT = 1")
    error = failure(
        write("asks.py", "work_dir = 'x'\nfrom consts_without import PROMPTS\nmodels = [dict(type=PROMPTS)]")
    )
    assert "PROMPTS" in error.what
    assert error.where.endswith("asks.py:2")


def test_a_variable_may_have_the_name_of_an_import(write: Write) -> None:
    config = write("same.py", "from my_package import models\nmodels = [dict(type=models.Mine)]")
    assert load_config(config).values["models"] == [{"type": "my_package.models.Mine"}]


@pytest.mark.process
def test_nothing_heavy_is_imported_to_read_a_config(write: Write) -> None:
    config = write(
        "heavy.py",
        """
        from mmengine.config import read_base
        import torch
        from datasets import load_dataset
        from ais_prompt.models import HuggingFaceChatModel
        from transformers import AutoModel
        models = [dict(type=HuggingFaceChatModel, dtype=torch.bfloat16, cls=AutoModel)]
        """,
    )
    program = f"""
import sys
from pathlib import Path
from ais_prompt.config.load import load_config
print(load_config(Path({str(config)!r})).values["models"][0]["dtype"])
heavy = ["torch", "transformers", "datasets", "aiohttp", "openai", "pandas", "pyarrow", "ais_prompt.models"]
print([name for name in heavy if name in sys.modules])
"""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == ["torch.bfloat16", "[]"]


def test_a_config_is_a_python_program(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_MODEL", "from-environment")
    config = write(
        "program.py",
        """
        import os
        import os.path as osp
        from copy import deepcopy
        from pathlib import Path

        def model(size, **rest):
            return dict(type='M', abbr=f'demo-{size}', path=osp.join('weights', str(size)), **rest)

        small = [model(size) for size in (1, 2)]
        models = [*small, *[deepcopy(m) for m in small], model(3, path2=os.environ.get('DEMO_MODEL', 'x'))]
        for text in models:
            text['max_out_len'] = 64
        models[0]['max_out_len'] = 32
        filename = Path('x')
        """,
    )
    models = load_config(config).values["models"]
    assert [model["abbr"] for model in models] == ["demo-1", "demo-2", "demo-1", "demo-2", "demo-3"]
    assert [model["max_out_len"] for model in models] == [32, 64, 64, 64, 64]
    assert models[4]["path2"] == "from-environment"


def test_helpers_that_are_not_plain_are_left_out(write: Write) -> None:
    config = write("helpers.py", "import re\n_hidden = 1\npattern = re.compile('x')\nn = 3\nmodels = []")
    assert {"n": 3, "models": []}.items() <= load_config(config).values.items()
    assert not {"_hidden", "pattern"} & set(load_config(config).values)


def test_read_base_reaches_siblings_parents_and_children(write: Write) -> None:
    write("models/small.py", "models = [dict(type='S')]")
    write("datasets/a/one.py", "a_datasets = []")
    write("datasets/shared.py", "reader = dict(input_columns=['q'])")
    write(
        "datasets/b.py",
        """
        from mmengine.config import read_base
        with read_base():
            from .shared import reader as common
        b_datasets = [dict(type='B', reader_cfg=common)]
        """,
    )
    config = write(
        "runs/eval.py",
        """
        from mmengine.config import read_base
        with read_base():
            from ..models.small import models
            from ..datasets.a.one import a_datasets
            from ..datasets.b import *
        datasets = [*a_datasets, *b_datasets]
        datasets[0]['reader_cfg']['test_range'] = '[:2]'
        """,
    )
    values = load_config(config).values
    assert values["models"] == [{"type": "S"}]
    assert values["datasets"] == [{"type": "B", "reader_cfg": {"input_columns": ["q"], "test_range": "[:2]"}}]


@pytest.mark.parametrize("module", ["configs.models.mine", "own_package.configs.mine"])
def test_read_base_reaches_configs_by_their_absolute_name(write: Write, module: str) -> None:
    write("configs/models/mine.py", "models = [dict(type='Mine')]")
    write("own_package/__init__.py", "")
    write("own_package/configs/mine.py", "models = [dict(type='Mine')]")
    sys.path.insert(0, str(Path.cwd()))
    config = write(
        "eval.py", f"from mmengine.config import read_base\nwith read_base():\n    from {module} import models\n"
    )
    assert load_config(config).values["models"] == [{"type": "Mine"}]


def test_read_base_reaches_shipped_configs(write: Write) -> None:
    shipped = list_shipped("models")[0].path.relative_to(shipped_root()).with_suffix("")
    module = ".".join(["ais_prompt.configs", *shipped.parts])
    config = write(
        "eval.py", f"from mmengine.config import read_base\nwith read_base():\n    from {module} import models\n"
    )
    assert load_config(config).values["models"][0]["type"]


def test_old_style_inheritance(write: Write) -> None:
    write("base.py", "models = [dict(type='Old', n=1)]\nwork_dir = 'base'\nsettings = dict(a=1, b=2)")
    config = write("old.py", "_base_ = ['./base.py']\nwork_dir = 'mine'\nsettings = dict(b=3)")
    values = load_config(config).values
    assert values["models"] == [{"type": "Old", "n": 1}]
    assert values["work_dir"] == "mine"
    assert values["settings"] == {"a": 1, "b": 3}


def test_overrides_are_put_in(write: Write) -> None:
    config = write("set.py", "models = [dict(type='A', n=1)]")
    assert load_config(config, ["models.0.n=2", "work_dir=there"]).values == {
        "models": [{"type": "A", "n": 2}],
        "work_dir": "there",
    }


def test_custom_imports_find_modules_beside_the_config(write: Write) -> None:
    write("deep/beside_the_config.py", "LOADED = True")
    load_config(write("deep/eval.py", "custom_imports = dict(imports=['beside_the_config'])"))
    assert sys.modules["beside_the_config"].LOADED


def test_custom_imports_find_modules_in_the_working_directory(write: Write) -> None:
    write("in_the_working_directory.py", "LOADED = True")
    load_config(write("deep/eval.py", "custom_imports = dict(imports='in_the_working_directory')"))
    assert sys.modules["in_the_working_directory"].LOADED


def test_a_module_that_may_be_missing(write: Write) -> None:
    text = "custom_imports = dict(imports=['surely_not_there'], allow_failed_imports=True)"
    assert load_config(write("eval.py", text)).values["custom_imports"]["imports"] == ["surely_not_there"]


BROKEN_IMPORTS = {
    "custom_imports = dict(imports=['surely_not_there'])": ("names the module 'surely_not_there'", "eval.py:1"),
    "custom_imports = dict(imports=['broken_part'])": ("ZeroDivisionError", "broken_part.py:2"),
    "custom_imports = ['broken_part']": ("has the wrong form", "eval.py:1"),
    "custom_imports = dict(imports=[1])": ("has the wrong form", "eval.py:1"),
}


@pytest.mark.parametrize("text", BROKEN_IMPORTS)
def test_custom_imports_that_fail(write: Write, text: str) -> None:
    write("broken_part.py", "x = 0\n1 / x")
    words, where = BROKEN_IMPORTS[text]
    error = failure(write("eval.py", text))
    assert words in error.what
    assert where in error.where
    assert error.fix


# ---------------------------------------------------------------------------------------------- what cannot be read

FAULTS = {
    "syntax": ("models = []\nx ===", "is not Python", "eval.py:2"),
    "name": ("x = 1\nmodels = [dict(type=Undefined)]", "NameError: name 'Undefined'", "eval.py:2"),
    "any exception": ("x = {}\n\nmodels = x['none']", "KeyError: none", "eval.py:3"),
    "inside a function": ("def f():\n    return 1 / 0\nmodels = f()", "ZeroDivisionError", "eval.py:2"),
    "a called import": ("from a.b import c\nmodels = [c(1)]", "imports only name the parts", "eval.py:2"),
    "import *": ("from a.b import *", "cannot import this: from a.b import *", "eval.py:1"),
    "the program's end": ("x = 1\nexit()", "ends the program", "eval.py:2"),
    "no plain value": ("x = 1\nmodels = [dict(type='A', items={1, 2})]", "a set cannot be", "eval.py:2"),
    "no plain key": ("models = [\n    {(1, 2): 3},\n]", "cannot be the key", "eval.py:2"),
    "own function": ("def f(): ...\nmodels = [dict(type=f)]", "'f' is defined in the config itself", "eval.py:2"),
    "own class": ("class A: ...\nmodels = [dict(type=A)]", "'A' is defined in the config itself", "eval.py:2"),
    "a circle": ("a = []\na.append(a)\nmodels = a", "contains itself", "eval.py"),
    "with": ("x = 1\nwith open('x') as f: pass", "can only be `with read_base():`", "eval.py:2"),
    "relative import": ("x = 1\nfrom .x import y", "is outside of read_base()", "eval.py:2"),
    "two blocks": (
        "with read_base():\n    from .b import *\nwith read_base():\n    from .b import *",
        "only one read_base() block",
        "eval.py:3",
    ),
    "no import in the block": ("with read_base():\n    x = 1", "can only read `from FILE import NAMES`", "eval.py:2"),
    "no file in the block": ("with read_base():\n    from . import b", "can only read", "eval.py:2"),
    "missing base": ("with read_base():\n    from .bass import *", "'.bass' does not exist", "eval.py:2"),
    "missing name": ("with read_base():\n    from .b import no_such", "has no variable 'no_such'", "eval.py:2"),
    "one package": ("with read_base():\n    from b import *", "cannot read the package 'b'", "eval.py:2"),
    "no package": ("with read_base():\n    from no_pkg.b import *", "no package 'no_pkg'", "eval.py:2"),
    "itself": ("with read_base():\n    from .eval import *", "builds on itself", "eval.py:2"),
    "fault in a base": ("with read_base():\n    from .broken import *", "ZeroDivisionError", "broken.py:2"),
    "syntax of a base": ("with read_base():\n    from .wrong import *", "is not Python", "wrong.py:1"),
    "two styles": ("with read_base():\n    from .old import *", "cannot be mixed", "eval.py:2"),
    "a base of the wrong type": ("_base_ = 3", "_base_ is not a list of file names", "eval.py:1"),
    "a missing old base": ("_base_ = ['./none.py']", "'./none.py' does not exist", "eval.py:1"),
    "an old config's fault": ("_base_ = ['./b.py']\nx = 1 / 0", "ZeroDivisionError", "eval.py:2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_config_that_cannot_be_read(write: Write, fault: str) -> None:
    write("b.py", "y = 1")
    write("broken.py", "x = 1\nx / 0")
    write("wrong.py", "x = = 1")
    write("old.py", "_base_ = ['./b.py']")
    text, words, where = FAULTS[fault]
    error = failure(write("eval.py", text))
    assert words in error.what
    assert where in re.split(r"[ ()]", error.where)
    assert error.fix


def test_a_missing_name_in_a_base_offers_the_nearest(write: Write) -> None:
    write("b.py", "gsm8k_datasets = []")
    text = "from mmengine.config import read_base\nwith read_base():\n    from .b import gsm8k_dataset"
    assert "'gsm8k_datasets'" in failure(write("eval.py", text)).fix


def test_a_missing_base_offers_the_nearest(write: Write) -> None:
    write("datasets/gsm8k.py", "")
    text = "from mmengine.config import read_base\nwith read_base():\n    from .datasets.gsm8 import x"
    assert "'gsm8k'" in failure(write("eval.py", text)).fix


def test_a_circle_of_two(write: Write) -> None:
    text = "from mmengine.config import read_base\nwith read_base():\n    from .{} import *"
    write("a.py", text.format("b"))
    error = failure(write("b.py", text.format("a")))
    assert "builds on itself" in error.what
    assert error.where == "a.py:3"


def test_a_missing_file_offers_its_neighbour(write: Write) -> None:
    write("configs/evaluate.py", "")
    error = failure(Path("configs/evalate.py"))
    assert error.what == "there is no config 'configs/evalate.py'"
    assert "configs/evaluate.py" in error.fix


def test_a_folder_is_no_config(write: Write) -> None:
    write("configs/eval.py", "")
    error = failure(Path("configs"))
    assert "is a folder" in error.what
    assert "configs/eval.py" in error.fix


def test_bytes_are_no_config(folder: Path) -> None:
    Path("bytes.py").write_bytes(b"x = '\xff'")
    assert "not UTF-8" in failure(Path("bytes.py")).what
    Path("zero.py").write_bytes(b"x = 1\0")
    assert "not Python" in failure(Path("zero.py")).what


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Write) -> None:
    config = write("eval.py", "")
    config.chmod(0)
    assert "cannot be read" in failure(config).what


def test_an_empty_config_is_read(write: Write) -> None:
    assert load_config(write("empty.py", "")).values == {}


@pytest.mark.parametrize(("ending", "language"), [("yaml", "YAML"), ("YML", "YAML"), ("json", "JSON")])
def test_a_config_in_another_language_says_so(tmp_path: Path, ending: str, language: str) -> None:
    path = tmp_path / f"eval.{ending}"
    path.write_text("models: []")
    with pytest.raises(ConfigError, match=f"the config is {language}, and a config is written in Python"):
        load_config(path)


@pytest.mark.parametrize("name", ["capitals.jsonl", "capitals.CSV", "capitals.xlsx"])
def test_a_data_file_is_not_run_as_a_config(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"country": "France"}')
    with pytest.raises(ConfigError, match="this is a data file") as caught:
        load_config(path)
    assert f"--data {path}" in caught.value.fix
