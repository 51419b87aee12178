"""Where a config path was written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.config import find_spot, load_config

Write = Callable[[str, str], Path]

CONFIG = """\
from mmengine.config import read_base
with read_base():
    from .base import base_datasets, reader as base_reader
    from .all import *
templates = dict(
    zero='{q}',
)
small = dict(
    type='S',
    kwargs={'a': 1,
            'b': [1,
                  2]},
)
models = [
    small,
    dict(type='L', path='p'),
    dict(small,
         abbr='copy'),
    dict(**small, n=3),
]
models += [dict(type='late')]
others = [*models[:1]]
datasets = [*base_datasets] + [
    dict(reader_cfg=base_reader),
    all_datasets[1],
] + [dict(type='twice',
          x=1)] * 2
looped = [dict(type='L', n=n) for n in range(3)]
annotated: list = [
    1,
]
for model in models:
    model['x'] = 1
shuffled = [1, 2]
shuffled.reverse()
"""
BASE = "reader = dict(\n    input_columns=['q'])\nbase_datasets = [\n    dict(abbr='base', reader_cfg=reader)]\n"
ALL = "all_datasets = [\n    dict(abbr='first'),\n    dict(abbr='second',\n         path='x')]\n"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("models", "eval.py:14"),
        ("models[0]", "eval.py:8"),
        ("models[0].type", "eval.py:9"),
        ("models[0].kwargs.b", "eval.py:11"),
        ("models[0].kwargs.b[1]", "eval.py:12"),
        ("models[0].kwargs.b[1].deeper", "eval.py:12"),
        ("models[0].not_there", "eval.py:8"),
        ("models[1].path", "eval.py:16"),
        ("models[2].abbr", "eval.py:18"),
        ("models[2].type", "eval.py:9"),
        ("models[3].kwargs", "eval.py:10"),
        ("models[4]", "eval.py:21"),
        ("models[9]", "eval.py:14"),
        ("datasets[0]", "base.py:4"),
        ("datasets[0].reader_cfg.input_columns", "base.py:2"),
        ("datasets[1].reader_cfg", "eval.py:24"),
        ("datasets[1].reader_cfg.input_columns", "base.py:2"),
        ("datasets[2].path", "all.py:4"),
        ("datasets[4].x", "eval.py:27"),
        ("looped[1].n", "eval.py:28"),
        ("others[0]", "eval.py:22"),
        ("annotated[0]", "eval.py:30"),
        ("shuffled", None),
        ("templates.zero", "eval.py:6"),
        ("nowhere", None),
        ("", None),
    ],
)
def test_the_line_of_a_config_path(write: Write, path: str, place: str | None) -> None:
    write("base.py", BASE)
    write("all.py", ALL)
    config = write("eval.py", CONFIG)
    assert find_spot(path, config) == place


def test_old_style_bases(write: Write) -> None:
    write("base.py", "models = [\n    dict(type='A')]\nwork_dir = 'a'")
    config = write("eval.py", "_base_ = './base.py'\nwork_dir = 'b'")
    assert find_spot("models[0].type", config) == "base.py:2"
    assert find_spot("work_dir", config) == "eval.py:2"


@pytest.mark.parametrize("text", ["x = = 1", "_base_ = 3", "with read_base():\n    from .eval import *\n", "x = x\n"])
def test_a_config_that_is_broken_has_no_places(write: Write, text: str) -> None:
    assert find_spot("models", write("eval.py", text)) is None


def test_names_that_mean_each_other(write: Write) -> None:
    assert find_spot("a[0].b", write("eval.py", "a = b = [1]\na = a\na = [a]\n")) == "eval.py:1"


def test_the_places_of_a_loaded_config_are_those_of_its_load(write: Write) -> None:
    """A config with hundreds of faults is parsed once, and a later change does not move its places."""
    config = write("eval.py", "models = [\n    dict(type='A'),\n]\n")
    loaded = load_config(config)
    assert loaded.place("models[0]") == "models[0] (eval.py:2)"
    write("eval.py", "\n\nmodels = []\n")
    assert loaded.place("models[0].type") == "models[0].type (eval.py:2)"
